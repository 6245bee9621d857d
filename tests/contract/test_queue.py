"""What every work queue does; then what SQS alone asks for."""

from __future__ import annotations

import pytest

from driftgate.adapters.sqs_work_queue import SqsWorkQueue, allowed_id
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError
from driftgate.events import work_message_from_body
from driftgate.ports import WorkMessage
from tests.fakes.aws_faults import AwsFaults, refusal, timeout
from tests.fakes.ledgers import moto_session
from tests.fakes.pipeline import FakeQueue

TICK = WorkMessage(cluster="demo", dedup="demo:202610170210", cause="heartbeat")


@pytest.fixture
def aws():
    with moto_session() as session:
        yield session


@pytest.fixture
def url(aws):
    made = aws.client("sqs").create_queue(QueueName="driftgate-work.fifo", Attributes={"FifoQueue": "true"})
    return made["QueueUrl"]


@pytest.fixture
def sqs(aws, url):
    return SqsWorkQueue(aws, url)


def received(aws, url):
    """Everything in the queue, with its attributes; each is deleted, so that its group goes on."""
    client, found = aws.client("sqs"), []
    while batch := client.receive_message(QueueUrl=url, AttributeNames=["All"], MaxNumberOfMessages=1).get("Messages"):
        client.delete_message(QueueUrl=url, ReceiptHandle=batch[0]["ReceiptHandle"])
        found += batch
    return found


@pytest.fixture(params=["fake", "sqs"])
def queue(request):
    """The queue, and a way to see what is in it."""
    if request.param == "fake":
        fake = FakeQueue()
        return fake, lambda: fake.sent
    aws, url = request.getfixturevalue("aws"), request.getfixturevalue("url")
    return SqsWorkQueue(aws, url), lambda: [work_message_from_body(found["Body"]) for found in received(aws, url)]


def test_message_comes_out_as_it_went_in(queue):
    message = WorkMessage(
        cluster="größe", dedup="20261017T021000Z-app:3", cause="continuation", roll_id="20261017T021000Z-app"
    )
    sender, contents = queue

    sender.send(message)

    assert contents() == [message]


def test_same_deduplication_id_is_one_message(queue):
    sender, contents = queue

    sender.send(TICK)
    sender.send(TICK)

    assert contents() == [TICK]


def test_messages_of_a_cluster_keep_their_order(queue):
    sender, contents = queue
    messages = [WorkMessage(cluster="demo", dedup=f"demo:{minute}", cause="heartbeat") for minute in range(3)]

    for message in messages:
        sender.send(message)

    assert contents() == messages


# --- SQS -------------------------------------------------------------------------------------------


def test_group_is_the_cluster_so_that_one_worker_has_it(aws, url, sqs):
    sqs.send(TICK)

    (message,) = received(aws, url)
    assert message["Attributes"]["MessageGroupId"] == "demo"
    assert message["Attributes"]["MessageDeduplicationId"] == "demo:202610170210"


@pytest.mark.parametrize("text", ["größe:1", "a b", "x" * 129, "", "line\nbreak"])
def test_id_that_sqs_does_not_take_becomes_a_digest_that_is_always_the_same(text):
    digest = allowed_id(text)

    assert digest == allowed_id(text) != allowed_id(text + "1")
    assert len(digest) == 64
    assert digest.isalnum()


@pytest.mark.parametrize("text", ["demo:202610170210", "x" * 128, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"])
def test_id_that_sqs_takes_stays_as_it_is(text):
    assert allowed_id(text) == text


def test_denied_call_names_action_and_queue(aws, sqs, url):
    AwsFaults(aws.client("sqs"), before=[refusal("AccessDenied", 403)])

    with pytest.raises(AwsForbiddenError, match=f"sqs:SendMessage on {url}"):
        sqs.send(TICK)


@pytest.mark.parametrize("fault", [refusal("RequestThrottled"), refusal("ServiceUnavailable", 503), timeout()])
def test_call_that_fails_after_retries_is_unavailable(aws, sqs, fault):
    AwsFaults(aws.client("sqs"), after=[fault])

    with pytest.raises(AwsUnavailableError, match="sqs:SendMessage"):
        sqs.send(TICK)


def test_missing_queue_is_named(aws):
    with pytest.raises(AwsUnavailableError, match=r"elsewhere\.fifo.*does not exist"):
        SqsWorkQueue(aws, "https://sqs.eu-central-1.amazonaws.com/111122223333/elsewhere.fifo").send(TICK)
