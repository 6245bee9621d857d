"""Which events of AWS wake whom, asked with real events and moto's own matcher of patterns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from moto.events.models import EventPattern

from tests.infra.templates import ACCOUNT, Template, template_of

EVENTS = Path(__file__).parents[1] / "events"
EVALUATE, CLOSE = "EvaluateDriftFunction", "PlacementdefaultCloserFunction"


def event(recorded: str, /, **detail: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EVENTS / f"{recorded}.json").read_text(encoding="utf-8"))
    return found | {"detail": found["detail"] | detail}


def woken(template: Template, happened: dict[str, Any]) -> list[str]:
    """The functions that this event wakes, once for each rule that lets it through."""
    found = []
    for pattern, functions in template.patterns():
        matcher: Any = EventPattern
        if matcher.load(json.dumps(pattern)).matches_event(happened):
            found += functions
    return sorted(found)


def alarm(name: str = "demo-5xx", state: str = "ALARM", **envelope: Any) -> dict[str, Any]:
    return event("alarm_state_change_metric", alarmName=name, state={"value": state}) | envelope


@pytest.mark.parametrize("operation", ["Create", "Update"])
@pytest.mark.parametrize("tree", ["seen/eu-central-1/eks/optimized-ami/1.34/x/image_id", "channel/stable"])
def test_a_new_image_in_one_of_our_parameters_asks_for_a_look(small, tree, operation):
    happened = event("parameter_store_change_update", name=f"/driftgate/driftgate/{tree}", operation=operation)

    assert woken(small, happened) == [EVALUATE]


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("/driftgate/driftgate/seen/eu-central-1/x", "Delete"),
        ("/driftgate/driftgate/seen/eu-central-1/x", "LabelParameterVersion"),
        ("/driftgate/staging/seen/eu-central-1/x", "Update"),
        ("/aws/service/eks/optimized-ami/1.34/x", "Update"),
        ("/golden/image_id", "Update"),
    ],
)
def test_other_parameters_and_other_changes_wake_nobody(small, name, operation):
    assert woken(small, event("parameter_store_change_update", name=name, operation=operation)) == []


def test_an_alarm_that_fires_shuts_gates_at_once_and_asks_for_a_look(small):
    assert woken(small, alarm()) == [EVALUATE, CLOSE]


@pytest.mark.parametrize("state", ["OK", "INSUFFICIENT_DATA"])
def test_any_other_change_of_an_alarm_only_asks_for_a_look(small, state):
    assert woken(small, alarm(state=state)) == [EVALUATE]


@pytest.mark.parametrize("name", ["alarm_state_change_composite", "alarm_state_change_log", "alarm_state_change_muted"])
def test_every_kind_of_alarm_is_heard(small, name):
    assert woken(small, event(name, alarmName="demo-5xx", state={"value": "ALARM"})) == [EVALUATE, CLOSE]


def test_alarms_that_guard_nothing_wake_nobody(small):
    assert woken(small, alarm("demo-5xx-2")) == []
    assert woken(small, event("alarm_configuration_change", alarmName="demo-5xx")) == []


def test_a_calendar_that_is_obeyed_asks_for_a_look(small):
    assert woken(small, event("calendar_state_change")) == [EVALUATE]


def test_other_calendars_wake_nobody(small):
    other = {"resources": ["arn:aws:ssm:eu-central-1:111122223333:document/other-maintenance"]}

    assert woken(small, event("calendar_state_change") | other) == []


def test_a_calendar_may_be_named_by_its_arn(fleet):
    holidays = {"resources": ["arn:aws:ssm:eu-central-1:111122223333:document/holidays"]}

    assert woken(fleet, event("calendar_state_change") | holidays) == [EVALUATE]


@pytest.mark.parametrize(
    "happened",
    [alarm(), event("parameter_store_change_update"), event("calendar_state_change")],
    ids=["alarm", "parameter", "calendar"],
)
def test_what_is_replayed_or_another_account_says_wakes_nobody(small, happened):
    assert woken(small, happened) != []
    assert woken(small, happened | {"replay-name": "last-week"}) == []
    assert woken(small, happened | {"account": "999999999999"}) == []


def test_an_alarm_shuts_the_gates_of_every_placement(fleet):
    assert woken(fleet, alarm("shop-5xx")) == [EVALUATE, CLOSE, "PlacementeuCloserFunction"]


def test_an_alarm_of_another_account_is_heard_from_there_alone(fleet):
    assert woken(fleet, alarm("shared", account="444455556666")) == [EVALUATE, CLOSE, "PlacementeuCloserFunction"]
    assert woken(fleet, alarm("shared")) == []
    assert woken(fleet, alarm("shop-5xx", account="444455556666")) == []


def test_without_alarms_and_calendars_there_are_no_rules_for_them(tmp_path):
    template = template_of("cluster: demo\nguards: {alarms: none}\n", tmp_path)

    assert list(template.of_type("AWS::Events::Rule")) == ["Rulesparameters"]


def test_what_a_rule_cannot_deliver_within_an_hour_is_kept(small):
    for rule in small.of_type("AWS::Events::Rule").values():
        for target in rule["Targets"]:
            assert target["DeadLetterConfig"] == {"Arn": "FailuresQueue.Arn"}
            assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 3600}
            assert "Input" not in target
            assert "InputPath" not in target
            assert "InputTransformer" not in target


def test_rules_of_this_deployment_may_call_the_functions_that_they_wake_and_no_others(fleet):
    woken_by_rules = {function for _, functions in fleet.patterns() for function in functions}
    permitted = {
        permission["FunctionName"].removesuffix(".Arn")
        for permission in fleet.of_type("AWS::Lambda::Permission").values()
        if permission["Principal"] == "events.amazonaws.com"
    }
    sources = {
        permission["SourceArn"]
        for permission in fleet.of_type("AWS::Lambda::Permission").values()
        if permission["Principal"] == "events.amazonaws.com"
    }
    names = {rule["Name"] for rule in fleet.of_type("AWS::Events::Rule").values()}

    assert permitted == woken_by_rules
    assert sources == {f"arn:aws:events:eu-central-1:{ACCOUNT}:rule/driftgate-prod.*"}
    assert all(name.startswith("driftgate-prod.") for name in names)


MANY = [f"{'abcdefghij'[index % 10]}-service-{index:04}-target-5xx" for index in range(2000)]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory) -> Template:
    """2,000 alarms, and more placements than a rule has targets."""
    vpcs = "".join(
        f"    - {{name: vpc-{index}, subnets: [subnet-0a1b2c3d], security_groups: [sg-0a1b2c3d]}}\n"
        for index in range(6)
    )
    clusters = "".join(f"  - {{name: demo-{index}, placement: vpc-{index}}}\n" for index in range(6))
    text = f"deployment:\n  placements:\n{vpcs}guards: {{alarms: {json.dumps(MANY)}}}\nclusters:\n{clusters}"
    return template_of(text, tmp_path_factory.mktemp("crowd"))


def test_2000_alarms_fit_into_patterns_that_eventbridge_takes(crowd):
    patterns = [pattern for pattern, _ in crowd.patterns()]

    assert max(len(json.dumps(pattern, separators=(",", ":"))) for pattern in patterns) <= 2048
    assert len(patterns) <= 201
    assert len(crowd.body["Resources"]) <= 500


def test_each_of_2000_alarms_wakes_every_closer_and_the_evaluation_once(crowd):
    named: dict[str, list[str]] = {}
    for pattern, functions in crowd.patterns():
        for name in pattern.get("detail", {}).get("alarmName", []):
            named.setdefault(name, []).extend(functions)

    closers = [f"Placementvpc{index}CloserFunction" for index in range(6)]
    assert set(named) == set(MANY)
    assert {tuple(sorted(functions)) for functions in named.values()} == {(EVALUATE, *closers)}


def test_no_rule_has_more_targets_than_eventbridge_takes(crowd):
    assert max(len(functions) for _, functions in crowd.patterns()) == 5
