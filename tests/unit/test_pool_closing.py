from __future__ import annotations

from dataclasses import replace

import pytest

from driftgate.domain.budget import Budget
from driftgate.domain.closing import ClosingKind
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.pool_closing import PoolClosing, closing_of
from driftgate.domain.roll import Roll
from driftgate.domain.roll_annotation import LiveRoll, to_text
from tests.factories import GATE, budget, live_roll, nodepool, roll

LIVE = live_roll()
TOMBSTONE = LIVE.tombstone()
ZERO = budget("0", "Drifted")
OLDER = "20261017T010000Z-app"
NEWER = "20261017T030000Z-app"


def pool(live: LiveRoll | None = LIVE, budgets: tuple[Budget, ...] = LIVE.opened) -> NodePoolSnapshot:
    annotations = {} if live is None else {"driftgate.dev/roll": to_text(live)}
    return nodepool(annotations=annotations, budgets=budgets)


def closed(standing: NodePoolSnapshot, known: Roll | None = None) -> PoolClosing:
    return closing_of(standing, deployment="driftgate", roll=known)


def test_a_roll_that_ledger_and_annotation_know_closes_to_the_baseline():
    found = closed(pool(), roll())

    assert (found.closing.budgets, found.tombstone) == (GATE, TOMBSTONE)


def test_t20_a_lost_ledger_loses_nothing():
    found = closed(pool())

    assert (found.closing.budgets, found.tombstone) == (GATE, TOMBSTONE)


def test_the_annotation_says_what_unchanged_means():
    stale = roll(opened=(budget("01", "Drifted"),))

    assert closed(pool(), stale).closing.kind is ClosingKind.RESTORED


def test_the_ledger_wins_on_the_baseline_of_a_roll_that_both_know():
    forged = replace(LIVE, baseline=(budget("50%"),))

    assert closed(pool(forged), roll()).closing.budgets == GATE


def test_a_ledger_without_the_baseline_takes_it_from_the_annotation():
    assert closed(pool(), roll(baseline=())).closing.budgets == GATE


@pytest.mark.parametrize("baseline", [(budget("50%"),), (ZERO,)])
def test_an_annotation_that_cannot_be_believed_restores_nothing_of_its_own(baseline):
    forged = replace(LIVE, baseline=baseline)
    found = closed(pool(forged))

    assert (found.closing.kind, found.closing.budgets) == (ClosingKind.MARKS_REMOVED, GATE)
    assert found.tombstone == TOMBSTONE


def test_marks_without_any_record_leave():
    found = closed(pool(None))

    assert (found.closing.kind, found.tombstone) == (ClosingKind.MARKS_REMOVED, None)


def test_a_vanished_annotation_is_made_up_for_by_the_ledger():
    found = closed(pool(None), roll())

    assert (found.closing.kind, found.closing.budgets) == (ClosingKind.RESTORED, GATE)
    assert found.tombstone == TOMBSTONE


def test_a_persons_opening_is_not_shut_when_we_never_opened():
    by_hand = (budget("1", "Drifted"),)
    found = closed(pool(None, budgets=by_hand), roll())

    assert (found.closing.kind, found.closing.budgets) == (ClosingKind.LEFT_TO_PERSON, None)
    assert found.closing.alert == "FOREIGN_EDIT"


def test_a_live_annotation_of_another_deployment_does_not_let_us_touch_a_persons_list():
    by_hand = (budget("1", "Drifted"),)

    assert closed(pool(replace(LIVE, deployment="laptop"), budgets=by_hand)).closing.budgets is None


def test_a_persons_opening_during_ours_is_shut():
    by_hand = (budget("1", "Drifted"),)

    assert closed(pool(budgets=by_hand), roll()).closing.budgets == (*by_hand, ZERO)


def test_the_list_is_closed_by_the_opening_that_stands_and_the_newer_roll_is_noted():
    planned = roll(id=NEWER, baseline=(ZERO,))
    found = closed(pool(), planned)

    assert found.closing.budgets == GATE
    assert found.tombstone == replace(TOMBSTONE, id=NEWER)


def test_a_stale_closer_notes_the_newer_roll_that_stands():
    found = closed(pool(), roll(id=OLDER, baseline=(ZERO,)))

    assert found.closing.budgets == GATE
    assert found.tombstone == TOMBSTONE


def test_the_count_is_the_greater_of_ledger_and_annotation():
    assert closed(pool(replace(LIVE, count=3)), roll(count=2)).tombstone == replace(TOMBSTONE, count=3)
    assert closed(pool(replace(LIVE, count=2)), roll(count=3)).tombstone == replace(TOMBSTONE, count=3)
