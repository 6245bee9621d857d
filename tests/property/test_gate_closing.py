"""Whatever people did to the list meanwhile, closing shuts the gate, takes only what is ours, and ends."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.budget import Budget, DisruptionReason
from driftgate.domain.closing import Closing, ClosingKind, close, close_without_record
from driftgate.domain.gate import is_drifted_zero, opened_list, remainder
from driftgate.domain.horizon import first_difference
from driftgate.domain.marks import is_mark
from tests.factories import NOW
from tests.gate_policy import limits_of, refusals
from tests.gate_strategies import baselines, edited, edits, guard_after, often, seldom, strangers, usual

GUARD_AT = guard_after(NOW)
OTHERS = ("Empty", "Underutilized")
by_a_person = st.lists(edits, min_size=1, max_size=4)


def left(closing: Closing) -> tuple[Budget, ...]:
    """The list that stands after the closing."""
    return closing.found if closing.budgets is None else closing.budgets


def shuts(budgets: Sequence[Budget]) -> bool:
    return any(is_drifted_zero(budget) for budget in budgets)


def stands_for(entry: Budget, after: Budget, baseline: Sequence[Budget]) -> bool:
    """Whether the entry is the same, or a remainder that has become its original again."""
    return entry == after or (after in baseline and is_drifted_zero(after) and remainder(after) == entry)


def additions(current: Sequence[Budget], after: Sequence[Budget], baseline: Sequence[Budget]) -> list[Budget] | None:
    """What closing added beside the entries that were not ours, all kept in order; None where one is missing."""
    kept, added = [entry for entry in current if not is_mark(entry)], []
    for entry in after:
        if kept and stands_for(kept[0], entry, baseline):
            kept.pop(0)
        else:
            added.append(entry)
    return None if kept else added


@often
@given(baselines(), by_a_person)
def test_after_foreign_edits_a_zero_on_drifted_stands_and_no_mark_of_ours(baseline, by):
    opened = opened_list(baseline, GUARD_AT)
    closing = close(baseline, opened, edited(opened, by))

    assert shuts(left(closing))
    assert not any(is_mark(entry) for entry in left(closing))


@often
@given(baselines(), by_a_person)
def test_foreign_entries_stay_in_order_and_only_zeros_on_drifted_are_added(baseline, by):
    opened = opened_list(baseline, GUARD_AT)
    current = edited(opened, by)
    closing = close(baseline, opened, current)

    added = additions(current, left(closing), baseline)
    assert added is not None
    assert all(is_drifted_zero(entry) and entry.reasons == ("Drifted",) for entry in added)


@often
@given(baselines(), by_a_person)
def test_a_closing_moves_no_limit_of_another_reason_beyond_the_foreign_edit(baseline, by):
    opened = opened_list(baseline, GUARD_AT)
    current = edited(opened, by)
    closing = close(baseline, opened, current)

    for reason in OTHERS:
        assert limits_of(left(closing), reason) == limits_of(current, reason)


@seldom
@given(baselines(), by_a_person)
def test_karpenter_allows_other_reasons_the_same_all_year_after_an_edited_list_is_closed(baseline, by):
    opened = opened_list(baseline, GUARD_AT)
    current = edited(opened, by)
    after = left(close(baseline, opened, current))

    for reason in (DisruptionReason.EMPTY, DisruptionReason.UNDERUTILIZED):
        assert first_difference(current, after, 10, NOW, NOW.replace(year=2027), reason) is None


@often
@given(baselines(), st.randoms())
def test_a_list_that_was_only_reordered_gets_every_entry_of_the_baseline_back(baseline, random):
    opened = opened_list(baseline, GUARD_AT)
    current = list(opened)
    random.shuffle(current)

    assert sorted(left(close(baseline, opened, current)), key=repr) == sorted(baseline, key=repr)


@often
@given(baselines(), by_a_person)
def test_closing_twice_changes_nothing_more(baseline, by):
    opened = opened_list(baseline, GUARD_AT)
    once = left(close(baseline, opened, edited(opened, by)))

    assert close(baseline, opened, once).budgets is None
    assert close_without_record(once).budgets is None


@often
@given(baselines(), by_a_person)
def test_a_closing_never_writes_more_equal_zeros_than_baseline_and_person_together(baseline, by):
    opened = opened_list(baseline, GUARD_AT)
    current = edited(opened, by)
    after = left(close(baseline, opened, current))

    for zero in (entry for entry in baseline if is_drifted_zero(entry) and remainder(entry) is None):
        assert after.count(zero) <= max(baseline.count(zero), current.count(zero))


@often
@given(baselines(), by_a_person)
def test_the_admission_policy_lets_every_closing_pass(baseline, by):
    opened = opened_list(baseline, GUARD_AT)
    current = edited(opened, by)

    assert refusals(current, left(close(baseline, opened, current))) == []
    assert refusals(current, left(close_without_record(current))) == []


@usual
@given(baselines(), st.lists(strangers, max_size=60), st.randoms())
def test_a_list_filled_to_the_brim_is_shut_or_told(baseline, crowd, random):
    opened = opened_list(baseline, GUARD_AT)
    current = [*opened, *crowd]
    random.shuffle(current)
    closing = close(baseline, opened, current[:50])

    assert len(left(closing)) <= 50
    assert shuts(left(closing)) or (closing.kind, closing.alert) == (ClosingKind.NO_ROOM, "TOO_MANY_ENTRIES")
    assert not any(is_mark(entry) for entry in left(closing))


@usual
@given(st.lists(strangers, max_size=6))
def test_without_a_record_only_marks_leave_and_the_gate_is_shut_where_they_stood(current):
    closing = close_without_record(current)

    if any(is_mark(entry) for entry in current):
        added = additions(current, left(closing), ())
        assert added in ([], [Budget(nodes="0", reasons=("Drifted",))])
        assert shuts(left(closing))
    else:
        assert closing.budgets is None


@usual
@given(baselines(), st.lists(strangers, max_size=4))
def test_entries_that_a_person_adds_leave_the_baseline_in_its_order(baseline, new):
    opened = opened_list(baseline, GUARD_AT)
    foreign = [entry for entry in new if not is_mark(entry) and entry not in opened and entry not in baseline]
    closing = close(baseline, opened, [*opened, *foreign])

    untouched = [entry for entry in baseline if not is_drifted_zero(entry) or remainder(entry) is not None]
    kept = [entry for entry in left(closing) if entry in untouched or entry in foreign]
    assert kept == [*untouched, *foreign]
    assert all(left(closing).count(entry) >= baseline.count(entry) for entry in baseline)
