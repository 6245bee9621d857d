"""While a gate is open exactly one drifted node may go, from the guard on none, and nothing else moves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.allowance import allowed
from driftgate.domain.budget import Budget, DisruptionReason
from driftgate.domain.gate import is_drifted_zero, is_freeze, opened_list
from driftgate.domain.horizon import change_points, first_difference, most_allowed
from driftgate.domain.marks import is_guard_mark, is_mark
from driftgate.domain.opening import check_opened, why_not_openable
from tests.factories import budget
from tests.gate_policy import limits_of, refusals
from tests.gate_strategies import baselines, guard_after, moments, totals, usual

DRIFTED = DisruptionReason.DRIFTED
OTHERS = (DisruptionReason.EMPTY, DisruptionReason.UNDERUTILIZED)
SECOND = timedelta(seconds=1)
YEAR = timedelta(days=366)
DAYS_364 = timedelta(days=364)


def some_points(budgets: Sequence[Budget], start: datetime, end: datetime) -> list[datetime]:
    """The start, the last second, and change points between, thinned out to a few dozen."""
    points = list(change_points(budgets, start, end))
    return [start, *points[:10], *points[:: max(1, len(points) // 20)], end - SECOND]


@usual
@given(baselines(), moments, totals)
def test_other_reasons_keep_their_limits_at_every_change_point_of_the_coming_year(baseline, opened_at, total):
    opened = opened_list(baseline, guard_after(opened_at))

    for reason in OTHERS:
        assert limits_of(opened, reason) == limits_of(baseline, reason)
        assert first_difference(baseline, opened, total, opened_at, opened_at + YEAR, reason) is None
        for at in some_points((*baseline, *opened), opened_at, opened_at + YEAR):
            assert allowed(opened, total, at, reason) == allowed(baseline, total, at, reason)


@usual
@given(baselines(), moments, totals)
def test_drifted_is_one_until_the_guard_unless_the_owner_says_zero(baseline, opened_at, total):
    guard_at = guard_after(opened_at)
    opened = opened_list(baseline, guard_at)
    native = [entry for entry in baseline if entry.schedule is not None or entry.nodes.strip("0") not in ("", "%")]

    for at in some_points((*opened, *native), opened_at, guard_at):
        limit = allowed(native, total, at, DRIFTED)
        assert allowed(opened, total, at, DRIFTED) == (1 if limit is None else min(1, limit))


@usual
@given(baselines(), moments, totals, st.timedeltas(timedelta(0), DAYS_364 - SECOND))
def test_drifted_is_zero_from_the_guard_on_for_364_days(baseline, opened_at, total, later):
    guard_at = guard_after(opened_at)
    opened = opened_list(baseline, guard_at)

    assert most_allowed(opened, total, guard_at, guard_at + DAYS_364, DRIFTED) == 0
    for at in (guard_at, guard_at + later, guard_at + DAYS_364 - SECOND):
        assert allowed(opened, total, at, DRIFTED) == 0


@usual
@given(baselines(), moments, totals)
def test_the_check_before_the_write_lets_every_opened_list_pass_but_for_a_blackout(baseline, opened_at, total):
    guard_at = guard_after(opened_at)
    opened = opened_list(baseline, guard_at)
    is_open = all(allowed(opened, total, at, DRIFTED) == 1 for at in (opened_at, guard_at - SECOND))

    found = check_opened(baseline, opened, opened_at=opened_at, guard_at=guard_at, total=total)

    assert why_not_openable(baseline, total=total) == ()
    assert {obstacle.code for obstacle in found} <= {"NATIVE_BLACKOUT"}
    assert not found or all(baseline[index].schedule is not None for index in found[0].entries)
    assert is_open or found


@usual
@given(baselines(), moments)
def test_an_opened_list_introduces_nothing_dangerous(baseline, opened_at):
    opened = opened_list(baseline, guard_after(opened_at))

    assert opened
    assert sum(entry.reasons == () for entry in opened) == sum(entry.reasons == () for entry in baseline)
    assert {entry.duration for entry in opened} <= {entry.duration for entry in baseline} | {None, "8736h"}
    assert [is_mark(entry) for entry in opened].count(True) == 2
    assert is_guard_mark(opened[-1])
    assert not any(is_drifted_zero(entry) for entry in opened)


@usual
@given(baselines(), moments)
def test_the_admission_policy_lets_every_opening_pass(baseline, opened_at):
    assert refusals(baseline, opened_list(baseline, guard_after(opened_at))) == []


@usual
@given(baselines())
def test_a_freeze_is_what_shuts_every_reason_whatever_the_schedule(baseline):
    zeros = [entry for entry in baseline if entry.schedule is None and set(entry.nodes) <= {"0", "%"}]
    every = ("Drifted", "Empty", "Underutilized")
    reached = {reason for zero in zeros for reason in (every if zero.reasons is None else zero.reasons)}

    assert is_freeze(baseline) == (len(reached) == 3)
    assert is_freeze((budget("0%"), *baseline))
