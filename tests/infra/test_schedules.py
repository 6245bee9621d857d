"""The two clocks: what they send, to whom, how often, and how late it may come."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from driftgate.events import Heartbeat, Poll, parse_event

AT = "2026-10-17T02:10:00Z"
CLOCKS = {
    "SchedulesHeartbeat": ("rate(1 minute)", "EvaluateDriftFunction.Arn", Heartbeat, 60),
    "SchedulesPoll": ("rate(15 minutes)", "WatchAmisFunction.Arn", Poll, 600),
}


def test_there_are_two_clocks_and_none_per_roll(small):
    assert set(small.of_type("AWS::Scheduler::Schedule")) == set(CLOCKS)


@pytest.mark.parametrize("name", CLOCKS)
def test_a_clock_calls_its_function_on_time_or_not_at_all(small, name):
    schedule = small.of_type("AWS::Scheduler::Schedule")[name]
    rate, function, _, patience = CLOCKS[name]

    assert schedule["ScheduleExpression"] == rate
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["Target"]["Arn"] == function
    assert schedule["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"] == patience
    assert "State" not in schedule


@pytest.mark.parametrize("name", CLOCKS)
def test_the_function_reads_what_its_clock_sends(small, name):
    sent = small.of_type("AWS::Scheduler::Schedule")[name]["Target"]["Input"]
    payload = json.loads(sent.replace("<aws.scheduler.scheduled-time>", AT))

    event = parse_event(payload)

    assert event == CLOCKS[name][2](scheduled_at=datetime(2026, 10, 17, 2, 10, tzinfo=UTC))


@pytest.mark.parametrize("name", CLOCKS)
def test_what_a_clock_could_not_deliver_is_kept(small, name):
    target = small.of_type("AWS::Scheduler::Schedule")[name]["Target"]

    assert target["DeadLetterConfig"] == {"Arn": "FailuresQueue.Arn"}
    assert target["RoleArn"] == "SchedulesRole.Arn"


def test_a_heartbeat_is_over_before_the_next(small):
    assert small.functions()["evaluate_drift"]["Timeout"] < 60


def test_the_clocks_are_in_the_group_that_their_role_asks_for(small):
    (group,) = small.of_type("AWS::Scheduler::ScheduleGroup").values()

    assert group == {"Name": "driftgate"}
    assert {each["GroupName"] for each in small.of_type("AWS::Scheduler::Schedule").values()} == {"driftgate"}
