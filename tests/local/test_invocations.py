"""What Lambda does with an event whose function fails: again after one and two minutes, then the failure queue."""

from __future__ import annotations

import pytest

from tests.local.stand import QUEUE, allow, function, role, standing


def resources(config=None, may=("sqs:SendMessage",), service="lambda", **more):
    properties = {
        "FunctionName": {"Ref": "Close"},
        "Qualifier": "$LATEST",
        "DestinationConfig": {"OnFailure": {"Destination": {"Fn::GetAtt": ["Failed", "Arn"]}}},
    }
    return {
        "Role": role(*(allow(action) for action in may), service=service),
        "Close": function("close", **more),
        "Failed": QUEUE,
        "Config": {"Type": "AWS::Lambda::EventInvokeConfig", "Properties": properties | (config or {})},
    }


def broken(_):
    raise ValueError("the gate could not be shut")


def invoke(stand, seconds=1000):
    answer = stand.cloud.client("lambda").invoke(FunctionName="close", InvocationType="Event", Payload=b'{"a": 1}')
    stand.advance(seconds)
    return answer["StatusCode"]


def test_an_event_is_taken_and_the_function_runs_later():
    with standing(resources()) as stand:
        assert invoke(stand) == 202
        assert stand.functions.seen == [("close", {"a": 1})]
        assert stand.router.troubles() == []


def test_a_function_that_fails_is_tried_again_twice_and_then_lambda_gives_up():
    with standing(resources(), close=broken) as stand:
        invoke(stand)

        (record,) = stand.bodies("Failed")
        assert stand.functions.times == [0, 60, 180]
        assert record["requestPayload"] == {"a": 1}
        assert record["requestContext"]["condition"] == "RetriesExhausted"
        assert record["requestContext"]["approximateInvokeCount"] == 3
        assert record["responsePayload"] == {"errorType": "ValueError", "errorMessage": "the gate could not be shut"}


def test_the_template_says_how_often_and_for_how_long():
    with standing(resources({"MaximumRetryAttempts": 0}), close=broken) as stand:
        invoke(stand)
        assert stand.functions.times == [0]

    with standing(resources({"MaximumEventAgeInSeconds": 100}), close=broken) as stand:
        invoke(stand)
        assert stand.functions.times == [0, 60]
        assert stand.bodies("Failed")[0]["requestContext"]["condition"] == "EventAgeExceeded"


def test_a_failure_that_the_role_may_not_send_is_lost_and_told():
    with standing(resources(may=()), close=broken) as stand:
        invoke(stand)

        refused, lost = stand.router.invocations.lost
        assert refused.startswith("close could not be given its destination")
        assert "gave up" in lost
        assert "may not sqs:SendMessage" in lost


def test_a_role_that_does_not_trust_lambda_runs_nothing():
    with standing(resources(service="ec2")) as stand:
        invoke(stand)

        assert stand.functions.seen == []
        assert "lambda.amazonaws.com may not sts:AssumeRole" in stand.router.invocations.failures[0]


def test_a_traced_function_needs_leave_to_write_traces():
    with standing(resources(TracingConfig={"Mode": "Active"})) as stand:
        invoke(stand)

        assert stand.functions.seen == []
        assert "may not xray:PutTraceSegments" in stand.router.invocations.failures[0]


def test_a_synchronous_invocation_is_not_served():
    with standing(resources()) as stand, pytest.raises(Exception, match="500"):
        stand.cloud.client("lambda").invoke(FunctionName="close")
