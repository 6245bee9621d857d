"""Nodes that leave without a command, nodes that drift, and what Karpenter writes beside it."""

from datetime import timedelta

from driftgate.sim.kinds import NODECLAIMS, NODES, PODS
from driftgate.sim.manifests import NEW_IMAGE
from driftgate.sim.objects import condition_is_true
from tests.sim_clusters import (
    NOW,
    OPEN,
    claim_of,
    drifted_cluster,
    empty_cluster,
    get,
    names_of,
    send,
)

CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"


def replacement(sim):
    (name,) = [name for name in names_of(sim, NODECLAIMS) if not name.startswith("app-a")]
    return name


def pods_by_node(sim):
    placed = [pod.obj["spec"].get("nodeName", "") for pod in sim.store.all_of(PODS)]
    return {node: placed.count(node) for node in set(placed)}


def test_an_expired_node_leaves_whatever_the_budget_says():
    sim = empty_cluster()
    sim.add_node("app", "a0", expire_after="1h", pods=4)

    sim.advance(3590)
    before = names_of(sim, NODES)
    sim.advance(120)

    assert before == ["a0"]
    assert [(entry.node, entry.reason) for entry in sim.witness.departures] == [("a0", "Expired")]
    assert sim.witness.disruptions == []


def test_an_interrupted_node_takes_the_slot_and_shows_no_reason():
    sim = drifted_cluster(3)
    sim.interrupt("a2")
    sim.set_budgets("app", OPEN)
    sim.advance(1)

    claim = get(sim, f"{CLAIMS}/app-a2")
    assert claim["metadata"]["deletionTimestamp"] == "2026-10-17T02:10:01Z"
    assert not [entry for entry in claim["status"]["conditions"] if entry["type"] == "DisruptionReason"]
    assert [entry.reason for entry in sim.witness.departures] == ["Interrupted"]


def test_a_node_that_somebody_deletes_takes_its_nodeclaim_along():
    sim = drifted_cluster(1)

    send(sim, "DELETE", "/api/v1/nodes/a0")
    sim.advance(30)

    assert (names_of(sim, NODES), names_of(sim, NODECLAIMS)) == ([], [])
    assert [entry.reason for entry in sim.witness.departures] == ["Deleted"]


def test_pods_without_a_home_get_a_new_node():
    sim = empty_cluster()
    sim.add_node("app", "a0", pods=4)
    sim.interrupt("a0")

    sim.advance(120)

    (node,) = names_of(sim, NODES)
    assert pods_by_node(sim) == {node: 4}


def test_a_new_image_marks_the_nodes_drifted_and_the_old_one_takes_it_back():
    sim = empty_cluster()
    sim.add_node("app", "a0")
    sim.advance(1)

    sim.set_image("std", "ami-0ccc00000000000c3")
    sim.advance(1)
    drifted = condition_is_true(claim_of(sim), "Drifted")
    sim.set_image("std", NEW_IMAGE)
    sim.advance(1)

    assert drifted
    assert not condition_is_true(claim_of(sim), "Drifted")


def test_another_drift_reason_is_kept():
    sim = empty_cluster()
    sim.add_node("app", "a0")

    sim.mark_drifted("a0", "NodePoolDrifted")
    sim.advance(600)

    found = get(sim, f"{CLAIMS}/app-a0")["status"]["conditions"]
    assert [entry["reason"] for entry in found if entry["type"] == "Drifted"] == ["NodePoolDrifted"]


def test_karpenter_touches_the_pool_after_each_change_of_its_spec():
    sim = drifted_cluster(1)
    sim.advance(5)
    before = get(sim, "/apis/karpenter.sh/v1/nodepools/app")["metadata"]

    sim.set_budgets("app", [{"nodes": "0"}])
    sim.advance(1)

    after = get(sim, "/apis/karpenter.sh/v1/nodepools/app")["metadata"]
    assert after["generation"] == before["generation"] + 1
    assert int(after["resourceVersion"]) == int(before["resourceVersion"]) + 4


def test_the_witness_knows_who_wrote_which_budgets_when():
    sim = drifted_cluster(1)

    sim.set_budgets("app", OPEN, manager="driftgate")

    (written,) = sim.witness.budgets
    assert (written.manager, written.pool, written.at) == ("driftgate", "app", NOW + timedelta(seconds=1))
    assert written.before == ({"nodes": "0", "reasons": ["Drifted"]},)
    assert written.after == ({"nodes": "1", "reasons": ["Drifted"]},)
