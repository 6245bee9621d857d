"""What the demo promises in its last line, and that a broken promise makes it fail."""

from __future__ import annotations

import pytest

from infra.local.demo import is_as_promised, sentence_of

NIGHT = {
    "rolled": ["ip-10-0-1-17"],
    "openings": 2,
    "baselineRestored": True,
    "otherReasonsChanged": False,
    "secondsOpenAfterSign": 0.02,
    "alarmToClosedSeconds": 0.05,
    "messages": ["ondemand: the gate opens for one node"],
}


def test_a_night_as_promised_ends_well():
    assert is_as_promised(NIGHT)


@pytest.mark.parametrize(
    "broken",
    [
        {"rolled": []},
        {"rolled": ["a", "b", "c"]},
        {"baselineRestored": False},
        {"otherReasonsChanged": True},
    ],
)
def test_a_broken_promise_makes_the_demo_fail(broken):
    assert not is_as_promised(NIGHT | broken)


def test_the_last_line_says_what_was_rolled_and_that_the_baseline_is_back():
    said = sentence_of(NIGHT)

    assert "ip-10-0-1-17" in said
    assert "the baseline is back" in said


def test_the_last_line_never_claims_a_baseline_that_is_not_back():
    assert "NOT BACK" in sentence_of(NIGHT | {"baselineRestored": False})
