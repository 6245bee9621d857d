from __future__ import annotations

import pytest

from driftgate.domain.allowance import (
    BudgetProblem,
    allowed,
    allowed_by_reason,
    binding,
    is_active,
    number,
    problems,
)
from driftgate.domain.budget import Budget, DisruptionReason
from driftgate.domain.errors import BudgetError
from tests.factories import NOW, at, budget

DRIFTED, EMPTY, UNDERUTILIZED = DisruptionReason
D = "Drifted"
NIGHTLY_ZERO = budget("0", D, schedule="0 2 * * *", duration="4h")
BROKEN_SCHEDULE = budget("0", "Empty", schedule="0 2 * * 7", duration="1h")


def drifted(budgets, moment, total=10):
    return allowed(budgets, total, at(moment), DRIFTED)


# --- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        (1, (1, 1, 1, 1, 1)),
        (2, (1, 1, 1, 1, 2)),
        (3, (1, 1, 1, 2, 3)),
        (9, (1, 1, 2, 5, 9)),
        (10, (1, 1, 2, 5, 10)),
        (11, (1, 2, 3, 6, 11)),
        (19, (1, 2, 4, 10, 19)),
        (20, (1, 2, 4, 10, 20)),
        (21, (2, 3, 5, 11, 21)),
    ],
)
def test_t16_a_percentage_rounds_up(total, expected):
    assert tuple(number(budget(nodes), total) for nodes in ("5%", "10%", "20%", "50%", "100%")) == expected


def test_a_percentage_of_no_nodes_is_zero():
    assert number(budget("100%"), 0) == 0


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("0", 0),
        ("00", 0),
        ("01", 1),
        ("2147483647", 2_147_483_647),
        ("2147483648", -2_147_483_648),
        ("4294967295", -1),
        ("4294967297", 1),
        ("9223372036854775807", -1),
        ("+5", 5),
        ("-3", -3),
    ],
)
def test_a_count_wraps_around_as_karpenters_does(nodes, expected):
    assert number(budget(nodes), 10) == expected


@pytest.mark.parametrize("nodes", ["99999999999999999999", "9223372036854775808", "", "%", "5.5%", "ten", "1%%"])
def test_what_is_neither_count_nor_percentage_is_an_error_of_the_field_nodes(nodes):
    with pytest.raises(BudgetError) as caught:
        number(budget(nodes), 10)

    assert caught.value.field == "nodes"


# --- activity --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-10-17T01:59:59.999Z", False),
        ("2026-10-17T02:00:00Z", True),
        ("2026-10-17T05:59:59.999Z", True),
        ("2026-10-17T06:00:00Z", False),
    ],
)
def test_an_entry_is_active_from_its_start_until_just_before_its_end(moment, expected):
    assert is_active(NIGHTLY_ZERO, at(moment)) is expected


def test_an_entry_without_schedule_is_always_active():
    assert is_active(budget("0"), NOW)


@pytest.mark.parametrize(
    ("schedule", "duration"),
    [("@daily", "24h"), ("@daily", "48h"), ("* * * * *", "1m"), ("0 0 30 2 *", "1h"), ("0 0 30 2 *", "0m")],
)
def test_an_entry_is_always_active_when_its_starts_touch_or_never_come(schedule, duration):
    assert is_active(budget("0", schedule=schedule, duration=duration), NOW)


def test_an_entry_of_no_minutes_is_never_active():
    assert not is_active(budget("0", schedule="* * * * *", duration="0m"), at("2026-10-17T02:10:00Z"))


def test_a_leap_day_starts_only_in_leap_years():
    leap_day = budget("0", schedule="0 0 29 2 *", duration="24h")

    assert is_active(leap_day, at("2028-02-29T12:00:00Z"))
    assert not is_active(leap_day, at("2027-03-01T00:00:00Z"))
    assert not is_active(leap_day, at("2028-03-01T00:00:00Z"))


def test_an_entry_lasts_over_the_end_of_the_year():
    new_year = budget("0", schedule="0 22 31 12 *", duration="4h")

    assert is_active(new_year, at("2027-01-01T01:59:59Z"))
    assert not is_active(new_year, at("2027-01-01T02:00:00Z"))


def test_every_is_active_as_long_as_its_delay_is_not_longer_than_the_duration():
    assert is_active(budget("0", schedule="@every 1h", duration="1h"), NOW)
    assert not is_active(budget("0", schedule="@every 61m", duration="1h"), NOW)


def test_a_duration_without_schedule_is_an_error_of_the_schedule():
    with pytest.raises(BudgetError, match="five fields"):
        is_active(budget("0", duration="1h"), NOW)


# --- what is allowed: worked examples --------------------------------------------------------------


@pytest.mark.parametrize(("total", "expected"), [(0, 0), (1, 1), (10, 1), (11, 2), (21, 3)])
def test_the_default_is_ten_percent_for_every_reason(total, expected):
    assert allowed_by_reason([Budget()], total, NOW) == dict.fromkeys(DisruptionReason, expected)


@pytest.mark.parametrize(
    "moment", ["2026-08-24T01:59:59Z", "2026-08-24T02:00:00Z", "2026-08-24T05:59:59Z", "2026-08-25T03:00:00Z"]
)
def test_a_scheduled_one_never_loosens_an_always_on_zero(moment):
    budgets = [budget("0", D), budget("1", D, schedule="0 2 * * MON", duration="4h")]

    assert allowed_by_reason(budgets, 10, at(moment)) == {DRIFTED: 0, EMPTY: None, UNDERUTILIZED: None}


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-08-24T01:59:59Z", 0),
        ("2026-08-24T02:00:00Z", 1),
        ("2026-08-24T05:59:59Z", 1),
        ("2026-08-24T06:00:00Z", 0),
        ("2026-08-25T03:00:00Z", 0),
    ],
)
def test_a_scheduled_zero_for_the_rest_of_the_week_leaves_a_window(moment, expected):
    assert drifted([budget("1", D), budget("0", D, schedule="0 6 * * MON", duration="164h")], moment) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-08-24T02:00:00Z", 1),
        ("2026-08-24T05:29:59Z", 1),
        ("2026-08-24T05:30:00Z", 0),
        ("2027-02-06T21:29:59Z", 0),
        ("2027-02-06T21:30:00Z", 1),
    ],
)
def test_a_dated_zero_closes_at_its_minute_and_lapses_with_its_duration(moment, expected):
    assert drifted([budget("1", D), budget("0", D, schedule="30 5 24 8 *", duration="4000h")], moment) == expected


@pytest.mark.parametrize(
    ("duration", "moment", "expected"),
    [
        ("8759h", "2026-08-24T02:00:00Z", 0),
        ("8759h", "2026-08-24T05:29:59Z", 1),
        ("8760h", "2026-08-24T02:00:00Z", 0),
        ("8760h", "2026-08-24T05:29:59Z", 0),
        ("8784h", "2026-08-24T05:29:59Z", 0),
    ],
)
def test_a_dated_zero_of_a_year_never_opens(duration, moment, expected):
    assert drifted([budget("1", D), budget("0", D, schedule="30 5 24 8 *", duration=duration)], moment) == expected


@pytest.mark.parametrize(
    ("moment", "expected"), [("2026-08-24T00:05:00Z", (4, 4, 0)), ("2026-08-24T00:10:00Z", (4, 4, 5))]
)
def test_the_smallest_active_entry_wins_for_each_reason(moment, expected):
    budgets = [
        budget("20%", "Empty", D),
        budget("5"),
        budget("0", "Underutilized", schedule="@daily", duration="10m"),
    ]

    assert tuple(allowed_by_reason(budgets, 19, at(moment)).values()) == expected
    assert drifted(budgets, moment, total=40) == 5


def test_entries_for_several_reasons_meet_in_the_smallest():
    budgets = [budget("5"), budget("3", D, "Empty"), budget("20%", "Underutilized")]

    assert allowed_by_reason(budgets, 12, NOW) == {DRIFTED: 3, EMPTY: 3, UNDERUTILIZED: 3}


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-08-25T08:59:59Z", 1),
        ("2026-08-25T09:00:00Z", 0),
        ("2026-08-25T16:59:59Z", 0),
        ("2026-08-25T17:00:00Z", 1),
        ("2026-08-29T12:00:00Z", 1),
    ],
)
def test_working_hours_are_shut_on_working_days(moment, expected):
    assert drifted([budget("0", schedule="0 9 * * mon-fri", duration="8h"), budget("1", D)], moment) == expected


def test_one_bad_schedule_shuts_every_reason():
    assert allowed_by_reason([budget("1", D), BROKEN_SCHEDULE], 10, NOW) == {DRIFTED: 0, EMPTY: 0, UNDERUTILIZED: 0}


def test_a_bad_schedule_shuts_every_reason_even_where_it_applies_to_none():
    broken = Budget(nodes="1", reasons=(), schedule="0 2 * * 7", duration="1h")

    assert allowed([broken], 10, NOW, DRIFTED) == 0


def test_a_bad_number_shuts_every_reason_only_while_its_entry_is_active():
    budgets = [budget("99999999999999999999", "Empty", schedule="0 2 * * *", duration="1h")]

    assert drifted(budgets, "2026-10-17T02:30:00Z") == 0
    assert drifted(budgets, "2026-10-17T03:00:00Z") is None


def test_a_duration_that_go_cannot_hold_shuts_every_reason():
    assert drifted([budget("5"), budget("5", schedule="@daily", duration="2562048h")], "2026-10-17T02:30:00Z") == 0


def test_a_date_that_never_comes_counts_always():
    assert drifted([budget("1", D), budget("0", D, schedule="0 0 30 2 *", duration="1h")], "2026-10-17T02:00:00Z") == 0


@pytest.mark.parametrize("budgets", [[], [Budget(nodes="0", reasons=())], [budget("2147483647")]])
def test_nothing_that_applies_is_no_limit(budgets):
    assert allowed(budgets, 10, NOW, DRIFTED) is None


def test_an_inactive_entry_is_no_limit():
    assert drifted([NIGHTLY_ZERO], "2026-10-17T06:00:00Z") is None


def test_a_wrapped_count_is_below_zero():
    assert allowed([budget("2147483648")], 10, NOW, DRIFTED) == -2_147_483_648


def test_t04_an_inactive_entry_permits_nothing_and_limits_nothing():
    budgets = [budget("10%", D, schedule="0 0 * * 0", duration="1h"), budget("20%", "Empty", "Underutilized")]

    assert allowed_by_reason(budgets, 30, at("2026-10-15T12:00:00Z")) == {DRIFTED: None, EMPTY: 6, UNDERUTILIZED: 6}
    assert drifted(budgets, "2026-10-18T00:30:00Z", total=30) == 3


# --- which entries decide --------------------------------------------------------------------------


def test_t01_the_entry_that_shuts_the_gate_is_binding():
    budgets = [budget("10%", "Empty", "Underutilized"), budget("0", D)]

    assert binding(budgets, 12, NOW, DRIFTED) == (1,)
    assert binding(budgets, 12, NOW, EMPTY) == (0,)


def test_all_entries_at_the_smallest_number_are_binding():
    assert binding([budget("1", D), budget("10%"), budget("5")], 10, NOW, DRIFTED) == (0, 1)


def test_nothing_is_binding_where_there_is_no_limit():
    assert binding([NIGHTLY_ZERO], 10, at("2026-10-17T12:00:00Z"), DRIFTED) == ()


def test_the_entries_that_cannot_be_used_are_binding_for_every_reason():
    assert binding([budget("0", D), BROKEN_SCHEDULE], 10, NOW, DRIFTED) == (1,)


# --- what cannot be used ---------------------------------------------------------------------------


def test_t06_a_bad_schedule_has_its_entry_its_position_and_a_suggestion():
    budgets = [budget("1", D), budget("0", "Empty", schedule="0 0 * * sat-sun", duration="24h")]

    assert problems(budgets) == (
        BudgetProblem(
            entry=1,
            field="schedule",
            position=8,
            message="day of week, character 9: 'sat-sun' runs backwards (6 to 0)",
            suggestion="sat,sun",
        ),
    )


def test_every_problem_of_an_entry_is_told_also_while_it_is_not_active():
    broken = budget("99999999999999999999", schedule="0 2 * * 7", duration="99999999h")

    assert [problem.field for problem in problems([budget("1"), broken])] == ["nodes", "schedule", "duration"]


def test_entries_that_karpenter_can_use_have_no_problems():
    assert problems([Budget(), NIGHTLY_ZERO, budget("1", schedule="0 0 30 2 *", duration="1h")]) == ()
