"""Rules of a template at work: what they match, whom they call, and where goes what nobody takes."""

from __future__ import annotations

import json

import pytest

from driftgate.events import ParameterChanged, parse_event
from infra.local.routing.inputs import input_of
from infra.local.template.document import TemplateError
from tests.local.stand import NOW, QUEUE, allow, function, permission, policy, queue_policy, role, standing

ARN = {"Fn::GetAtt": ["Look", "Arn"]}
RULE = {"Fn::GetAtt": ["Changed", "Arn"]}


def resources(target=None, **rule):
    properties = {
        "EventPattern": {"source": ["aws.ssm"], "detail": {"name": [{"prefix": "/seen/"}], "operation": ["Create"]}},
        "Targets": [{"Id": "look", "Arn": ARN} | (target or {})],
    }
    return {
        "Role": role(),
        "Look": function("look"),
        "MayLook": permission("Look", "events", RULE),
        "Changed": {"Type": "AWS::Events::Rule", "Properties": properties | rule},
    }


def put(stand, name="/seen/a", **more):
    stand.cloud.client("ssm").put_parameter(Name=name, Value="1", Type="String", **more)
    stand.advance()


def test_a_parameter_that_matches_wakes_the_function_with_the_event_as_aws_sends_it():
    with standing(resources()) as stand:
        put(stand)

        (event,) = stand.events
        parsed = parse_event(event)
        assert isinstance(parsed, ParameterChanged)
        assert (parsed.name, parsed.operation, parsed.origin.at) == ("/seen/a", "Create", NOW)
        assert stand.router.troubles() == []


def test_what_does_not_match_wakes_nobody():
    with standing(resources()) as stand:
        put(stand, "/other/a")
        put(stand)
        put(stand, Overwrite=True)

        assert [event["detail"]["operation"] for event in stand.events] == ["Create"]


def test_a_rule_that_is_switched_off_wakes_nobody():
    with standing(resources(State="DISABLED")) as stand:
        put(stand)

        assert stand.events == []


def test_a_failed_call_raises_no_event():
    with standing(resources()) as stand:
        put(stand)
        with pytest.raises(Exception, match="already exists"):
            stand.cloud.client("ssm").put_parameter(Name="/seen/a", Value="2", Type="String")
        stand.advance()

        assert len(stand.events) == 1


def test_a_function_that_does_not_let_the_rule_in_is_not_called_and_the_event_is_buried():
    found = resources({"DeadLetterConfig": {"Arn": {"Fn::GetAtt": ["Dead", "Arn"]}}})
    found |= {"Dead": QUEUE, "DeadPolicy": queue_policy("Dead", "events")}
    found["MayLook"]["Properties"]["SourceArn"] = "arn:aws:events:eu-central-1:123456789012:rule/other"
    with standing(found) as stand:
        put(stand)

        (message,) = stand.waiting("Dead")
        assert stand.events == []
        assert json.loads(message["Body"])["detail"]["name"] == "/seen/a"
        assert message["MessageAttributes"]["ERROR_CODE"]["StringValue"] == "NO_PERMISSIONS"
        assert "may not lambda:InvokeFunction" in stand.router.troubles()[0]


def test_without_a_queue_that_takes_it_the_event_is_lost_and_told():
    found = resources({"DeadLetterConfig": {"Arn": {"Fn::GetAtt": ["Dead", "Arn"]}}}) | {"Dead": QUEUE}
    del found["MayLook"]
    with standing(found) as stand:
        put(stand)

        (lost,) = stand.router.buses.lost
        assert "may not lambda:InvokeFunction" in lost
        assert "may not sqs:SendMessage" in lost


@pytest.mark.parametrize(
    ("target", "rule", "said"),
    [
        ({"RunCommandParameters": {}}, {}, "RunCommandParameters of a target is not understood"),
        ({"Arn": "arn:aws:kinesis:eu-central-1:123456789012:stream/a"}, {}, "a target of kinesis"),
        ({}, {"ScheduleExpression": "rate(1 minute)"}, "use EventBridge Scheduler"),
    ],
)
def test_a_rule_that_cannot_be_carried_out_here_is_refused_as_it_is_read(target, rule, said):
    with pytest.raises(TemplateError, match=said), standing(resources(target, **rule)):
        pass


def test_our_own_events_go_by_the_rules_of_their_bus_alone():
    found = resources(EventBusName={"Ref": "Bus"}, EventPattern={"source": ["driftgate"]})
    found["Bus"] = {"Type": "AWS::Events::EventBus", "Properties": {"Name": "own"}}
    entry = {"Source": "driftgate", "DetailType": "RollOpened", "Detail": '{"pool": "app"}'}
    with standing(found) as stand:
        stand.cloud.client("events").put_events(Entries=[entry, entry | {"EventBusName": "own"}])
        stand.advance()

        assert [(event["detail-type"], event["detail"]) for event in stand.events] == [("RollOpened", {"pool": "app"})]


TOLD = {
    "Key": {
        "Type": "AWS::KMS::Key",
        "Properties": {
            "KeyPolicy": policy(
                allow(["kms:GenerateDataKey*", "kms:Decrypt"], Principal={"Service": "events.amazonaws.com"})
            )
        },
    },
    "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"KmsMasterKeyId": {"Ref": "Key"}}},
    "TopicPolicy": {
        "Type": "AWS::SNS::TopicPolicy",
        "Properties": {
            "Topics": [{"Ref": "Topic"}],
            "PolicyDocument": policy(allow("sns:Publish", Principal={"Service": "events.amazonaws.com"})),
        },
    },
    "Chat": {
        "Type": "AWS::Chatbot::SlackChannelConfiguration",
        "Properties": {"SlackChannelId": "C1", "SnsTopicArns": [{"Ref": "Topic"}]},
    },
}


def said_in_chat(stand):
    url = stand.stack.resources["Chat"].physical.attributes["ChannelQueueUrl"]
    found = stand.cloud.client("sqs").receive_message(QueueUrl=url).get("Messages", [])
    return [json.loads(json.loads(message["Body"])["Message"]) for message in found]


def test_a_rule_publishes_on_an_encrypted_topic_that_lets_events_in():
    target = {"Arn": {"Ref": "Topic"}, "InputTransformer": {"InputTemplate": '{"said": "<aws.events.event.json>"}'}}
    with standing(resources(target | {"Input": '{"said": "x"}'}) | TOLD) as stand:
        put(stand)

        assert said_in_chat(stand) == [{"said": "x"}]
        assert stand.router.troubles() == []


@pytest.mark.parametrize(("broken", "said"), [("TopicPolicy", "sns:Publish"), ("Key", "kms:GenerateDataKey")])
def test_a_topic_or_a_key_that_does_not_let_events_in_keeps_the_message_from_people(broken, said):
    found = json.loads(json.dumps(resources({"Arn": {"Ref": "Topic"}}) | TOLD).replace("events.amazonaws.com", "X"))
    for name in {"TopicPolicy", "Key"} - {broken}:
        found[name] = TOLD[name]
    with standing(found) as stand:
        put(stand)

        assert said_in_chat(stand) == []
        assert f"may not {said}" in stand.router.buses.lost[0]


EVENT = {"id": "1", "detail": {"name": 'a"b', "n": 3}}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({}, EVENT),
        ({"Input": '{"a": 1}'}, {"a": 1}),
        ({"InputPath": "$.detail.name"}, 'a"b'),
        ({"InputPath": "$.detail.nobody"}, None),
        (
            {
                "InputTransformer": {
                    "InputPathsMap": {"name": "$.detail.name", "n": "$.detail.n"},
                    "InputTemplate": '{"text": "got <name>", "whole": <name>, "n": <n>, "e": <aws.events.event>}',
                }
            },
            {"text": 'got a"b', "whole": 'a"b', "n": 3, "e": EVENT},
        ),
    ],
)
def test_a_target_gets_the_event_or_what_its_input_says(target, expected):
    assert input_of(target, EVENT) == expected


def test_a_path_that_is_not_understood_is_refused():
    with pytest.raises(TemplateError, match=r"\$\.detail\[0\]"):
        input_of({"InputPath": "$.detail[0]"}, EVENT)
