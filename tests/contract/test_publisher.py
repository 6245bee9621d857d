"""What every publisher does with an event, and what SNS, the event bus, the terminal and all together make of it."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from driftgate.adapters.counted_publisher import CountedPublisher
from driftgate.adapters.eventbridge_publisher import EventBridgePublisher
from driftgate.adapters.fan_out_publisher import FanOutPublisher
from driftgate.adapters.kept_publisher import KeptPublisher
from driftgate.adapters.sns_publisher import SnsPublisher, messages_of, subject_of
from driftgate.adapters.stdout_publisher import StdoutPublisher
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError
from driftgate.domain.message import DomainEvent, EventKind
from driftgate.observability import metrics
from tests.factories import NOW
from tests.fakes.aws_faults import AwsFaults, refusal, timeout
from tests.fakes.ledgers import moto_session
from tests.fakes.pipeline import FakePublisher

EVENT = DomainEvent(
    kind=EventKind.BUDGETS_CLOSED,
    at=NOW,
    cluster="demo",
    pool="größe",
    title="The gate is shut again",
    text="One node is being replaced.\nThe baseline is back.",
    thread="20261017T021000Z-app",
    code="IN_FLIGHT",
    next_steps=("Nothing to do.",),
    facts={"secondsOpenAfterSign": 0.4, "node": "a1", "plan": {"at": "2026-10-17T02:10:00Z"}},
)


@pytest.fixture
def aws():
    with moto_session() as session:
        yield session


@pytest.fixture
def inbox(aws):
    """An SQS queue that topic and bus deliver to: its ARN, and what came."""
    client = aws.client("sqs")
    url = client.create_queue(QueueName="inbox")["QueueUrl"]
    arn = client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]

    def bodies():
        answer = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        return [json.loads(message["Body"]) for message in answer.get("Messages", [])]

    return arn, bodies


@pytest.fixture
def topic(aws, inbox):
    client = aws.client("sns")
    arn = client.create_topic(Name="driftgate")["TopicArn"]
    client.subscribe(TopicArn=arn, Protocol="sqs", Endpoint=inbox[0])
    return arn


@pytest.fixture
def bus(aws, inbox):
    client = aws.client("events")
    client.create_event_bus(Name="driftgate")
    client.put_rule(Name="all", EventBusName="driftgate", EventPattern='{"source": ["driftgate"]}')
    client.put_targets(Rule="all", EventBusName="driftgate", Targets=[{"Id": "inbox", "Arn": inbox[0]}])
    return "driftgate"


@pytest.fixture(params=["fake", "sns", "kept", "bus", "stdout", "all", "counted"])
def publisher(request):
    """The publisher, and a way to count what came through."""
    get = request.getfixturevalue
    match request.param:
        case "fake":
            fake = FakePublisher()
            return fake, lambda: len(fake.told)
        case "sns":
            return SnsPublisher(get("aws"), get("topic")), lambda: len(get("inbox")[1]())
        case "kept":
            sender = SnsPublisher(get("aws"), get("topic"))
            return KeptPublisher(sender, get("aws"), get("kept")[0]), lambda: len(get("inbox")[1]())
        case "bus":
            return EventBridgePublisher(get("aws"), get("bus")), lambda: len(get("inbox")[1]())
        case "stdout":
            stream = io.StringIO()
            return StdoutPublisher(stream), lambda: stream.getvalue().count(EVENT.title)
        case "counted":
            fake = FakePublisher()
            return CountedPublisher(fake), lambda: len(fake.told)
    fakes = (FakePublisher(), FakePublisher())
    return FanOutPublisher(fakes), lambda: max(len(fake.told) for fake in fakes)


def test_every_event_comes_through_once(publisher):
    sender, came = publisher

    sender.publish(EVENT)
    sender.publish(replace(EVENT, kind=EventKind.ALERT))

    assert came() == 2


def test_event_with_nothing_but_a_kind_comes_through(publisher):
    sender, came = publisher

    sender.publish(DomainEvent(kind=EventKind.ALERT, at=NOW, cluster="demo", title=EVENT.title, text=""))

    assert came() == 1


# --- SNS -------------------------------------------------------------------------------------------


def test_topic_carries_the_notification_that_slack_shows(aws, topic, inbox):
    SnsPublisher(aws, topic).publish(EVENT)

    (delivered,) = inbox[1]()
    assert json.loads(delivered["Message"]) == {
        "version": "1.0",
        "source": "custom",
        "id": EVENT.id,
        "content": {
            "textType": "client-markdown",
            "title": "[demo] The gate is shut again",
            "description": "One node is being replaced.\nThe baseline is back.",
            "nextSteps": ["Nothing to do."],
        },
        "metadata": {
            "threadId": "20261017T021000Z-app",
            "summary": "The gate is shut again",
            "eventType": "BudgetsClosed",
            "relatedResources": ["demo/größe"],
            "additionalContext": {
                "cluster": "demo",
                "pool": "größe",
                "code": "IN_FLIGHT",
                "secondsOpenAfterSign": "0.4",
                "node": "a1",
            },
        },
    }
    assert delivered["MessageAttributes"]["kind"] == {"Type": "String", "Value": "BudgetsClosed"}


def test_mail_gets_plain_lines_under_a_subject(aws, topic):
    calls = AwsFaults(aws.client("sns"))

    SnsPublisher(aws, topic).publish(EVENT)

    (request,) = calls.parameters
    assert request["Subject"] == "[demo] The gate is shut again"
    assert json.loads(request["Message"])["email"].splitlines() == [
        "2026-10-17T02:10:00Z demo/größe The gate is shut again [IN_FLIGHT]",
        "    One node is being replaced.",
        "    The baseline is back.",
        "    → Nothing to do.",
    ]


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("größe…\nis\tshut", "[demo] gr??e... is shut"),
        ("x" * 200, "[demo] " + "x" * 91 + "~"),
        ("", "[demo] BudgetsClosed"),
    ],
)
def test_a_subject_is_what_mail_takes(title, subject):
    assert subject_of(replace(EVENT, title=title)) == subject


@pytest.mark.parametrize("character", ["x", "\x00", "ü", "😀", '"'])
def test_the_largest_event_fits_a_message(character):
    endless = character * 100_000
    facts: dict[str, object] = {f"{number}{endless}": endless for number in range(100)}
    event = replace(EVENT, title=endless, text=endless, next_steps=(endless,) * 100, facts=facts)

    assert len(json.dumps(messages_of(event), ensure_ascii=False).encode()) < 256_000


def test_denied_topic_names_the_action(aws, topic):
    AwsFaults(aws.client("sns"), before=[refusal("AuthorizationError", 403)])

    with pytest.raises(AwsForbiddenError, match=f"sns:Publish on {topic}"):
        SnsPublisher(aws, topic).publish(EVENT)


@pytest.mark.parametrize("fault", [refusal("Throttling"), refusal("InternalError", 500), timeout()])
def test_topic_that_does_not_answer_is_unavailable(aws, topic, fault):
    AwsFaults(aws.client("sns"), after=[fault])

    with pytest.raises(AwsUnavailableError, match=f"sns:Publish on {topic}"):
        SnsPublisher(aws, topic).publish(EVENT)


def test_missing_topic_is_named(aws):
    with pytest.raises(AwsUnavailableError, match="elsewhere"):
        SnsPublisher(aws, "arn:aws:sns:eu-central-1:123456789012:elsewhere").publish(EVENT)


# --- the event bus ---------------------------------------------------------------------------------


def test_bus_carries_the_facts_under_the_kind(aws, bus, inbox):
    EventBridgePublisher(aws, bus).publish(EVENT)

    (delivered,) = inbox[1]()
    assert (delivered["source"], delivered["detail-type"]) == ("driftgate", "BudgetsClosed")
    assert delivered["detail"] == {
        "at": "2026-10-17T02:10:00Z",
        "cluster": "demo",
        "pool": "größe",
        "thread": "20261017T021000Z-app",
        "code": "IN_FLIGHT",
        "title": "The gate is shut again",
        "secondsOpenAfterSign": 0.4,
        "node": "a1",
        "plan": {"at": "2026-10-17T02:10:00Z"},
    }


def test_facts_too_large_for_an_event_are_left_out_by_name(aws, bus, inbox):
    EventBridgePublisher(aws, bus).publish(replace(EVENT, facts={"plan": "x" * 300_000, "node": "a1"}))

    (delivered,) = inbox[1]()
    assert delivered["detail"]["factsLeftOut"] == ["node", "plan"]
    assert delivered["detail"]["title"] == "The gate is shut again"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("ThrottlingException", AwsUnavailableError),
        ("InternalFailure", AwsUnavailableError),
        ("NotAuthorized", AwsForbiddenError),
    ],
)
def test_entry_that_the_bus_did_not_take_is_an_error_although_the_call_succeeded(aws, bus, code, error):
    def refuse(parsed, **_):
        parsed["FailedEntryCount"] = 1
        parsed["Entries"] = [{"ErrorCode": code, "ErrorMessage": "said AWS"}]

    aws.client("events").meta.events.register("after-call.events.PutEvents", refuse)

    with pytest.raises(error, match=f"{code}.*said AWS"):
        EventBridgePublisher(aws, bus).publish(EVENT)


# --- the terminal ----------------------------------------------------------------------------------


def test_terminal_shows_plain_lines():
    stream = io.StringIO()

    StdoutPublisher(stream).publish(EVENT)

    assert stream.getvalue() == (
        "2026-10-17T02:10:00Z demo/größe The gate is shut again [IN_FLIGHT]\n"
        "    One node is being replaced.\n"
        "    The baseline is back.\n"
        "    → Nothing to do.\n"
    )


def test_reader_that_went_away_does_not_break_the_run():
    stream = io.StringIO()
    stream.close()

    with pytest.raises(AwsUnavailableError, match="The gate is shut again"):
        StdoutPublisher(stream).publish(EVENT)


# --- all together ----------------------------------------------------------------------------------


def test_failure_of_one_way_does_not_keep_the_others_silent_nor_is_it_hidden():
    broken, working = FakePublisher(failure=AwsUnavailableError("sns is throttled")), FakePublisher()

    with pytest.raises(AwsUnavailableError, match="1 of 2 ways to tell failed: sns is throttled"):
        FanOutPublisher([broken, working]).publish(EVENT)

    assert working.told == [EVENT]


def test_all_failures_are_told():
    ways = [FakePublisher(failure=AwsUnavailableError("first")), FakePublisher(failure=AwsForbiddenError("second"))]

    with pytest.raises(AwsUnavailableError, match="2 of 2 ways to tell failed: first; second"):
        FanOutPublisher(ways).publish(EVENT)


def test_what_only_a_person_can_mend_is_said_to_be_so():
    ways = [FakePublisher(failure=AwsForbiddenError("denied")), FakePublisher()]

    with pytest.raises(AwsForbiddenError, match="1 of 2"):
        FanOutPublisher(ways).publish(EVENT)


def test_nobody_to_tell_is_fine():
    FanOutPublisher([]).publish(EVENT)


# --- kept ------------------------------------------------------------------------------------------


@pytest.fixture
def kept(aws):
    """A queue for what the topic did not take: its URL, and what is in it."""
    client = aws.client("sqs")
    url = client.create_queue(QueueName="kept")["QueueUrl"]

    def bodies():
        messages = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(message["Body"]) for message in messages]

    return url, bodies


def test_what_the_topic_did_not_take_is_kept_and_can_be_told_as_it_stands(aws, topic, inbox, kept):
    AwsFaults(aws.client("sns"), before=[refusal("InternalError", 500)])

    with pytest.raises(AwsUnavailableError):
        KeptPublisher(SnsPublisher(aws, topic), aws, kept[0]).publish(EVENT)
    (lost,) = kept[1]()
    aws.client("sns").publish(**lost["publish"])

    (told,) = inbox[1]()
    assert json.loads(told["Message"])["id"] == EVENT.id
    assert "sns:Publish" in lost["why"]


def test_what_the_topic_took_is_not_kept(aws, topic, kept):
    KeptPublisher(SnsPublisher(aws, topic), aws, kept[0]).publish(EVENT)

    assert kept[1]() == []


def test_what_could_not_be_kept_either_is_said(aws, topic):
    AwsFaults(aws.client("sns"), before=[refusal("AuthorizationError", 403)])

    with pytest.raises(AwsUnavailableError, match=r"sns:Publish.*could not be kept: sqs:SendMessage"):
        KeptPublisher(SnsPublisher(aws, topic), aws, "https://sqs.invalid/none").publish(EVENT)


# --- counted ---------------------------------------------------------------------------------------


@pytest.fixture
def counted():
    """The metrics that wait to be emitted."""
    metrics.clear_metrics()
    yield metrics.metric_set
    metrics.clear_metrics()


def test_what_could_not_be_told_is_counted_and_raised(counted):
    with pytest.raises(AwsForbiddenError):
        CountedPublisher(FakePublisher(failure=AwsForbiddenError("denied"))).publish(EVENT)

    assert {name: metric["Value"] for name, metric in counted.items()} == {"MessageFailed": [1.0]}


def test_what_was_told_is_not_counted(counted):
    CountedPublisher(FakePublisher()).publish(EVENT)

    assert counted == {}
