"""Which of AWS's events the rules take, and for whom: a table by hand, which every change of a pattern breaks."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from moto.events.models import EventPattern

from infra.local.cloud.server import ACCOUNT, REGION, CloudServer
from infra.local.routing.rules import rules_of
from infra.local.runtime.function import functions_of
from infra.local.template.loading import load
from tests.infra.template_night import ALARM, CALENDAR, STACK, template

LOOK, CLOSE = "evaluate_drift", "close_budgets"
Pattern = dict[str, Any]
Taken = tuple[str, Pattern, set[str]]


def event(source: str, kind: str, detail: dict[str, Any], resource: str = "") -> dict[str, Any]:
    return {
        "version": "0",
        "id": "1",
        "source": source,
        "detail-type": kind,
        "account": ACCOUNT,
        "region": REGION,
        "time": "2026-10-17T02:10:00Z",
        "resources": [resource],
        "detail": detail,
    }


def parameter(name: str = "/driftgate/demo/seen/eu-central-1/x", operation: str = "Update", **more: Any) -> Any:
    return event("aws.ssm", "Parameter Store Change", {"name": name, "operation": operation}) | more


def alarm(state: str = "ALARM", name: str = ALARM, **more: Any) -> Any:
    detail = {"alarmName": name, "state": {"value": state}}
    return event("aws.cloudwatch", "CloudWatch Alarm State Change", detail) | more


def calendar(name: str = CALENDAR, **more: Any) -> Any:
    resource = f"arn:aws:ssm:{REGION}:{ACCOUNT}:document/{name}"
    return event("aws.ssm", "Calendar State Change", {"state": "CLOSED"}, resource) | more


REPLAYED = {"replay-name": "again"}
FOREIGN = {"account": "999999999999"}
TABLE = [
    (parameter(), {LOOK}),
    (parameter(operation="Create"), {LOOK}),
    (parameter("/driftgate/demo/channel/blue"), {LOOK}),
    (parameter(operation="Delete"), set()),
    (parameter("/driftgate/other/seen/x"), set()),
    (parameter("/aws/service/eks/optimized-ami/x"), set()),
    (parameter(**REPLAYED), set()),
    (parameter(**FOREIGN), set()),
    (parameter(source="aws.other"), set()),
    (parameter(**{"detail-type": "Parameter Store Policy Action"}), set()),
    (alarm(), {LOOK, CLOSE}),
    (alarm("OK"), {LOOK}),
    (alarm("INSUFFICIENT_DATA"), {LOOK}),
    (alarm(name="shop-4xx"), set()),
    (alarm(**REPLAYED), set()),
    (alarm(**FOREIGN), set()),
    (alarm(source="aws.other"), set()),
    (alarm(**{"detail-type": "CloudWatch Alarm Configuration Change"}), set()),
    (calendar(), {LOOK}),
    (calendar("other"), set()),
    (calendar(**REPLAYED), set()),
    (calendar(**FOREIGN), set()),
    (calendar(source="aws.other"), set()),
    (calendar(**{"detail-type": "Change Manager State Change"}), set()),
]


@cache
def rules() -> list[Taken]:
    """Name, pattern and the functions behind every rule, as they are deployed."""
    with CloudServer() as cloud:
        stack = load(template(), cloud, STACK)
    labels = {function.arn: function.label for function in functions_of(stack)}
    return [
        (rule.name, rule.pattern.get_pattern(), {labels[target["Arn"]] for target in rule.targets})
        for rule in rules_of(stack)
    ]


def matches(pattern: Pattern, what: Any) -> bool:
    return bool(EventPattern.load(json.dumps(pattern)).matches_event(what))


def woken(found: list[Taken], what: Any) -> set[str]:
    return {function for _, pattern, behind in found if matches(pattern, what) for function in behind}


@pytest.mark.parametrize(("what", "functions"), TABLE)
def test_an_event_wakes_exactly_whom_it_concerns(what, functions):
    assert woken(rules(), what) == functions


def leaves(pattern: Pattern, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in pattern.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def with_leaf(pattern: Pattern, path: tuple[str, ...], value: list[Any] | None) -> Pattern:
    """The pattern with this leaf replaced; None: without it."""
    changed = copy.deepcopy(pattern)
    place = changed
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


def test_every_part_of_every_pattern_is_held_by_some_event_of_the_table():
    found = rules()
    survivors = []
    for index, (name, pattern, behind) in enumerate(found):
        for path in leaves(pattern):
            for value in (None, ["something-else"]):
                broken = [*found]
                broken[index] = (name, with_leaf(pattern, path, value), behind)
                if all(woken(broken, what) == functions for what, functions in TABLE):
                    survivors.append(f"{name}: {'.'.join(path)} → {value}")

    assert survivors == []


def test_every_target_is_held_by_some_event_of_the_table():
    found = rules()

    for index, (name, pattern, _) in enumerate(found):
        broken = [*found]
        broken[index] = (name, pattern, set())
        assert any(woken(broken, what) != functions for what, functions in TABLE), name
