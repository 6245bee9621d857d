"""What services raise by themselves: shaped like the recorded events, dated by the cluster's clock, read by ours."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.cloudwatch_alarms import CloudWatchAlarms
from driftgate.adapters.ssm_calendars import SsmCalendars
from driftgate.domain.policy import AlarmGuard
from driftgate.events import AlarmChanged, CalendarChanged, parse_event
from infra.local.cloud.front import ADMINISTRATOR_KEY
from infra.local.cloud.server import REGION
from tests.local.stand import NOW, allow, function, permission, policy, role, standing

RECORDED = Path(__file__).resolve().parents[1] / "events"
EVERYTHING = {"EventPattern": {"account": ["123456789012"]}}


def resources(**more):
    arn = {"Fn::GetAtt": ["Look", "Arn"]}
    return {
        "Role": role(),
        "Look": function("look"),
        "MayLook": permission("Look", "events", {"Fn::GetAtt": ["All", "Arn"]}),
        "All": {"Type": "AWS::Events::Rule", "Properties": EVERYTHING | {"Targets": [{"Id": "1", "Arn": arn}]}},
        "Alarm": alarm(),
    } | more


def alarm(**more):
    properties = {
        "AlarmName": "shop-5xx",
        "Namespace": "AWS/ApplicationELB",
        "MetricName": "HTTPCode_Target_5XX_Count",
        "Dimensions": [{"Name": "LoadBalancer", "Value": "app/shop/1"}],
        "ComparisonOperator": "GreaterThanThreshold",
        "EvaluationPeriods": 1,
        "Threshold": 5,
        "Period": 60,
        "Statistic": "Sum",
    }
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties | more}


def set_alarm(stand, state):
    stand.cloud.client("cloudwatch").set_alarm_state(AlarmName="shop-5xx", StateValue=state, StateReason="crossed")
    stand.advance(60)


@pytest.fixture
def session(monkeypatch):
    """Our own adapters, asking the local AWS as the administrator."""

    def connected(stand):
        monkeypatch.setenv("AWS_ENDPOINT_URL", stand.cloud.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", ADMINISTRATOR_KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
        return AwsSession(stand.clock, REGION)

    return connected


def shape(value):
    """The keys of an object, all the way down; texts of JSON count as texts."""
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items() if key != "reasonData"}
    return [shape(entry) for entry in value] if isinstance(value, list) else type(value).__name__


@pytest.mark.parametrize(
    ("recorded", "happens"),
    [
        ("alarm_state_change_metric", lambda stand: set_alarm(stand, "ALARM")),
        (
            "parameter_store_change_update",
            lambda stand: stand.cloud.client("ssm").put_parameter(Name="/a", Value="1", Type="String"),
        ),
    ],
)
def test_an_event_has_the_shape_of_the_recorded_one(recorded, happens):
    with standing(resources()) as stand:
        happens(stand)
        stand.advance()

        (event,) = stand.events
    wanted = json.loads((RECORDED / f"{recorded}.json").read_text())
    dimensions = "dimensions"
    found, expected = shape(event), shape(wanted)
    assert dimensions in json.dumps(found) or recorded != "alarm_state_change_metric"
    assert found == expected


def test_an_alarm_tells_from_what_to_what_and_only_when_it_changes():
    with standing(resources()) as stand:
        for state in ("OK", "OK", "ALARM"):
            set_alarm(stand, state)

        changes = [parse_event(event) for event in stand.events]
    assert [(c.previous_state, c.state) for c in changes if isinstance(c, AlarmChanged)] == [
        ("INSUFFICIENT_DATA", "OK"),
        ("OK", "ALARM"),
    ]


def test_our_own_reader_of_alarms_finds_state_time_and_history_as_they_were(session):
    with standing(resources()) as stand:
        for state in ("OK", "ALARM", "OK"):
            set_alarm(stand, state)

        (found,) = CloudWatchAlarms(session(stand)).read([AlarmGuard(name="shop-5xx")], NOW + timedelta(seconds=30))
    assert (found.state, found.since, found.muted) == ("OK", NOW + timedelta(seconds=120), False)
    assert [(change.state, change.at) for change in found.history or ()] == [
        ("ALARM", NOW + timedelta(seconds=60)),
        ("OK", NOW + timedelta(seconds=120)),
    ]


def test_a_calendar_says_that_it_closed_and_answers_so(session):
    with standing(resources()) as stand:
        stand.router.calendar("freeze", "CLOSED")
        stand.advance()

        (event,) = stand.events
        (read,) = SsmCalendars(session(stand)).read(["freeze"])
    parsed = parse_event(event)
    assert isinstance(parsed, CalendarChanged)
    assert (parsed.calendar.rsplit("/", 1)[-1], parsed.state) == ("freeze", "CLOSED")
    assert read.state == "CLOSED"
    wanted = json.loads((RECORDED / "calendar_state_change.json").read_text())
    assert set(wanted) == set(event)


def test_a_calendar_tells_when_it_changes_next_and_nobody_knows_an_unknown_one():
    with standing({}) as stand:
        ssm = stand.cloud.client("ssm")
        stand.router.calendars.put("freeze", (NOW, "OPEN"), (NOW + timedelta(hours=1), "CLOSED"))

        found = ssm.get_calendar_state(CalendarNames=["arn:aws:ssm:eu-central-1:123456789012:document/freeze"])
        later = ssm.get_calendar_state(CalendarNames=["freeze"], AtTime="2026-10-17T04:00:00Z")
        with pytest.raises(ssm.exceptions.InvalidDocument):
            ssm.get_calendar_state(CalendarNames=["other"])

    assert (found["State"], found["NextTransitionTime"]) == ("OPEN", "2026-10-17T03:10:00Z")
    assert (later["State"], "NextTransitionTime" in later) == ("CLOSED", False)


TOPIC = {
    "Topic": {"Type": "AWS::SNS::Topic"},
    "TopicPolicy": {
        "Type": "AWS::SNS::TopicPolicy",
        "Properties": {
            "Topics": [{"Ref": "Topic"}],
            "PolicyDocument": policy(allow("sns:Publish", Principal={"Service": "cloudwatch.amazonaws.com"})),
        },
    },
    "Subscription": {
        "Type": "AWS::SNS::Subscription",
        "Properties": {
            "TopicArn": {"Ref": "Topic"},
            "Protocol": "lambda",
            "Endpoint": {"Fn::GetAtt": ["Tell", "Arn"]},
        },
    },
    "Role": role(),
    "Tell": function("tell"),
    "MayTell": permission("Tell", "sns", {"Ref": "Topic"}),
    "Alarm": alarm(AlarmActions=[{"Ref": "Topic"}]),
}


def test_an_alarm_of_ours_reaches_the_function_that_tells_people_by_its_topic():
    with standing(TOPIC) as stand:
        set_alarm(stand, "ALARM")
        set_alarm(stand, "OK")

        (event,) = stand.events
        assert stand.router.troubles() == []
    wanted = json.loads((RECORDED / "sns_delivery.json").read_text())["Records"][0]
    (record,) = event["Records"]
    message, recorded = json.loads(record["Sns"]["Message"]), json.loads(wanted["Sns"]["Message"])
    assert set(record) == set(wanted)
    assert set(wanted["Sns"]) - set(record["Sns"]) == {"Signature", "SigningCertUrl", "UnsubscribeUrl"}
    assert set(recorded) - set(message) == {"AlarmConfigurationUpdatedTimestamp"}
    assert (message["AlarmName"], message["NewStateValue"]) == ("shop-5xx", "ALARM")


@pytest.mark.parametrize(
    ("broken", "said"),
    [("TopicPolicy", "cloudwatch.amazonaws.com may not sns:Publish"), ("MayTell", "sns.amazonaws.com may not lambda:")],
)
def test_a_topic_or_a_function_that_lets_nobody_in_keeps_the_alarm_from_people(broken, said):
    with standing({name: found for name, found in TOPIC.items() if name != broken}) as stand:
        set_alarm(stand, "ALARM")

        assert stand.events == []
        assert said in "\n".join([*stand.router.lost_actions, *stand.router.topics.lost])
