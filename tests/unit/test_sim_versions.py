"""Emptiness, and what older Karpenters do otherwise."""

import pytest

from driftgate.sim.behaviour import behaviour_of
from tests.sim_clusters import NOW, OPEN, SHUT, condition, drifted_cluster, get

GUARD = {"nodes": "00", "reasons": ["Drifted"], "schedule": "11 2 17 10 *", "duration": "8736h"}


def until_taken(sim):
    assert sim.advance_until(lambda: len(sim.witness.disruptions) > 0, 600)


def test_an_empty_node_may_go_as_empty_though_it_is_drifted():
    sim = drifted_cluster(1, consolidate_after="30s")
    sim.set_budgets("app", [*SHUT, {"nodes": "1", "reasons": ["Empty"]}])

    sim.advance(90)

    assert [(entry.node, entry.reason) for entry in sim.witness.disruptions] == [("a0", "Empty")]


def test_emptiness_looks_again_after_fifteen_seconds():
    sim = drifted_cluster(1, consolidate_after="0s")
    sim.set_budgets("app", [*SHUT, {"nodes": "1", "reasons": ["Empty"]}])
    sim.advance(12)

    sim.set_budgets("app", [*SHUT, {"nodes": "0", "reasons": ["Empty"]}])
    sim.advance(60)

    assert sim.witness.disruptions == []


@pytest.mark.parametrize(
    ("version", "has_reason", "skips_empty", "at_once"),
    [("1.0.8", False, False, True), ("1.1.5", False, False, True), ("1.6.1", True, True, False),
     ("1.6.4", True, False, False),
     ("1.14.1", True, False, False)],
)  # fmt: skip
def test_versions_differ(version, has_reason, skips_empty, at_once):
    found = behaviour_of(version)

    assert (found.has_disruption_reason, found.drift_skips_empty, found.empties_at_once) == (
        has_reason,
        skips_empty,
        at_once,
    )


def test_an_old_karpenter_gives_no_reason_only_the_taint():
    sim = drifted_cluster(1, pods=4, version="1.1.5")
    sim.set_budgets("app", OPEN)

    until_taken(sim)
    sim.advance(0.1)

    assert condition(sim, "DisruptionReason") is None
    assert get(sim, "/api/v1/nodes/a0")["spec"]["taints"][0]["key"] == "karpenter.sh/disrupted"


def test_karpenter_1_6_never_takes_an_empty_node_for_drift():
    sim = drifted_cluster(2, version="1.6.1")
    sim.set_budgets("app", OPEN)
    sim.advance(300)
    while_all_are_empty = sim.witness.nodes()

    sim.add_node("app", "full", drifted_since=NOW, pods=4)
    until_taken(sim)

    assert while_all_are_empty == []
    assert sim.witness.nodes() == ["full"]


def test_karpenter_before_1_5_takes_all_empty_nodes_of_the_budget_at_once():
    sim = drifted_cluster(5, version="1.4.0")
    sim.set_budgets("app", [{"nodes": "3", "reasons": ["Drifted"]}])

    sim.advance(11)

    assert len(sim.witness.disruptions) == 3
