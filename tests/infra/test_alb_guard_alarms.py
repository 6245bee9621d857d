"""Alarms on what the users of a load balancer feel: fit to guard rolls, and calm."""

from __future__ import annotations

from functools import cache
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from infra.constructs.alb_guard_alarms import AlbGuardAlarms, Tolerance

BALANCER = "app/shop/0123456789abcdef"
WEB, API = "targetgroup/web/0123456789abcdef", "targetgroup/api/fedcba9876543210"


@cache
def made(*groups: str, **tolerance: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names for driftgate.yaml, and the alarms by name."""
    stack = cdk.Stack(cdk.App(), "Shop")
    guards = AlbGuardAlarms(
        stack,
        "Guards",
        name="shop",
        balancer=BALANCER,
        target_groups=groups or (WEB,),
        tolerance=Tolerance(**tolerance) if tolerance else None,
        actions=("arn:aws:sns:eu-central-1:111122223333:team",),
    )
    found = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    return guards.names(), {each["Properties"]["AlarmName"]: each["Properties"] for each in found}


def the_alarm(name: str) -> Any:
    return made()[1][name]


def numbers(name: str) -> dict[str, Any]:
    """The metrics of an alarm by id: name and statistic, or the formula."""
    return {
        each["Id"]: each.get("Expression") or (each["MetricStat"]["Metric"]["MetricName"], each["MetricStat"]["Stat"])
        for each in the_alarm(name)["Metrics"]
    }


def test_the_names_are_those_of_the_alarms_so_that_they_can_guard():
    names, alarms = made()

    assert set(names) == set(alarms)
    assert names == (
        "shop-5xx-target",
        "shop-5xx-balancer",
        "shop-latency-p99",
        "shop-rejected-connections",
        "shop-unhealthy-hosts",
        "shop-target-connection-errors",
    )


def test_several_target_groups_are_told_apart_by_a_number():
    names, alarms = made(WEB, API)

    assert names[-4:] == (
        "shop-unhealthy-hosts-1",
        "shop-target-connection-errors-1",
        "shop-unhealthy-hosts-2",
        "shop-target-connection-errors-2",
    )
    dimensions = alarms["shop-unhealthy-hosts-2"]["Metrics"][0]["MetricStat"]["Metric"]["Dimensions"]
    assert dimensions == [{"Name": "LoadBalancer", "Value": BALANCER}, {"Name": "TargetGroup", "Value": API}]


def test_errors_of_targets_are_a_share_of_enough_requests():
    assert numbers("shop-5xx-target") == {
        "judged": "IF(FILL(r, 0) >= 20, 100 * FILL(m, 0) / FILL(r, 0), 0)",
        "m": ("HTTPCode_Target_5XX_Count", "Sum"),
        "r": ("RequestCount", "Sum"),
    }
    assert the_alarm("shop-5xx-target")["Threshold"] == 1


def test_errors_of_the_balancer_count_where_no_target_could_be_chosen_for_any_request():
    shown = numbers("shop-5xx-balancer")

    assert shown["m"] == ("HTTPCode_ELB_5XX_Count", "Sum")
    assert shown["judged"] == ("IF((FILL(r, 0) + FILL(m, 0)) >= 20, 100 * FILL(m, 0) / (FILL(r, 0) + FILL(m, 0)), 0)")


def test_latency_is_that_of_the_slowest_of_a_hundred_where_there_are_enough():
    assert numbers("shop-latency-p99") == {
        "judged": "IF(FILL(r, 0) >= 20, m, 0)",
        "m": ("TargetResponseTime", "p99"),
        "r": ("RequestCount", "Sum"),
    }


@pytest.mark.parametrize(
    ("name", "metric", "threshold"),
    [
        ("shop-rejected-connections", ("RejectedConnectionCount", "Sum"), 1),
        ("shop-unhealthy-hosts", ("UnHealthyHostCount", "Maximum"), 1),
        ("shop-target-connection-errors", ("TargetConnectionErrorCount", "Sum"), 5),
    ],
)
def test_the_others_are_plain_numbers(name, metric, threshold):
    assert numbers(name) == {"m": metric}
    assert the_alarm(name)["Threshold"] == threshold


def test_exactly_one_number_of_an_alarm_is_judged():
    for alarm in made()[1].values():
        assert [each["ReturnData"] for each in alarm["Metrics"]].count(True) == 1


def test_an_alarm_needs_three_bad_minutes_and_a_calm_while_to_end():
    for alarm in made()[1].values():
        assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (3, 10)
        assert {each["MetricStat"]["Period"] for each in alarm["Metrics"] if "MetricStat" in each} == {60}


def test_silence_is_health_only_where_the_balancer_reports_nothing_but_trouble():
    silent = {name: alarm["TreatMissingData"] for name, alarm in made()[1].items()}

    assert silent.pop("shop-unhealthy-hosts") == "missing"
    assert set(silent.values()) == {"notBreaching"}


def test_what_users_take_can_be_said():
    _, alarms = made(WEB, errors_percent=0.5, latency_p99_s=0.3, least_requests=100, unhealthy_targets=2)

    assert alarms["shop-5xx-target"]["Threshold"] == 0.5
    assert ">= 100" in alarms["shop-5xx-balancer"]["Metrics"][0]["Expression"]
    assert alarms["shop-latency-p99"]["Threshold"] == 0.3
    assert alarms["shop-unhealthy-hosts"]["AlarmDescription"] == "2 targets or more fail their health checks."


def test_whoever_is_named_is_told_of_the_start_and_the_end():
    for alarm in made()[1].values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == ["arn:aws:sns:eu-central-1:111122223333:team"]
