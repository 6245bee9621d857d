"""The page that shows how driftgate is."""

from __future__ import annotations

import json
from typing import Any

from driftgate.contract import Metric
from tests.infra.told import told


def widgets() -> list[Any]:
    dashboard = told().one("AWS::CloudWatch::Dashboard", "Dashboard")
    assert dashboard["DashboardName"] == "driftgate-prod"
    found: list[Any] = json.loads(dashboard["DashboardBody"])["widgets"]
    return found


def lines() -> list[Any]:
    return [line for each in widgets() if each["type"] == "metric" for line in each["properties"]["metrics"]]


def test_the_page_shows_every_alarm_first():
    first = widgets()[0]

    names = {f"{name}.Arn" for name in told().of_type("AWS::CloudWatch::Alarm")}
    assert first["type"] == "alarm"
    assert set(first["properties"]["alarms"]) == names


def test_every_metric_of_the_contract_is_shown():
    shown = {line[1] for line in lines() if line[0] == "driftgate"}

    by_reason = next(line[0]["expression"] for line in lines() if isinstance(line[0], dict))
    assert by_reason == (
        "SEARCH('{driftgate,service,reason} MetricName=\"RollHeld\" service=\"driftgate-prod\"', 'Sum', 300)"
    )
    assert shown | {"RollHeld"} == {metric.value for metric in Metric}


def test_own_metrics_are_those_of_this_deployment_whatever_the_cluster():
    assert {tuple(line[2:4]) for line in lines() if line[0] == "driftgate"} == {("service", "driftgate-prod")}


def test_every_function_that_works_and_every_queue_is_shown():
    named = {(line[2], line[3]) for line in lines() if str(line[0]).startswith("AWS/")}

    functions = {("FunctionName", each["Name"]) for each in told().functions().values()}
    functions -= {("FunctionName", "FleetClosingCloseFleetFunction")}
    queues = {("QueueName", f"{name}.QueueName") for name in told().of_type("AWS::SQS::Queue")}
    assert named == functions | queues


def test_widgets_do_not_overlap():
    taken = [
        (x, y)
        for each in widgets()
        for x in range(each["x"], each["x"] + each["width"])
        for y in range(each["y"], each["y"] + each["height"])
    ]

    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24
