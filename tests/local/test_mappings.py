"""From a FIFO queue to a function, by the function's own role: batches, failures, and the queue behind."""

from __future__ import annotations

import pytest

from tests.local.stand import allow, function, role, standing

POLL = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]


def resources(mapping=None, may=tuple(POLL)):
    fifo = {"FifoQueue": True, "ContentBasedDeduplication": True}
    redrive = {"deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": 3}
    properties = {
        "EventSourceArn": {"Fn::GetAtt": ["Work", "Arn"]},
        "FunctionName": {"Ref": "Worker"},
        "BatchSize": 1,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }
    return {
        "Role": role(*(allow(action) for action in may)),
        "Worker": function("worker"),
        "Dead": {"Type": "AWS::SQS::Queue", "Properties": fifo},
        "Work": {"Type": "AWS::SQS::Queue", "Properties": fifo | {"VisibilityTimeout": 120, "RedrivePolicy": redrive}},
        "Source": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": properties | (mapping or {})},
    }


def send(stand, *bodies, group="demo"):
    for body in bodies:
        stand.cloud.client("sqs").send_message(
            QueueUrl=stand.queue("Work"), MessageBody=body, MessageGroupId=group, MessageDeduplicationId=body
        )
    stand.advance()


def worked(stand):
    return [[record["body"] for record in event["Records"]] for event in stand.events]


def failing(*bodies):
    """An answer that names the messages with these bodies."""

    def handler(event):
        found = [record["messageId"] for record in event["Records"] if record["body"] in bodies]
        return {"batchItemFailures": [{"itemIdentifier": message} for message in found]}

    return handler


def raising(_):
    raise RuntimeError("out of memory")


def test_messages_are_worked_one_by_one_in_their_order_and_deleted():
    with standing(resources()) as stand:
        stand.router.start()
        send(stand, "a", "b")
        stand.advance(600)

        assert worked(stand) == [["a"], ["b"]]
        assert stand.waiting("Work") == []
        assert stand.router.troubles() == []


def test_a_record_is_as_lambda_gives_it():
    with standing(resources()) as stand:
        send(stand, "a")

        (record,) = stand.events[0]["Records"]
        assert record["attributes"]["MessageGroupId"] == "demo"
        assert record["attributes"]["MessageDeduplicationId"] == "a"
        assert record["attributes"]["ApproximateReceiveCount"] == "1"
        assert (record["eventSource"], record["awsRegion"]) == ("aws:sqs", "eu-central-1")
        assert record["eventSourceARN"].endswith(".fifo")


@pytest.mark.parametrize("handler", [failing("a"), raising])
def test_a_message_that_fails_holds_back_its_group_comes_again_and_ends_in_the_queue_behind(handler):
    with standing(resources(), worker=handler) as stand:
        send(stand, "a", "b")
        stand.advance(100)
        before = worked(stand)
        send(stand, "c", group="other")
        stand.advance(500)

        assert before == [["a"]]
        assert worked(stand)[1] == ["c"]
        assert next(message["Body"] for message in stand.waiting("Dead")) == "a"
        assert worked(stand).count(["a"]) == 3
        assert ["b"] in worked(stand)


def test_of_a_batch_only_what_failed_comes_again():
    with standing(resources({"BatchSize": 10}), worker=failing("b")) as stand:
        stand.cloud.client("sqs").send_message(
            QueueUrl=stand.queue("Work"), MessageBody="a", MessageGroupId="demo", MessageDeduplicationId="a"
        )
        send(stand, "b")
        stand.advance(125)

        assert worked(stand) == [["a", "b"], ["b"]]


@pytest.mark.parametrize(
    "answer",
    [{"batchItemFailures": [{"itemIdentifier": "nobody"}]}, {"batchItemFailures": [{"id": "x"}]}, "done"],
)
def test_an_answer_that_cannot_be_read_fails_the_whole_batch(answer):
    with standing(resources(), worker=lambda _: answer) as stand:
        send(stand, "a")
        stand.advance(125)

        assert worked(stand) == [["a"], ["a"]]


def test_without_reports_an_answer_is_a_success_whatever_it_says():
    with standing(resources({"FunctionResponseTypes": []}), worker=failing("a")) as stand:
        send(stand, "a")
        stand.advance(600)

        assert worked(stand) == [["a"]]


@pytest.mark.parametrize("missing", POLL)
def test_a_role_that_may_not_poll_is_told(missing):
    with standing(resources(may=[action for action in POLL if action != missing])) as stand:
        stand.router.start()
        send(stand, "a")

        assert f"may not {missing}" in stand.router.troubles()[0]


def test_a_mapping_that_is_switched_off_works_nothing():
    with standing(resources({"Enabled": False})) as stand:
        stand.router.start()
        send(stand, "a")

        assert stand.events == []
