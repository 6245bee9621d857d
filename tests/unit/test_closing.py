from __future__ import annotations

import pytest

from driftgate.domain.budget import Budget, to_objects
from driftgate.domain.closing import Closing, ClosingKind, close, close_without_record
from driftgate.domain.gate import opened_list
from driftgate.domain.guard import guard_entry
from driftgate.domain.marks import OPEN_MARK
from tests.factories import GATE, at, budget

GUARD = guard_entry(at("2026-10-17T02:11:00Z"))
OPENED = opened_list(GATE, at("2026-10-17T02:11:00Z"))
LIMIT, ZERO = GATE
NEW = budget("0", "Underutilized", schedule="0 6 * * *", duration="2h")


def closed(current: list[Budget] | tuple[Budget, ...], baseline: tuple[Budget, ...] = GATE) -> Closing:
    return close(baseline, opened_list(baseline, at("2026-10-17T02:11:00Z")), current)


def test_an_untouched_list_becomes_the_baseline():
    closing = closed(OPENED)

    assert (closing.kind, closing.budgets, closing.alert) == (ClosingKind.RESTORED, GATE, None)


def test_t20_a_list_that_a_dead_run_left_behind_becomes_the_baseline_whatever_its_guards_minute():
    baseline = (ZERO,)
    standing = (OPEN_MARK, guard_entry(at("2026-10-17T02:14:00Z")))

    closing = closed(standing, baseline)

    assert (closing.kind, closing.budgets, closing.alert) == (ClosingKind.RESTORED, baseline, None)


def test_a_list_whose_guard_alone_is_gone_becomes_the_baseline():
    assert closed(OPENED[:-1]).budgets == GATE


def test_a_list_that_is_the_baseline_again_is_left_alone():
    closing = closed(GATE)

    assert (closing.kind, closing.budgets, closing.alert) == (ClosingKind.ALREADY_CLOSED, None, None)


def test_t18_an_entry_that_a_person_added_stays_and_the_gate_shuts():
    closing = closed([*OPENED, NEW])

    assert to_objects(closing.budgets or ()) == [
        {"nodes": "10%", "reasons": ["Empty", "Underutilized"]},
        {"nodes": "0", "reasons": ["Drifted"]},
        {"nodes": "0", "reasons": ["Underutilized"], "schedule": "0 6 * * *", "duration": "2h"},
    ]
    assert (closing.kind, closing.alert) == (ClosingKind.MENDED, "FOREIGN_EDIT")


def test_an_alert_carries_the_list_as_found_and_the_baseline():
    closing = closed([*OPENED, NEW])

    assert (closing.found, closing.baseline) == ((*OPENED, NEW), GATE)


def test_t18_a_list_that_a_person_replaced_by_a_zero_of_their_own_is_left_alone_and_told():
    closing = closed([budget("0")])

    assert (closing.kind, closing.budgets, closing.alert) == (ClosingKind.LEFT_TO_PERSON, None, "FOREIGN_EDIT")


def test_a_gate_that_a_person_opened_during_ours_is_shut_and_told():
    closing = closed([budget("5", "Drifted")])

    assert (closing.budgets, closing.alert) == ((budget("5", "Drifted"), ZERO), "FOREIGN_EDIT")


def test_an_emptied_list_gets_the_zero_back():
    assert closed([]).budgets == (ZERO,)


def test_an_open_mark_changed_to_a_persons_number_stays_beside_the_zero():
    assert closed([LIMIT, budget("1", "Drifted"), GUARD]).budgets == (LIMIT, budget("1", "Drifted"), ZERO)


def test_a_zero_that_a_person_already_put_back_is_not_added_again():
    assert closed([ZERO, *OPENED]).budgets == (ZERO, LIMIT)


def test_zeros_come_back_as_many_as_the_baseline_had():
    baseline = (ZERO, LIMIT, budget("0%", "Drifted"), ZERO)

    assert closed([OPEN_MARK, LIMIT, ZERO, GUARD], baseline).budgets == (budget("0%", "Drifted"), ZERO, LIMIT, ZERO)


SHARED = (budget("10%"), budget("0", "Drifted", "Underutilized"))
REST = budget("0", "Underutilized")


def test_t13_an_untouched_remainder_becomes_its_original_entry_in_place():
    assert closed([NEW, budget("10%"), REST, OPEN_MARK, GUARD], SHARED).budgets == (NEW, *SHARED)


def test_a_moved_remainder_becomes_its_original_entry_where_it_stands():
    baseline = (LIMIT, *SHARED)

    assert closed([REST, LIMIT, budget("10%"), OPEN_MARK, GUARD], baseline).budgets == (SHARED[1], LIMIT, SHARED[0])


def test_of_two_entries_like_a_moved_remainder_one_becomes_its_original():
    baseline = (LIMIT, *SHARED)

    assert closed([REST, REST, LIMIT, budget("10%"), OPEN_MARK], baseline).budgets == (
        SHARED[1],
        REST,
        LIMIT,
        SHARED[0],
    )


def test_a_remainder_that_a_person_changed_stays_theirs_and_drifted_is_shut_beside_it():
    changed = budget("3", "Underutilized")

    assert closed([budget("10%"), changed, OPEN_MARK, GUARD], SHARED).budgets == (budget("10%"), changed, ZERO)


def test_a_remainder_that_a_person_removed_stays_removed():
    assert closed([budget("10%"), OPEN_MARK, GUARD], SHARED).budgets == (budget("10%"), ZERO)


def test_a_persons_own_entry_is_not_taken_for_the_remainder_that_looks_like_it():
    baseline = (REST, budget("10%"), budget("0", "Drifted", "Underutilized"))
    opened = opened_list(baseline, at("2026-10-17T02:11:00Z"))

    assert closed([*opened, NEW], baseline).budgets == (*baseline, NEW)


def test_a_foreign_entry_with_fields_we_do_not_know_stays_whole():
    strange = Budget(nodes="2", unknown=(("window", {"zone": ["UTC"]}),))

    assert closed([*OPENED, strange]).budgets == (*GATE, strange)


def test_an_entry_that_karpenter_cannot_parse_blocks_no_closing():
    broken = budget("0", "Empty", schedule="0 0 * * sat-sun", duration="24h")

    assert closed([*OPENED, broken]).budgets == (*GATE, broken)


def crowd(size: int) -> list[Budget]:
    return [budget(str(count + 1), "Empty") for count in range(size)]


def test_fifty_foreign_entries_without_a_zero_leave_no_room_and_are_told():
    closing = closed(crowd(50))

    assert (closing.kind, closing.budgets, closing.alert) == (ClosingKind.NO_ROOM, None, "TOO_MANY_ENTRIES")


def test_in_a_full_list_one_zero_takes_the_marks_place():
    baseline = (ZERO, budget("0%", "Drifted"))

    assert closed([OPEN_MARK, *crowd(49)], baseline).budgets == (ZERO, *crowd(49))


def test_a_record_whose_baseline_we_could_not_have_opened_is_no_record():
    assert close((), (), (GUARD,)).budgets == (ZERO,)
    assert close((budget("10%"),), OPENED, OPENED).budgets == (LIMIT, ZERO)
    assert close((ZERO, OPEN_MARK), OPENED, OPENED).budgets == (LIMIT, ZERO)


def test_without_a_record_an_open_mark_gives_way_to_a_zero():
    closing = close_without_record(OPENED)

    assert (closing.kind, closing.budgets, closing.alert) == (
        ClosingKind.MARKS_REMOVED,
        (LIMIT, ZERO),
        "GATE_LEFT_OPEN",
    )


def test_without_a_record_a_guard_left_behind_leaves_and_a_standing_zero_suffices():
    closing = close_without_record((ZERO, GUARD, LIMIT))

    assert (closing.budgets, closing.alert) == ((ZERO, LIMIT), "GUARD_LEFT_BEHIND")


@pytest.mark.parametrize("budgets", [(), (budget("1", "Drifted"),), GATE])
def test_without_a_record_and_without_marks_a_list_is_none_of_our_business(budgets):
    closing = close_without_record(budgets)

    assert (closing.kind, closing.budgets, closing.alert) == (ClosingKind.NOTHING_OURS, None, None)
