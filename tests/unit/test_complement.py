from __future__ import annotations

import pytest

from driftgate.domain.budget_words import shown
from driftgate.domain.complement import complement
from tests.factories import budget


@pytest.mark.parametrize(
    ("schedule", "duration", "expected"),
    [
        ("0 2 * * sat", "3h", ['{nodes: "0", reasons: [Drifted], schedule: "0 5 * * sat", duration: 165h}']),
        ("0 22 * * fri", "3h", ['{nodes: "0", reasons: [Drifted], schedule: "0 1 * * sat", duration: 165h}']),
        ("0 0 * * sat", "24h", ['{nodes: "0", reasons: [Drifted], schedule: "0 0 * * sun", duration: 144h}']),
        ("@daily", "90m", ['{nodes: "0", reasons: [Drifted], schedule: "30 1 * * *", duration: 22h30m}']),
        (
            "0 9 * * mon-fri",
            "8h",
            [
                '{nodes: "0", reasons: [Drifted], schedule: "0 17 * * mon,tue,wed,thu", duration: 16h}',
                '{nodes: "0", reasons: [Drifted], schedule: "0 17 * * fri", duration: 64h}',
            ],
        ),
    ],
)
def test_the_rest_of_the_week_is_shut(schedule, duration, expected):
    assert [shown(entry) for entry in complement(budget("1", schedule=schedule, duration=duration))] == expected


@pytest.mark.parametrize(
    ("schedule", "duration"),
    [("0 2 1 * *", "3h"), ("0 2 * jan sat", "3h"), ("@daily", "24h"), ("@daily", "0m"), ("*/5 * * * *", "1m")],
)
def test_what_has_no_weekly_complement_gets_none(schedule, duration):
    assert complement(budget("1", schedule=schedule, duration=duration)) == ()


def test_an_always_on_entry_has_no_complement():
    assert complement(budget("1")) == ()
