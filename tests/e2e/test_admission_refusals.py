"""What the API server refuses to driftgate, asked of the real one: each with its reason, and to nobody else."""

from dataclasses import replace

import pytest

from driftgate.domain.budget import Budget
from driftgate.domain.guard import guard_entry
from tests.e2e.guarded import POOL, Guarded, writes
from tests.e2e.harness.api import JSON_PATCH, Object
from tests.e2e.harness.scenario import NODEPOOLS
from tests.factories import NOW, budget
from tests.gate_policy import refusals
from tests.gate_strategies import guard_after

SHUT, TEN, GUARD = budget("0", "Drifted"), budget("10%"), guard_entry(guard_after(NOW))
NIGHT = budget("0", "Drifted", schedule="0 22 * * *", duration="8h")
NOON = budget("0", "Empty", schedule="0 12 * * *", duration="2h")


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
