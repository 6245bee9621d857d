"""What every source of alarms tells; then what only CloudWatch can tell, and how it is asked."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.cloudwatch_alarms import CloudWatchAlarms
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError
from driftgate.domain.observation import AlarmTransition
from driftgate.domain.policy import AlarmGuard
from tests.factories import NOW
from tests.fakes.aws_faults import AwsFaults, refusal, timeout
from tests.fakes.clock import FakeClock
from tests.fakes.cloudwatch_api import CloudWatchApi
from tests.fakes.ledgers import moto_session
from tests.fakes.pipeline import FakeAlarms

SINCE = NOW - timedelta(hours=6)
ROLE = "arn:aws:iam::444455556666:role/alarm-reader"


@pytest.fixture(scope="module")
def moto():
    with moto_session():
        yield


@pytest.fixture
def aws(moto):
    return AwsSession(FakeClock(), region="eu-central-1")


@pytest.fixture
def api(aws):
    return CloudWatchApi(aws.client("cloudwatch", region="eu-central-1"))


@pytest.fixture
def alarms(aws, api):
    return CloudWatchAlarms(aws, "eu-central-1")


def guards(*names):
    return [AlarmGuard(name=name) for name in names]


# --- every source of alarms ------------------------------------------------------------------------


@pytest.fixture(params=["fake", "cloudwatch"])
def source(request):
    """A source with alarms of these states."""
    if request.param == "fake":
        return FakeAlarms

    def stored(**states):
        api = request.getfixturevalue("api")
        for name, state in states.items():
            api.put(name.replace("_", "-"), state, NOW)
        return request.getfixturevalue("alarms")

    return stored


def test_there_is_one_answer_per_guard_in_their_order(source):
    read = source(demo_5xx="OK", demo_latency="ALARM", demo_queue="INSUFFICIENT_DATA").read(
        guards("demo-queue", "demo-5xx", "demo-latency"), SINCE
    )

    assert [(alarm.name, alarm.state) for alarm in read] == [
        ("demo-queue", "INSUFFICIENT_DATA"),
        ("demo-5xx", "OK"),
        ("demo-latency", "ALARM"),
    ]


def test_alarm_that_does_not_exist_is_missing_and_never_ok(source):
    read = source(demo_5xx="OK").read(guards("renamed", "demo-5xx"), SINCE)

    assert [(alarm.name, alarm.state) for alarm in read] == [("renamed", "MISSING"), ("demo-5xx", "OK")]


def test_no_guards_are_no_alarms(source):
    assert source(demo_5xx="OK").read([], SINCE) == ()


def test_alarm_that_two_guards_name_is_told_to_both(source):
    read = source(demo_5xx="ALARM").read(guards("demo-5xx", "demo-5xx"), SINCE)

    assert [alarm.state for alarm in read] == ["ALARM", "ALARM"]


# --- CloudWatch ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["MetricAlarm", "CompositeAlarm", "LogAlarm"])
def test_alarm_of_every_type_is_found_with_its_history(api, alarms, kind):
    api.put("demo", "ALARM", NOW, kind)
    api.record("demo", NOW, "OK", "ALARM", kind)

    (read,) = alarms.read(guards("demo"), SINCE)

    assert (read.state, read.since, read.history) == ("ALARM", NOW, (AlarmTransition(at=NOW, state="ALARM"),))


def test_more_alarms_than_one_call_takes_are_all_read(api, alarms):
    names = [f"alarm-{number:03}" for number in range(101)]
    for name in names:
        api.put(name, "OK", NOW)

    read = alarms.read(guards(*names), SINCE)

    assert [alarm.name for alarm in read] == names
    assert {alarm.state for alarm in read} == {"OK"}


def test_history_holds_changes_of_state_since_then_oldest_first(api, alarms):
    api.put("demo", "OK", NOW)
    api.record("demo", SINCE - timedelta(seconds=1), "OK", "ALARM")
    api.record("demo", NOW - timedelta(minutes=5), "ALARM", "OK")
    api.record("demo", SINCE, "ALARM", "OK")
    api.record("demo", NOW - timedelta(hours=1), "OK", "ALARM")
    api.record("demo", NOW - timedelta(minutes=2), "OK", "OK")
    api.record("other", NOW, "OK", "ALARM")

    (read,) = alarms.read(guards("demo"), SINCE)

    assert read.history == (
        AlarmTransition(at=SINCE, state="OK"),
        AlarmTransition(at=NOW - timedelta(hours=1), state="ALARM"),
        AlarmTransition(at=NOW - timedelta(minutes=5), state="OK"),
    )


def test_change_whose_states_cannot_be_read_still_counts_as_one(api, alarms):
    api.put("demo", "OK", NOW)
    api.record("demo", NOW, "ALARM", "OK")
    api.history[0]["HistoryData"] = api.history[0]["HistoryData"][:40]

    (read,) = alarms.read(guards("demo"), SINCE)

    assert read.history == (AlarmTransition(at=NOW, state="UNKNOWN"),)


def test_alarm_that_does_not_exist_has_an_unknown_history(alarms):
    (read,) = alarms.read(guards("renamed"), SINCE)

    assert read.history is None


def test_disabled_actions_are_told(api, alarms):
    api.put("on", "OK", NOW)
    api.put("off", "OK", NOW, ActionsEnabled=False)

    assert [alarm.actions_enabled for alarm in alarms.read(guards("on", "off"), SINCE)] == [True, False]


def test_alarm_with_an_active_mute_rule_is_muted(api, alarms):
    api.put("muted", "ALARM", NOW)
    api.put("loud", "ALARM", NOW)
    api.muted = {"muted"}

    assert [alarm.muted for alarm in alarms.read(guards("muted", "loud"), SINCE)] == [True, False]


def test_composite_alarm_whose_actions_are_suppressed_counts_as_muted(api, alarms):
    api.put("demo", "ALARM", NOW, "CompositeAlarm", ActionsSuppressedBy="Alarm")

    (read,) = alarms.read(guards("demo"), SINCE)

    assert (read.state, read.muted) == ("ALARM", True)


def test_mute_rules_are_asked_for_once_where_there_is_none(api, alarms):
    for name in ("a", "b", "c"):
        api.put(name, "OK", NOW)

    alarms.read(guards("a", "b", "c"), SINCE)

    assert api.calls.count("ListAlarmMuteRules") == 1


def test_state_is_dated_by_its_update_where_the_transition_is_not_told(api, alarms):
    api.put("demo", "OK", NOW, StateTransitionedTimestamp=None, StateUpdatedTimestamp=NOW - timedelta(hours=1))

    (read,) = alarms.read(guards("demo"), SINCE)

    assert read.since == NOW - timedelta(hours=1)


def test_each_guard_is_looked_up_in_its_own_region_and_account(aws, api, alarms):
    api.put("demo", "OK", NOW)
    CloudWatchApi(aws.client("cloudwatch", region="us-east-1")).put("demo", "ALARM", NOW)
    CloudWatchApi(aws.client("cloudwatch", region="eu-central-1", role=ROLE)).put("demo", "INSUFFICIENT_DATA", NOW)

    read = alarms.read(
        [
            AlarmGuard(name="demo", account_role=ROLE),
            AlarmGuard(name="demo"),
            AlarmGuard(name="demo", region="us-east-1"),
        ],
        SINCE,
    )

    assert [alarm.state for alarm in read] == ["INSUFFICIENT_DATA", "OK", "ALARM"]


@pytest.mark.parametrize(
    ("refused", "action"),
    [
        (0, "cloudwatch:DescribeAlarms"),
        (1, "cloudwatch:ListAlarmMuteRules"),
        (2, "cloudwatch:DescribeAlarmHistory"),
    ],
)
def test_denied_call_names_the_action(aws, api, alarms, refused, action):
    api.put("demo", "OK", NOW)
    denied = refusal("AccessDenied", 403)
    AwsFaults(aws.client("cloudwatch", region="eu-central-1"), after=[None] * refused + [denied])

    with pytest.raises(AwsForbiddenError, match=f"Allow {action}") as caught:
        alarms.read(guards("demo"), SINCE)

    assert caught.value.action == action


@pytest.mark.parametrize("fault", [refusal("Throttling"), refusal("InternalServiceFault", 500), timeout()])
def test_call_that_fails_after_retries_is_unavailable(aws, api, alarms, fault):
    AwsFaults(aws.client("cloudwatch", region="eu-central-1"), after=[fault])

    with pytest.raises(AwsUnavailableError, match="cloudwatch:DescribeAlarms"):
        alarms.read(guards("demo"), SINCE)


def test_role_that_cannot_be_assumed_is_named(aws, alarms):
    AwsFaults(aws.client("sts", region="eu-central-1"), after=[refusal("AccessDenied", 403)])

    with pytest.raises(AwsForbiddenError, match=r"sts:AssumeRole on .*role/alarm-reader"):
        alarms.read([AlarmGuard(name="demo", account_role=ROLE)], SINCE)


def test_real_metric_alarm_is_described_as_the_server_sends_it(aws):
    """moto answers over the wire for what it has; the rest is scripted."""
    client = aws.client("cloudwatch", region="eu-west-1")
    CloudWatchApi(client, ("DescribeAlarmHistory", "ListAlarmMuteRules"))
    client.put_metric_alarm(
        AlarmName="größe",
        Namespace="AWS/ApplicationELB",
        MetricName="HTTPCode_Target_5XX_Count",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=10,
        ComparisonOperator="GreaterThanThreshold",
        ActionsEnabled=False,
    )
    client.set_alarm_state(AlarmName="größe", StateValue="ALARM", StateReason="test")

    (read,) = CloudWatchAlarms(aws, "eu-west-1").read(guards("größe"), SINCE)

    assert (read.name, read.state, read.actions_enabled, read.muted) == ("größe", "ALARM", False, False)
    assert isinstance(read.since, datetime)
    assert read.since.utcoffset() == timedelta(0)


def test_history_of_an_alarm_that_has_not_changed_since_then_is_empty_and_not_asked_for(api, alarms):
    api.put("demo", "OK", SINCE - timedelta(seconds=1))
    api.record("demo", SINCE - timedelta(seconds=1), "ALARM", "OK")

    (read,) = alarms.read(guards("demo"), SINCE)

    assert read.history == ()
    assert "DescribeAlarmHistory" not in api.calls


def test_history_of_an_alarm_that_does_not_say_when_it_changed_is_asked_for(api, alarms):
    api.put("demo", "OK", NOW, StateTransitionedTimestamp=None)
    api.record("demo", NOW, "ALARM", "OK")

    (read,) = alarms.read(guards("demo"), SINCE)

    assert read.history == (AlarmTransition(at=NOW, state="OK"),)
