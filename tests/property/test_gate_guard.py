"""The guard acts at a full minute soon enough, and moving it on changes nothing but that minute."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.allowance import is_active
from driftgate.domain.closing import ClosingKind, close
from driftgate.domain.errors import InvariantError
from driftgate.domain.gate import opened_list
from driftgate.domain.guard import guard_entry, next_guard, renewed_list
from driftgate.domain.marks import is_guard_mark
from tests.gate_policy import refusals
from tests.gate_strategies import baselines, guard_after, moments, usual

SECOND = timedelta(seconds=1)
later_minutes = st.integers(1, 200_000).map(lambda count: timedelta(minutes=count))


@usual
@given(moments, st.timedeltas(timedelta(0), timedelta(minutes=3)))
def test_a_guard_is_a_full_minute_30_to_90_seconds_ahead_and_never_past_revert_by(now, left):
    guard = next_guard(now, now + left)

    if guard is None:
        assert left < timedelta(seconds=90)
    else:
        assert timedelta(seconds=30) <= guard - now < timedelta(seconds=90)
        assert guard <= now + left
        assert (guard.second, guard.microsecond) == (0, 0)


@usual
@given(moments, st.timedeltas(timedelta(0), timedelta(days=364) - SECOND))
def test_karpenter_finds_the_guard_inactive_before_its_minute_and_active_for_364_days(now, later):
    guard_at = guard_after(now)
    guard = guard_entry(guard_at)

    assert is_guard_mark(guard)
    assert not is_active(guard, now)
    assert not is_active(guard, guard_at - SECOND)
    assert is_active(guard, guard_at)
    assert is_active(guard, guard_at + later)
    assert not is_active(guard, guard_at + timedelta(days=364))


@usual
@given(baselines(), moments, later_minutes)
def test_a_renewed_list_is_the_list_opened_with_the_later_guard(baseline, now, later):
    guard_at = guard_after(now)
    opened = opened_list(baseline, guard_at)

    renewed = renewed_list(opened, guard_at, guard_at + later)

    assert renewed == opened_list(baseline, guard_at + later)
    assert refusals(opened, renewed) == []


@usual
@given(baselines(), moments, later_minutes)
def test_a_guard_never_moves_back_nor_where_it_does_not_stand(baseline, now, later):
    guard_at = guard_after(now)
    opened = opened_list(baseline, guard_at)

    with pytest.raises(InvariantError):
        renewed_list(opened, guard_at, guard_at - later)
    with pytest.raises(InvariantError):
        renewed_list(baseline, guard_at, guard_at + later)


@usual
@given(baselines(), moments, later_minutes)
def test_an_untouched_list_closes_to_the_baseline_at_any_guard(baseline, now, later):
    guard_at = guard_after(now)
    standing = opened_list(baseline, guard_at + later)

    closing = close(baseline, opened_list(baseline, guard_at), standing)

    assert closing.kind is ClosingKind.RESTORED
    assert closing.budgets == baseline
    assert closing.alert is None
    assert refusals(standing, baseline) == []
