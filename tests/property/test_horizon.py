"""The bits of a year say the same as asking for each minute."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.activity import Span, active_minutes
from driftgate.domain.allowance import allowed, is_active, problems
from driftgate.domain.budget import Budget, DisruptionReason
from driftgate.domain.budget_findings import findings
from driftgate.domain.complement import complement
from driftgate.domain.horizon import (
    COMING_YEAR,
    change_points,
    closes_together,
    first_difference,
    never_opens,
    next_change,
    next_opening,
    openings,
)
from driftgate.domain.reasons import ReasonCode
from tests.budget_strategies import entries, lists, moments, spans, totals

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
WEEKLY_SCHEDULES = ("0 2 * * sat", "@daily", "@weekly", "0 0 * * mon-fri", "30 22 * * tue,fri", "0 5,17 ? * *")
reasons = st.sampled_from(list(DisruptionReason))


def clamped(budgets, total, moment, reason) -> int | None:
    value = allowed(budgets, total, moment, reason)
    return None if value is None else max(value, 0)


def samples(start, end, points):
    """The start, and each point with the seconds around it."""
    around = [point + offset for point in points for offset in (-SECOND, timedelta(0), SECOND)]
    return [start, *(moment for moment in around if start <= moment < end)]


@given(entries(), moments, spans)
def test_a_bit_is_set_in_the_minutes_in_which_the_entry_is_active(entry, start, length):
    span = Span.of(start, start + length)
    bits = active_minutes(entry, span)

    for bit in {0, span.minutes - 1, *range(0, span.minutes, max(span.minutes // 50, 1))}:
        assert bool(bits >> bit & 1) is is_active(entry, span.instant(bit)), span.instant(bit)


@given(lists(), moments, spans)
def test_between_two_change_points_no_entry_changes(budgets, start, length):
    points = [start, *change_points(budgets, start, start + length), start + length]

    for first, following in pairwise(points[:40]):
        states = [is_active(entry, first) for entry in budgets]
        assert [is_active(entry, following - timedelta(milliseconds=1)) for entry in budgets] == states


@given(lists(broken=True), totals, moments, reasons)
def test_the_next_change_is_the_first_and_is_one(budgets, total, moment, reason):
    now = clamped(budgets, total, moment, reason)
    change = next_change(budgets, total, moment, reason)

    if change is not None:
        assert moment < change <= moment + COMING_YEAR
        assert clamped(budgets, total, change, reason) != now
        assert clamped(budgets, total, change - SECOND, reason) == now
    until = change or moment + COMING_YEAR
    for point in change_points(budgets, moment, until)[:30]:
        assert clamped(budgets, total, point, reason) == now


@given(lists(broken=True), totals, moments, reasons)
def test_a_gate_never_opens_or_is_open_or_has_a_next_opening(budgets, total, moment, reason):
    is_open = clamped(budgets, total, moment, reason) != 0
    opening = next_opening(budgets, total, moment, reason)

    assert [never_opens(budgets, total, moment, reason), is_open, opening is not None].count(True) == 1
    if opening is not None:
        assert clamped(budgets, total, opening, reason) != 0
        assert clamped(budgets, total, opening - SECOND, reason) == 0


@given(lists(broken=True), totals, moments, spans, reasons)
def test_openings_are_exactly_the_times_at_which_something_is_allowed(budgets, total, start, length, reason):
    end = start + length
    intervals = openings(budgets, total, start, end, reason)

    for moment in samples(start, end, change_points(budgets, start, end)[:10]):
        inside = any(interval.covers(moment) for interval in intervals)
        assert inside is (clamped(budgets, total, moment, reason) != 0)


@given(lists(broken=True), totals, moments, reasons)
def test_entries_that_close_together_do_so_alone_and_none_is_too_many(budgets, total, moment, reason):
    closing = closes_together(budgets, total, moment, reason)

    assert bool(closing) is never_opens(budgets, total, moment, reason)
    if closing:
        assert never_opens([budgets[index] for index in closing], total, moment, reason)
    for left_out in closing:
        fewer = [budgets[index] for index in closing if index != left_out]
        assert not never_opens(fewer, total, moment, reason)


@given(lists(broken=True), lists(broken=True), totals, moments, spans, reasons)
def test_two_lists_allow_the_same_until_their_first_difference(one, other, total, start, length, reason):
    end = start + length
    difference = first_difference(one, other, total, start, end, reason)

    for moment in samples(start, end, change_points([*one, *other], start, end)[:10]):
        is_same = clamped(one, total, moment, reason) == clamped(other, total, moment, reason)
        assert is_same or (difference is not None and difference <= moment)
    if difference is not None:
        assert clamped(one, total, difference, reason) != clamped(other, total, difference, reason)


@given(st.sampled_from(WEEKLY_SCHEDULES), st.integers(1, 12_000), moments)
def test_a_complement_is_active_exactly_when_its_entry_is_not(schedule, minutes, moment):
    entry = Budget(nodes="1", schedule=schedule, duration=f"{minutes}m")
    span = Span.of(moment, moment + timedelta(days=9))

    together = 0
    for zero in complement(entry):
        together |= active_minutes(zero, span)

    assert together == span.every & ~active_minutes(entry, span)


@given(lists(), totals.filter(bool), moments)
def test_dead_entries_can_be_removed_without_any_change(budgets, total, moment):
    given_findings = findings(budgets, 10, moment, windows_cover=False)
    dead = {entry for one in given_findings if one.code is ReasonCode.DEAD_ENTRY for entry in one.entries}

    left = [budget for index, budget in enumerate(budgets) if index not in dead]

    for reason in DisruptionReason:
        assert first_difference(budgets, left, total, moment, moment + COMING_YEAR, reason) is None


@given(lists(broken=True), totals, moments, st.booleans(), st.integers(0, 500))
def test_every_list_gets_its_findings(budgets, total, moment, windows_cover, lagging):
    given_findings = findings(budgets, total, moment, windows_cover=windows_cover, lagging=lagging)

    shut = never_opens(budgets, max(total, 1), moment, DisruptionReason.DRIFTED)
    assert any(one.code is ReasonCode.NEVER_OPENS for one in given_findings) is shut
    assert all(one.message.endswith(".") and one.remedy.endswith(".") for one in given_findings)


@given(entries(broken=True))
def test_the_position_of_a_fault_lies_in_its_value(entry):
    for problem in problems([entry]):
        assert 0 <= problem.position <= len(getattr(entry, problem.field) or "")
