from __future__ import annotations

from datetime import timedelta

import pytest

from driftgate.domain.diagnosis import alarms_check, clock_check, karpenter_check, rights_check
from driftgate.domain.observation import AlarmObservation
from driftgate.domain.rights import RIGHTS
from tests.factories import NOW

PATCH = next(right for right in RIGHTS if right.verb == "patch")
LIST_PODS = next(right for right in RIGHTS if right.resource == "pods")


@pytest.mark.parametrize(("seconds", "outcome"), [(0, "ok"), (10, "ok"), (-10, "ok"), (11, "wrong"), (-11, "wrong")])
def test_clocks_may_differ_by_ten_seconds(seconds: int, outcome: str):
    assert clock_check(NOW, NOW + timedelta(seconds=seconds)).outcome == outcome


@pytest.mark.parametrize(("seconds", "words"), [(75, "75 s ahead of the API server's"), (-40, "40 s behind the API")])
def test_a_wrong_clock_is_told_with_its_direction(seconds: int, words: str):
    assert words in clock_check(NOW, NOW + timedelta(seconds=seconds)).message


def test_a_server_without_a_clock_is_a_warning():
    assert clock_check(None, NOW).outcome == "warning"


def test_missing_reading_rights_are_named():
    check = rights_check([LIST_PODS])

    assert check.outcome == "unreadable"
    assert check.message == "1 of 12 rights are missing: list pods."


def test_without_the_right_to_patch_no_gate_can_be_moved():
    assert rights_check([LIST_PODS, PATCH]).outcome == "refused"


def test_every_right_there_is_fine():
    assert rights_check([]).message == "All 12 rights are there."


@pytest.mark.parametrize(
    ("version", "outcome", "words"),
    [
        ("1.14.1", "ok", "Karpenter 1.14.1, 2 NodePools."),
        ("1.5.0", "warning", "never takes a node without pods"),
        ("1.5.5", "ok", "Karpenter 1.5.5, 2 NodePools."),
        ("1.1.5", "warning", "by the taint alone"),
        ("latest", "warning", "cannot be told"),
        (None, "warning", "cannot be told"),
    ],
)
def test_each_generation_of_karpenter_is_told(version: str | None, outcome: str, words: str):
    check = karpenter_check(version, 2)

    assert check.outcome == outcome
    assert words in check.message


def test_an_alarm_that_is_not_there_is_named():
    check = alarms_check(
        [AlarmObservation(name="demo-5xx", state="OK"), AlarmObservation(name="typo", state="MISSING")]
    )

    assert (check.outcome, check.message) == ("wrong", "CloudWatch has no typo.")


def test_alarms_that_are_there_are_told_with_their_states():
    assert alarms_check([AlarmObservation(name="demo-5xx", state="ALARM")]).message == "Read: demo-5xx ALARM."
