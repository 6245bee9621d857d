from __future__ import annotations

import pytest

from driftgate.domain.budget import Budget, DisruptionReason
from driftgate.domain.horizon import (
    change_points,
    closes_together,
    first_difference,
    most_allowed,
    never_opens,
    next_change,
    next_opening,
    openings,
)
from driftgate.domain.window import Interval
from tests.factories import at, budget

DRIFTED = DisruptionReason.DRIFTED
D = "Drifted"
THURSDAY = at("2026-10-15T12:00:00Z")


def zero(schedule: str, duration: str) -> Budget:
    return budget("0", D, schedule=schedule, duration=duration)


EVERY_DAY = [zero("@daily", "24h"), budget("2")]
WHOLE_WEEK = [zero("0 0 * * mon-fri", "24h"), zero("0 0 * * sat", "30h"), zero("0 6 * * sun", "18h")]
ALL_BUT_SUNDAY = [zero("0 0 * * mon-fri", "24h"), zero("0 0 * * sat", "26h"), zero("0 5 * * sun", "19h")]
SATURDAYS = [budget("1", D), zero("0 5 * * sat", "165h")]
TRAP = [budget("0", D), budget("1", D, schedule="0 2 * * sat", duration="3h"), budget("10%")]


@pytest.mark.parametrize("budgets", [EVERY_DAY, WHOLE_WEEK, TRAP])
def test_t08_a_gate_that_is_shut_in_every_minute_of_the_year_never_opens(budgets):
    assert never_opens(budgets, 40, THURSDAY, DRIFTED)
    assert next_opening(budgets, 40, THURSDAY, DRIFTED) is None
    assert next_change(budgets, 40, THURSDAY, DRIFTED) is None


def test_t08_a_gap_of_three_hours_is_the_next_opening():
    assert not never_opens(ALL_BUT_SUNDAY, 40, THURSDAY, DRIFTED)
    assert next_opening(ALL_BUT_SUNDAY, 40, THURSDAY, DRIFTED) == at("2026-10-18T02:00:00Z")
    assert next_change(ALL_BUT_SUNDAY, 40, at("2026-10-18T02:00:00Z"), DRIFTED) == at("2026-10-18T05:00:00Z")


def test_a_single_minute_in_the_year_is_an_opening():
    budgets = [budget("1", D), zero("1 0 1 7 *", "8759h59m")]

    assert not never_opens(budgets, 40, THURSDAY, DRIFTED)
    assert next_opening(budgets, 40, THURSDAY, DRIFTED) == at("2027-07-01T00:00:00Z")


def test_a_gate_that_is_open_has_no_next_opening():
    assert next_opening(SATURDAYS, 10, at("2026-10-17T02:10:00Z"), DRIFTED) is None


def test_the_next_change_is_on_the_second_whatever_second_it_is_now():
    assert next_change(SATURDAYS, 10, at("2026-10-17T01:59:59.900Z"), DRIFTED) == at("2026-10-17T02:00:00Z")
    assert next_change(SATURDAYS, 10, at("2026-10-17T02:00:00Z"), DRIFTED) == at("2026-10-17T05:00:00Z")


def test_a_change_that_is_none_for_this_pool_size_is_passed_over():
    budgets = [budget("1", D), budget("10%", D, schedule="0 2 * * *", duration="1h")]

    assert next_change(budgets, 10, THURSDAY, DRIFTED) is None
    assert next_change([budget("5", D), *budgets[1:]], 10, THURSDAY, DRIFTED) == at("2026-10-16T02:00:00Z")


def test_a_limit_that_ends_is_a_change():
    assert next_change([zero("0 2 * * *", "4h")], 10, at("2026-10-17T03:00:00Z"), DRIFTED) == at("2026-10-17T06:00:00Z")


def test_an_entry_that_began_before_now_is_carried_over():
    yearly = [budget("1", D), zero("30 5 24 8 *", "4000h")]

    assert next_change(yearly, 10, at("2027-01-01T00:00:00Z"), DRIFTED) == at("2027-02-06T21:30:00Z")


def test_an_entry_that_began_years_ago_is_carried_over():
    leap_day = [budget("1", D), zero("0 0 29 2 *", "26304h")]

    assert next_opening(leap_day, 10, at("2026-10-15T12:00:00Z"), DRIFTED) == at("2027-03-01T00:00:00Z")


@pytest.mark.parametrize("minutes", [1, 2, 3, 4, 5, 9, 17, 59])
def test_an_entry_lasts_to_the_minute(minutes):
    nightly = zero("0 2 * * *", f"{minutes}m")

    assert openings([nightly], 10, at("2026-10-17T01:00:00Z"), at("2026-10-17T04:00:00Z"), DRIFTED) == (
        Interval(start=at("2026-10-17T01:00:00Z"), end=at("2026-10-17T02:00:00Z")),
        Interval(start=at(f"2026-10-17T02:{minutes:02}:00Z"), end=at("2026-10-17T04:00:00Z")),
    )


def test_other_reasons_entries_change_nothing():
    assert next_change([budget("0", "Empty", schedule="@daily", duration="1h")], 10, THURSDAY, DRIFTED) is None


def test_an_entry_that_cannot_be_used_shuts_every_reason_for_ever():
    assert never_opens([budget("5"), budget("1", "Empty", schedule="0 2 * * 7", duration="1h")], 10, THURSDAY, DRIFTED)


def test_a_bad_number_shuts_every_reason_while_its_entry_is_active():
    broken = budget("99999999999999999999", "Empty", schedule="0 2 * * *", duration="1h")

    assert next_change([budget("5"), broken], 10, THURSDAY, DRIFTED) == at("2026-10-16T02:00:00Z")
    assert next_opening([budget("5"), broken], 10, at("2026-10-16T02:30:00Z"), DRIFTED) == at("2026-10-16T03:00:00Z")


def test_openings_are_the_intervals_in_which_nodes_may_go():
    assert openings(ALL_BUT_SUNDAY, 40, THURSDAY, at("2026-10-25T03:00:00Z"), DRIFTED) == (
        Interval(start=at("2026-10-18T02:00:00Z"), end=at("2026-10-18T05:00:00Z")),
        Interval(start=at("2026-10-25T02:00:00Z"), end=at("2026-10-25T03:00:00Z")),
    )


def test_change_points_are_all_instants_at_which_any_entry_begins_or_ends():
    budgets = [budget("0", D), budget("5", "Empty", schedule="0 2 * * *", duration="90m")]

    assert change_points(budgets, at("2026-10-17T02:00:00Z"), at("2026-10-18T03:30:00Z")) == (
        at("2026-10-17T03:30:00Z"),
        at("2026-10-18T02:00:00Z"),
    )


def test_an_entry_that_cannot_be_read_has_no_change_points():
    assert change_points([zero("0 2 * * 7", "1h")], THURSDAY, at("2026-11-15T00:00:00Z")) == ()


def test_an_entry_of_no_minutes_changes_nothing():
    assert next_change([budget("1", D), zero("@daily", "0m")], 10, THURSDAY, DRIFTED) is None


def test_starts_that_touch_are_no_change_points():
    assert change_points([zero("* * * * *", "1m"), zero("@daily", "24h")], THURSDAY, at("2026-11-15T00:00:00Z")) == ()


@pytest.mark.parametrize(
    ("budgets", "expected"),
    [
        (EVERY_DAY, (0,)),
        (WHOLE_WEEK, (0, 1, 2)),
        (ALL_BUT_SUNDAY, ()),
        (TRAP, (0,)),
        ([*WHOLE_WEEK, budget("0", D)], (3,)),
        ([zero("0 1 * * *", "2h"), *WHOLE_WEEK], (1, 2, 3)),
        ([budget("1", D), budget("1", "Empty", schedule="0 2 * * 7", duration="1h")], (1,)),
    ],
)
def test_the_entries_that_shut_the_gate_together_are_named_and_none_too_many(budgets, expected):
    assert closes_together(budgets, 40, THURSDAY, DRIFTED) == expected


def test_two_lists_differ_first_where_one_allows_another_number():
    one, other = [budget("5"), zero("0 2 * * *", "1h")], [budget("5"), zero("0 2 * * *", "2h")]
    end = at("2026-11-15T00:00:00Z")

    assert first_difference(one, other, 10, THURSDAY, end, DRIFTED) == at("2026-10-16T03:00:00Z")
    assert first_difference(one, other, 10, THURSDAY, end, DisruptionReason.EMPTY) is None
    assert first_difference([], [budget("5")], 10, THURSDAY, end, DRIFTED) == THURSDAY


def test_the_most_that_is_allowed_in_a_time():
    start, end = at("2026-10-17T00:00:00Z"), at("2026-10-18T00:00:00Z")

    assert most_allowed(SATURDAYS, 10, start, end, DRIFTED) == 1
    assert most_allowed(SATURDAYS, 10, start, at("2026-10-17T02:00:00Z"), DRIFTED) == 0
    assert most_allowed(ALL_BUT_SUNDAY, 10, start, end, DRIFTED) == 0
    assert most_allowed(ALL_BUT_SUNDAY, 10, start, at("2026-10-18T02:01:00Z"), DRIFTED) is None
