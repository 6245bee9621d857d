"""The alarms on driftgate itself: what each counts, when it fires, and that somebody says what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from driftgate.contract import Metric
from infra.packaging.contents import ROOT
from tests.infra.told import TOLD, told

TOPIC = "MessagesTopic"
HEADINGS = re.compile(r"^### (.+)$", re.MULTILINE)
SECTION = "## What each alarm means and what to do"


def alarms(template: Any = None) -> dict[str, Any]:
    """By name, without the deployment's prefix."""
    found = (template or told()).of_type("AWS::CloudWatch::Alarm").values()
    return {each["AlarmName"].removeprefix("driftgate-prod-").removeprefix("driftgate-"): each for each in found}


def fires(name: str) -> tuple[Any, ...]:
    """Metric, statistic, comparison, threshold, and in how many of how many periods."""
    alarm = alarms()[name]
    compared = {"GreaterThanOrEqualToThreshold": ">=", "LessThanThreshold": "<"}[alarm["ComparisonOperator"]]
    times = f"{alarm['DatapointsToAlarm']} of {alarm['EvaluationPeriods']} x {alarm['Period']} s"
    return (
        alarm["MetricName"],
        alarm["Statistic"],
        f"{compared} {alarm['Threshold']:g}",
        times,
        alarm["TreatMissingData"],
    )


def test_a_gate_past_its_time_is_told_within_a_minute():
    assert fires("gate-overdue") == ("RollOverdue", "Sum", ">= 1", "1 of 1 x 60 s", "notBreaching")


def test_a_gate_that_nobody_shuts_is_told_when_three_heartbeats_asked_in_vain():
    assert fires("gate-left-open") == ("GateLeftOpen", "Sum", ">= 1", "3 of 3 x 60 s", "notBreaching")


def test_a_silent_heartbeat_is_told_after_five_minutes():
    assert fires("heartbeat-silent") == ("HeartbeatDone", "Sum", "< 1", "5 of 5 x 60 s", "breaching")


def test_images_that_nobody_polls_are_told_after_four_missed_polls():
    assert fires("image-poll-stale") == ("ImagesPolled", "Sum", "< 1", "4 of 4 x 900 s", "breaching")


@pytest.mark.parametrize(
    ("name", "queue"),
    [
        ("look-failed-default", "PlacementdefaultWorkDeadLetters.QueueName"),
        ("look-failed-eu", "PlacementeuWorkDeadLetters.QueueName"),
        ("not-delivered", "FailuresQueue.QueueName"),
        ("message-not-told", "NotifierUntoldQueue.QueueName"),
    ],
)
def test_every_queue_of_failures_is_told_when_it_is_not_empty(name, queue):
    dead_letters = "ApproximateNumberOfMessagesVisible"

    assert fires(name) == (dead_letters, "Maximum", ">= 1", "1 of 1 x 300 s", "notBreaching")
    assert alarms()[name]["Dimensions"] == [{"Name": "QueueName", "Value": queue}]


def test_no_queue_of_failures_is_left_out():
    watched = {d["Value"] for alarm in alarms().values() for d in alarm["Dimensions"] if d["Name"] == "QueueName"}
    queues = {f"{name}.QueueName" for name in told().of_type("AWS::SQS::Queue")}

    assert watched == queues


@pytest.mark.parametrize("placement", ["default", "eu"])
def test_looks_that_nobody_takes_are_told_before_they_are_dropped(placement):
    age = ("ApproximateAgeOfOldestMessage", "Maximum", ">= 600", "1 of 1 x 300 s", "notBreaching")
    queue = told().one("AWS::SQS::Queue", f"Placement{placement}WorkQueue")

    assert fires(f"looks-waiting-{placement}") == age
    assert queue["MessageRetentionPeriod"] > 600 + 300 - 60


def test_messages_that_were_not_sent_or_not_delivered_are_told():
    assert fires("message-failed") == ("MessageFailed", "Sum", ">= 1", "1 of 1 x 300 s", "notBreaching")
    assert fires("delivery-failed") == ("NumberOfNotificationsFailed", "Sum", ">= 1", "1 of 1 x 300 s", "notBreaching")
    assert alarms()["delivery-failed"]["Dimensions"] == [{"Name": "TopicName", "Value": "MessagesTopic.TopicName"}]


def test_every_function_is_watched_for_errors_and_throttles_but_the_one_that_cloudformation_waits_for():
    functions = {each["Name"] for each in told().functions().values()} - {"FleetClosingCloseFleetFunction"}

    for kind, metric in (("function-errors", "Errors"), ("function-throttled", "Throttles")):
        found = [each for name, each in alarms().items() if name.startswith(kind)]
        assert {each["MetricName"] for each in found} == {metric}
        assert {d["Value"] for each in found for d in each["Dimensions"]} == functions


def test_a_closer_has_no_failure_to_spare():
    assert fires("function-errors-close-budgets-eu") == ("Errors", "Sum", ">= 1", "1 of 1 x 300 s", "notBreaching")
    assert fires("function-errors-evaluate-drift") == ("Errors", "Sum", ">= 3", "1 of 1 x 900 s", "notBreaching")
    assert fires("function-throttled-close-budgets-eu")[2:4] == (">= 1", "1 of 1 x 300 s")


def test_own_metrics_are_counted_under_the_service_that_functions_are_told_and_no_other_dimension():
    own = {alarm["MetricName"]: alarm["Dimensions"] for alarm in alarms().values() if alarm["Namespace"] == "driftgate"}

    services = {each["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"] for each in told().functions().values()}
    assert services == {"driftgate-prod"}
    assert set(own) <= {metric.value for metric in Metric}
    assert {str(each) for each in own.values()} == {str([{"Name": "service", "Value": "driftgate-prod"}])}


def test_every_alarm_tells_when_it_fires_and_when_it_is_over():
    for alarm in alarms().values():
        assert (alarm["AlarmActions"], alarm["OKActions"]) == ([TOPIC], [TOPIC])


def test_the_number_of_alarms_does_not_grow_with_clusters():
    many = TOLD.replace("clusters: [test", "clusters: [test, " + ", ".join(f"c{number}" for number in range(30)))

    assert set(alarms(told(many))) == set(alarms())
    assert len(alarms()) == 26


def test_every_alarm_has_an_entry_that_says_what_to_do():
    page = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
    section = page.partition(SECTION)[2].partition("\n## ")[0]
    written = set(HEADINGS.findall(section))

    kinds = set()
    for name, alarm in alarms().items():
        (kind,) = re.findall(r"What to do: docs/operate\.md, ([a-z-]+)\.$", alarm["AlarmDescription"])
        assert name == kind or name.startswith(f"{kind}-")
        kinds.add(kind)
    assert written == kinds


def test_what_an_entry_says_is_not_nothing():
    page = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
    section = page.partition(SECTION)[2].partition("\n## ")[0]

    for entry in section.split("\n### ")[1:]:
        assert "\n1. " in entry, entry.partition("\n")[0]
