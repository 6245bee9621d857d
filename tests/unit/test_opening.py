from __future__ import annotations

from dataclasses import replace

import pytest

from driftgate.domain.budget import Budget
from driftgate.domain.errors import InvariantError
from driftgate.domain.gate import opened_list
from driftgate.domain.guard import guard_entry
from driftgate.domain.marks import OPEN_MARK
from driftgate.domain.opening import check_opened, why_not_openable
from tests.factories import GATE, NOW, at, budget

GUARD_AT = at("2026-10-17T02:11:00Z")
ZERO = budget("0", "Drifted")


def obstacles(*budgets: Budget, total: int = 12) -> list[tuple[str, tuple[int, ...]]]:
    return [(obstacle.code.value, obstacle.entries) for obstacle in why_not_openable(budgets, total=total)]


def test_the_trap_can_be_opened():
    assert obstacles(*GATE) == []


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (Budget(nodes="1", unknown=(("window", "x"),)), "UNKNOWN_FIELD"),
        (budget("1", "Expired"), "UNKNOWN_FIELD"),
        (budget("0", "Empty", schedule="0 0 * * sat-sun", duration="24h"), "INVALID"),
        (budget("2147483648"), "UNUSABLE_NUMBER"),
        (OPEN_MARK, "GATE_LEFT_OPEN"),
        (guard_entry(GUARD_AT), "GUARD_LEFT_BEHIND"),
    ],
)
def test_an_entry_that_forbids_an_opening_is_named_with_its_place(entry, code):
    assert obstacles(ZERO, entry) == [(code, (1,))]


def test_an_empty_list_has_no_gate():
    assert obstacles() == [("EMPTY_LIST", ())]


def test_a_gate_shut_by_schedules_alone_is_the_owners_blackout():
    assert obstacles(budget("0", "Drifted", schedule="@daily", duration="24h")) == [("NATIVE_BLACKOUT", ())]


def test_a_number_too_large_for_any_counter_is_said_to_be_both():
    assert obstacles(ZERO, budget("99999999999999999999")) == [("INVALID", (1,)), ("UNUSABLE_NUMBER", (1,))]


def test_a_pool_without_nodes_is_never_opened():
    assert obstacles(*GATE, total=0) == [("NOTHING_ELIGIBLE", ())]


def test_fifty_entries_of_which_one_is_replaced_leave_no_room_for_the_guard():
    others = [budget(str(count), "Empty") for count in range(1, 50)]

    assert obstacles(ZERO, *others[:48]) == []
    assert obstacles(ZERO, *others) == [("TOO_MANY_ENTRIES", ())]


def check(baseline: tuple[Budget, ...], opened: tuple[Budget, ...] | None = None) -> list[tuple[str, tuple[int, ...]]]:
    written = opened_list(baseline, GUARD_AT) if opened is None else opened
    found = check_opened(baseline, written, opened_at=NOW, guard_at=GUARD_AT, total=12)
    return [(obstacle.code.value, obstacle.entries) for obstacle in found]


def test_an_opened_list_that_keeps_every_promise_may_be_written():
    assert check(GATE) == []


@pytest.mark.parametrize("schedule", ["0 2 * * *", "10 2 * * *"])
def test_a_scheduled_zero_that_is_active_now_holds(schedule):
    assert check((budget("0", schedule=schedule, duration="1h"), ZERO)) == [("NATIVE_BLACKOUT", (0,))]


def test_a_scheduled_zero_that_starts_before_the_guard_holds():
    guard_at = at("2026-10-17T02:12:00Z")
    baseline = (ZERO, budget("0", "Drifted", schedule="11 2 * * *", duration="1h"))
    opened = opened_list(baseline, guard_at)

    found = check_opened(baseline, opened, opened_at=at("2026-10-17T02:10:45Z"), guard_at=guard_at, total=12)

    assert [(obstacle.code, obstacle.entries) for obstacle in found] == [("NATIVE_BLACKOUT", (1,))]


def test_a_scheduled_zero_that_starts_with_the_guard_does_not_hold():
    assert check((ZERO, budget("0", "Drifted", schedule="11 2 * * *", duration="1h"))) == []


def test_a_scheduled_zero_that_has_just_ended_does_not_hold():
    assert check((ZERO, budget("0", "Drifted", schedule="10 1 * * *", duration="1h"))) == []


@pytest.mark.parametrize(
    ("opened", "broken"),
    [
        ((GATE[0], budget("2", "Drifted"), guard_entry(GUARD_AT)), "more than one"),
        ((GATE[0], guard_entry(GUARD_AT)), "more than one"),
        ((GATE[0], OPEN_MARK), "guard does not shut"),
        ((GATE[0], OPEN_MARK, replace(guard_entry(GUARD_AT), duration="4000h")), "guard does not shut"),
        ((GATE[0], OPEN_MARK, guard_entry(at("2026-10-17T02:12:00Z"))), "guard does not shut"),
        ((budget("10%", "Empty"), OPEN_MARK, guard_entry(GUARD_AT)), "limit for Underutilized moves"),
        (
            (GATE[0], OPEN_MARK, guard_entry(GUARD_AT), budget("0", "Empty", schedule="0 3 5 6 *", duration="1h")),
            "limit for Empty moves",
        ),
        ((GATE[0], OPEN_MARK, *[guard_entry(GUARD_AT)] * 49), "too many"),
    ],
)
def test_an_opened_list_that_breaks_a_promise_is_never_written(opened, broken):
    with pytest.raises(InvariantError, match=broken):
        check(GATE, opened)
