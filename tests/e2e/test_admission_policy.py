"""What the API server lets driftgate write, asked of the real one: openings, renewals, closings, and nothing else."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftgate.domain.budget import Budget, to_objects
from driftgate.domain.closing import close, close_without_record
from driftgate.domain.gate import may_be_baseline, opened_list
from driftgate.domain.gate_patch import closing_patch, opening_patch, renewal_patch
from driftgate.domain.guard import renewed_list
from driftgate.domain.marks import OPEN_MARK
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.opening import why_not_openable
from driftgate.domain.patch import PatchOperation
from driftgate.domain.roll_annotation import LiveRoll, to_text
from tests.e2e.case_budgets import case_budgets
from tests.e2e.guarded import LISTS, POOL, Guarded, apply_printed, writes
from tests.e2e.harness.api import JSON_PATCH, Object
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import require
from tests.e2e.harness.scenario import NODEPOOLS, wait_for
from tests.factories import NOW, budget, live_roll
from tests.gate_policy import refusals
from tests.gate_strategies import baselines, edited, edits, guard_after, moments, usual

GUARD_AT = guard_after(NOW)
MINUTE = timedelta(minutes=1)
SHUT, TEN, GUARD = budget("0", "Drifted"), budget("10%"), opened_list((budget("0", "Drifted"),), GUARD_AT)[-1]
NIGHT = budget("0", "Drifted", schedule="0 22 * * *", duration="8h")
NOON = budget("0", "Empty", schedule="0 12 * * *", duration="2h")
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


# Entries for one reason or none, so that one rule alone decides; most are nearly allowed.
WHENS = st.sampled_from(
    [
        *[(None, None)] * 3,
        ("0 22 * * *", "8h"),
        ("5 4 3 2 *", "8736h"),
        ("5 4 3 2 *", "24h"),
        ("5 4 3 2 mon", "8736h"),
        ("*/5 4 3 2 *", "8736h"),
        ("5 4 3 2 * *", "8736h"),
    ]
)
NEARLY_ZERO = st.sampled_from(["0", "00", "000", "0%", "00%", "01", "1", "10", "0123", "10%"])
narrow_entries = st.builds(
    lambda nodes, reasons, when: Budget(nodes=nodes, reasons=reasons, schedule=when[0], duration=when[1]),
    NEARLY_ZERO,
    st.sampled_from([("Drifted",)] * 5 + [(), ("Empty",), ("Underutilized",), ("Empty", "Underutilized")]),
    WHENS,
)
few = st.lists(narrow_entries, max_size=2)
NUDGES = st.sampled_from([{"nodes": "0"}, {"nodes": "3"}, *[{"duration": "2h"}, {"schedule": "5 4 3 2 mon"}] * 2])


def without_some(draw: st.DrawFn, budgets: Sequence[Budget]) -> list[Budget]:
    """The list without up to two of its narrow entries."""
    left = list(budgets)
    for _ in range(draw(st.integers(0, 2))):
        narrow = [index for index, entry in enumerate(left) if entry.reasons is not None and len(entry.reasons) < 2]
        if narrow:
            left.pop(draw(st.sampled_from(narrow)))
    return left


def nudged(draw: st.DrawFn, budgets: Sequence[Budget]) -> list[Budget]:
    """The list, one entry of it with another number, duration or schedule now and then."""
    left = list(budgets)
    change: dict[str, Any] = draw(NUDGES)
    places = [index for index, entry in enumerate(left) if "nodes" in change or entry.schedule is not None]
    is_due: bool = draw(st.booleans())
    if places and is_due:
        index = draw(st.sampled_from(places))
        left[index] = replace(left[index], **change)
    return left


@st.composite
def changes(draw: st.DrawFn) -> tuple[tuple[Budget, ...], tuple[Budget, ...]]:
    """A list, and what somebody makes of it: an opening, a closing, nothing; with entries added, taken, edited."""
    baseline = draw(baselines())
    more = draw(few)
    before = (*draw(st.sampled_from([baseline, opened_list(baseline, GUARD_AT)])), *more)
    made = draw(st.sampled_from([before, (*baseline, *more), (*opened_list(baseline, GUARD_AT), *more)]))
    after = [*nudged(draw, without_some(draw, made)), *draw(few)]
    return before[:50], edited(tuple(after), draw(st.sampled_from([[], [], draw(st.lists(edits, max_size=2))])))


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


def replaced(path: str, value: object) -> Object:
    return {"op": "add", "path": path, "value": value}


REFUSED: dict[str, tuple[Object, str]] = {
    "template": (
        replaced("/spec/template/spec/expireAfter", "1h"),
        "may change nothing in spec but disruption.budgets, and this would change spec: template",
    ),
    "limits": (replaced("/spec/limits", {"cpu": "1000"}), "this would change spec: limits"),
    "weight": (replaced("/spec/weight", 10), "this would change spec: weight"),
    "consolidation": (
        replaced("/spec/disruption/consolidateAfter", "1h"),
        "may change nothing in spec.disruption but budgets, and this would change: consolidateAfter",
    ),
    "labels": (
        replaced("/metadata/labels", {"team": "shop"}),
        "may change nothing in metadata but the annotation driftgate.dev/roll, and this would change: labels",
    ),
    "finalizers": (replaced("/metadata/finalizers", ["example.com/held"]), "this would change: finalizers"),
    "owners": (
        replaced("/metadata/ownerReferences", [{"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "b"}]),
        "this would change: ownerReferences",
    ),
    "another annotation": (
        replaced("/metadata/annotations/karpenter.sh~1nodepool-hash", "1"),
        "may change no annotation but driftgate.dev/roll, and this would change: karpenter.sh/nodepool-hash",
    ),
    "somebody's annotation": ({"op": "remove", "path": "/metadata/annotations/team"}, "this would change: team"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_nothing_but_budgets_and_our_annotation_may_change(guarded: Guarded, what: str):
    operation, message = REFUSED[what]
    guarded.stand([SHUT])

    answer = guarded.our_api.send("PATCH", f"{NODEPOOLS}/{POOL}?dryRun=All", [operation], JSON_PATCH)

    assert answer.status == 403
    assert message in answer.text


BROKEN: dict[str, tuple[list[Budget], list[Budget], str]] = {
    "an empty list": ([SHUT], [], "budgets: [] means no limit at all"),
    "an entry that limits nothing": ([SHUT], [SHUT, replace(SHUT, reasons=())], "reasons: [] limits nothing"),
    "a limit for Empty": ([SHUT], [SHUT, budget("1", "Empty")], "apply to Empty must stay the same"),
    "a limit for Underutilized": (
        [SHUT, budget("2", "Empty", "Underutilized")],
        [SHUT, budget("2", "Empty"), budget("3", "Underutilized")],
        "apply to Underutilized must stay the same",
    ),
    "another number for Empty": ([SHUT, NOON], [SHUT, replace(NOON, nodes="1")], "apply to Empty must stay the same"),
    "a later time for Empty": ([SHUT, NOON], [SHUT, replace(NOON, schedule="0 13 * * *")], "apply to Empty must stay"),
    "a shorter time for Empty": (
        [SHUT, NOON],
        [SHUT, replace(NOON, duration="1h")],
        "apply to Empty must stay the same",
    ),
    "two limits where one was": (
        [SHUT, TEN, budget("2")],
        [SHUT, TEN, TEN],
        "apply to Empty must stay the same",
    ),
    "five nodes for Drifted": ([SHUT], [SHUT, budget("5", "Drifted")], "must be a zero, or the open mark of driftgate"),
    "one node, spelled as a person would": ([SHUT], [SHUT, budget("1", "Drifted")], "must be a zero, or the open mark"),
    "an opening that is for Empty too": (
        [SHUT, budget("01", "Empty")],
        [SHUT, budget("01", "Drifted", "Empty")],
        "must be a zero, or the open mark of driftgate",
    ),
    "a limit that only looks like the open mark": (
        [SHUT, budget("01", "Drifted", "Empty")],
        [SHUT, budget("01", "Empty")],
        "must be a zero without a schedule, or a mark",
    ),
    "a shorter zero that looks like the guard": (
        [SHUT, replace(GUARD, duration="24h")],
        [SHUT],
        "or a mark of driftgate",
    ),
    "a weekly zero that looks like the guard": (
        [SHUT, replace(GUARD, schedule="5 4 3 2 mon")],
        [SHUT],
        "or a mark of driftgate",
    ),
    "a zero for two reasons that looks like the guard": (
        [SHUT, replace(GUARD, reasons=("Drifted", "Empty"))],
        [SHUT, replace(GUARD, reasons=("Empty",))],
        "or a mark of driftgate",
    ),
    "the owner's night": ([SHUT, NIGHT], [SHUT], "must be a zero without a schedule, or a mark of driftgate"),
    "the owner's limit": ([SHUT, budget("3", "Drifted")], [SHUT], "must be a zero without a schedule, or a mark"),
    "the gate without its zero": ([SHUT, GUARD], [GUARD], "this list would leave the gate without either"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_each_broken_list_is_refused_with_its_reason(guarded: Guarded, what: str):
    before, after, message = BROKEN[what]
    guarded.stand(before)

    assert message in (guarded.refusal(writes(after)) or "let through")
    assert refusals(before, after)


EVERYTHING_OF_NODEPOOLS = [
    {"apiGroups": ["karpenter.sh"], "resources": ["nodepools", "nodepools/status"], "verbs": ["*"]}
]


def test_what_rbac_grants_by_mistake_the_policy_refuses(guarded: Guarded):
    path, dry = f"{NODEPOOLS}/{POOL}", "?dryRun=All"
    other = guarded.api.get(path)
    fresh = {key: other[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": {"name": "another"}}

    with guarded.granted(EVERYTHING_OF_NODEPOOLS):
        answers = [
            guarded.our_api.send("DELETE", path + dry),
            guarded.our_api.send("POST", NODEPOOLS + dry, fresh),
            guarded.our_api.send(
                "PATCH", f"{path}/status{dry}", {"status": {"nodes": 9}}, "application/merge-patch+json"
            ),
            guarded.our_api.send("PUT", path + dry, other | {"spec": other["spec"] | {"weight": 3}}),
        ]

    assert [answer.status for answer in answers] == [403] * 4
    for answer in answers[:3]:
        assert "driftgate only patches the budgets of a NodePool" in answer.text
    assert "this would change spec: weight" in answers[3].text


def test_nobody_else_is_bound(guarded: Guarded):
    guarded.stand([SHUT])
    path = f"{NODEPOOLS}/{POOL}?dryRun=All"

    for operation, _ in REFUSED.values():
        assert guarded.api.send("PATCH", path, [operation], JSON_PATCH).status == 200
    for _, after, _ in BROKEN.values():
        guarded.admin.patch_nodepool(POOL, writes(after), dry_run=True)


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
