"""What the API server lets driftgate write, asked of the real one: every opening, renewal and closing, at any size."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftgate.domain.budget import Budget, to_objects
from driftgate.domain.closing import close, close_without_record
from driftgate.domain.gate import may_be_baseline, opened_list
from driftgate.domain.gate_patch import closing_patch, opening_patch, renewal_patch
from driftgate.domain.guard import guard_entry, renewed_list
from driftgate.domain.marks import OPEN_MARK
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.opening import why_not_openable
from driftgate.domain.patch import PatchOperation
from driftgate.domain.roll_annotation import LiveRoll, to_text
from tests.e2e.case_budgets import case_budgets
from tests.e2e.guarded import LISTS, POOL, Guarded, apply_printed, writes
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import require
from tests.e2e.harness.scenario import wait_for
from tests.e2e.policy_changes import changes
from tests.factories import NOW, budget, live_roll
from tests.gate_policy import refusals
from tests.gate_strategies import baselines, edited, edits, guard_after, moments, usual

GUARD_AT = guard_after(NOW)
MINUTE = timedelta(minutes=1)
SHUT, GUARD = budget("0", "Drifted"), guard_entry(GUARD_AT)
NIGHT = budget("0", "Drifted", schedule="0 22 * * *", duration="8h")
sometimes = settings(usual, max_examples=200)
CASES = case_budgets()
OPENABLE = [text for text, found in CASES.items() if why_not_openable(found, total=9) == ()]


def live(baseline: Sequence[Budget]) -> LiveRoll:
    opened = opened_list(baseline, GUARD_AT)
    return live_roll(baseline=tuple(baseline), opened=opened, opened_at=NOW, guard_at=GUARD_AT)


def renewed(roll: LiveRoll) -> LiveRoll:
    later = roll.guard_at + MINUTE
    return replace(roll, guard_at=later, opened=renewed_list(roll.opened, roll.guard_at, later))


def opened_pool(guarded: Guarded, baseline: Sequence[Budget]) -> tuple[NodePoolSnapshot, LiveRoll]:
    """The NodePool that driftgate itself has opened and renewed once."""
    roll = live(baseline)
    opened = guarded.ours.patch_nodepool(POOL, opening_patch(guarded.stand(baseline), roll))
    later = renewed(roll)
    return guarded.ours.patch_nodepool(POOL, renewal_patch(opened, later)), later


def stored(budgets: Sequence[Budget]) -> tuple[Budget, ...]:
    """What the server keeps of a list: fields that its CRD does not know are dropped."""
    return tuple(replace(entry, unknown=()) for entry in budgets)


# --- what driftgate does ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", OPENABLE)
def test_every_list_of_the_cases_that_may_be_opened_is_opened_renewed_and_closed(guarded, text):
    baseline = CASES[text]
    pool, roll = opened_pool(guarded, baseline)

    closed = guarded.ours.patch_nodepool(
        POOL, closing_patch(pool, close(baseline, roll.opened, pool.budgets), roll.tombstone())
    )

    assert closed.budgets == baseline


@pytest.mark.parametrize("text", CASES)
def test_marks_left_behind_in_any_list_of_the_cases_may_be_taken_out(guarded, text):
    pool = guarded.stand((*CASES[text], OPEN_MARK, GUARD))

    left = guarded.ours.patch_nodepool(POOL, closing_patch(pool, close_without_record(pool.budgets), None))

    assert OPEN_MARK not in left.budgets
    assert GUARD not in left.budgets


def test_any_opening_renewal_and_closing_around_any_foreign_edit_is_let_through(guarded):
    @sometimes
    @given(baselines(), st.lists(edits, max_size=4))
    def story(baseline, by):
        _, roll = opened_pool(guarded, baseline)
        pool = guarded.stand(edited(roll.opened, by))

        closing = close(baseline, roll.opened, pool.budgets)
        closed = guarded.ours.patch_nodepool(POOL, closing_patch(pool, closing, roll.tombstone()))

        assert closed.budgets == (pool.budgets if closing.budgets is None else closing.budgets)

    story()


def test_any_list_with_marks_and_no_record_may_be_closed(guarded):
    @sometimes
    @given(baselines(), moments, st.lists(edits, max_size=4))
    def story(baseline, opened_at, by):
        pool = guarded.stand(edited(opened_list(baseline, guard_after(opened_at)), by))

        patch = closing_patch(pool, close_without_record(pool.budgets), None)

        assert not patch or guarded.refusal(patch) is None

    story()


UNGATED: dict[str, list[Budget]] = {
    "an empty list": [],
    "no limit for Drifted": [budget("10%", "Empty")],
    "a scheduled gate": [NIGHT],
    "a guard alone": [GUARD],
    "an entry that limits nothing": [budget("10%"), replace(SHUT, reasons=())],
}


@pytest.mark.parametrize("what", UNGATED)
def test_a_tombstone_may_be_written_whatever_the_list_is(guarded: Guarded, what: str):
    pool = guarded.stand(UNGATED[what])
    annotate = PatchOperation("add", "/metadata/annotations/driftgate.dev~1roll", to_text(live([SHUT]).tombstone()))

    assert guarded.refusal((annotate,)) is None
    assert guarded.refusal((annotate, *writes(pool.budgets))) is None


# --- what it must not do ---------------------------------------------------------------------------------


def test_the_server_and_the_predicate_agree_on_any_change_of_any_list(guarded):
    said: Counter[bool] = Counter()

    @settings(usual, max_examples=600)
    @given(changes())
    def agree(change):
        before, after = stored(change[0]), stored(change[1])
        guarded.stand(before)

        refused = guarded.refusal(writes(after))

        assert (refused is not None) == bool(refusals(before, after)), refused or refusals(before, after)
        said[refused is None] += 1

    agree()

    assert min(said[True], said[False]) >= 100, said


# --- cost ------------------------------------------------------------------------------------------------

LONG = ",".join(str(minute % 60) for minute in range(4000))
FULL: dict[str, list[Budget]] = {
    "50 equal entries": [budget("0", "Drifted"), *[budget("7", schedule="@daily", duration="1h")] * 49],
    "50 different entries": [budget("0", "Drifted"), *(budget(str(count)) for count in range(1, 50))],
    "50 zeros": [budget("0", "Drifted")] * 49 + [budget("00")],
    "49 schedules of 11,000 characters": [
        budget("0", "Drifted"),
        *(budget("7", schedule=f"{count},{LONG} * * * *", duration="1h") for count in range(49)),
    ],
}


@pytest.mark.parametrize("what", FULL)
def test_a_list_filled_to_the_brim_costs_the_server_less_than_its_limit(guarded: Guarded, what: str):
    before = FULL[what]
    assert len(before) == 50
    assert may_be_baseline(before)
    guarded.stand(before)

    assert guarded.refusal(writes([OPEN_MARK, *before[1:]])) is None
    assert to_objects(guarded.admin.get_nodepool(POOL).budgets) == to_objects(before)


# --- form ------------------------------------------------------------------------------------------------


def test_the_type_check_of_kubernetes_has_nothing_to_say():
    require("kube-scheduler", "kube-controller-manager")
    policy = f"{LISTS['ValidatingAdmissionPolicy']}/driftgate"

    with ControlPlane(karpenter=None) as plane:
        apply_printed(plane.api("admin"))
        plane.start_kubernetes_controllers()
        status = wait_for(lambda: plane.api("admin").get(policy).get("status") or None, "a status")

    assert status == {"observedGeneration": 1, "typeChecking": {}}
