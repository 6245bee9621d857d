"""What keeps a node from being taken, and what does not."""

from datetime import timedelta

import pytest

from driftgate.sim.kinds import NODECLAIMS, NODES
from tests.sim_clusters import (
    NOW,
    OPEN,
    drifted_cluster,
    empty_cluster,
    names_of,
    send,
    take_one,
)

WEB = {"app": "web"}


def test_a_pdb_at_zero_keeps_the_node_and_the_next_one_goes():
    sim = drifted_cluster(1)
    sim.add_pod("a0", "web-0", labels=WEB)
    sim.add_pdb("web", WEB, min_available=1)
    sim.add_node("app", "b0", drifted_since=NOW, pods=4)
    sim.set_budgets("app", OPEN)

    sim.advance(200)

    assert sim.witness.nodes() == ["b0"]


def test_a_pod_under_two_pdbs_keeps_the_node_though_both_would_allow_it():
    sim = drifted_cluster(1)
    sim.add_pod("a0", "web-0", labels=WEB)
    sim.add_pdb("one", WEB, min_available=0)
    sim.add_pdb("two", WEB, min_available=0)
    sim.set_budgets("app", OPEN)

    sim.advance(200)

    assert sim.witness.nodes() == []


@pytest.mark.parametrize("how", ["node", "pod", "duration"])
def test_do_not_disrupt_keeps_the_node(how):
    sim = empty_cluster()
    sim.add_node("app", "a0", drifted_since=NOW - timedelta(days=1), do_not_disrupt=how == "node")
    value = {
        "node": {},
        "pod": {"karpenter.sh/do-not-disrupt": "true"},
        "duration": {"karpenter.sh/do-not-disrupt": "1h"},
    }
    sim.add_pod("a0", "job", annotations=value[how], owner=("Job", "job"))
    sim.set_budgets("app", OPEN)

    sim.advance(1800)
    within_the_hour = sim.witness.nodes()
    sim.advance(2400)

    assert within_the_hour == []
    assert sim.witness.nodes() == (["a0"] if how == "duration" else [])


def test_a_grace_period_lets_drift_take_the_node_all_the_same_and_ends_the_drain():
    sim = empty_cluster(termination_grace_period="5m")
    sim.add_node("app", "a0", drifted_since=NOW - timedelta(days=1))
    sim.add_pod("a0", "job", annotations={"karpenter.sh/do-not-disrupt": "true"}, owner=("Job", "job"))
    sim.advance(1)

    take_one(sim)
    sim.advance(290)
    draining = names_of(sim, NODES)
    sim.advance(30)

    assert sim.witness.nodes() == ["a0"]
    assert (draining, names_of(sim, NODES)) == (["a0"], [])


@pytest.mark.parametrize(
    ("limits", "rolls"),
    [({"cpu": "8"}, True), ({"cpu": "4"}, False), ({"nodes": "2"}, True), ({"nodes": "1"}, False)],
)
def test_limits_leave_out_the_leaving_node(limits, rolls):
    sim = drifted_cluster(2, pods=4, limits=limits)

    take_one(sim)

    assert bool(sim.witness.disruptions) == rolls


@pytest.mark.parametrize(("limit", "rolls"), [("3", 0), ("4", 1), ("5", 2)])
def test_a_static_pool_needs_headroom_and_may_roll_several_in_one_pass(limit, rolls):
    sim = drifted_cluster(3, replicas=3, limits={"nodes": limit})
    sim.set_budgets("app", [{"nodes": "3", "reasons": ["Drifted"]}])

    sim.advance(11)

    assert len(sim.witness.disruptions) == rolls


def test_a_static_pool_that_scales_down_waits():
    sim = drifted_cluster(4, replicas=3, limits={"nodes": "9"})
    sim.set_budgets("app", OPEN)

    sim.advance(60)

    assert sim.witness.disruptions == []


def test_a_static_pool_keeps_its_number():
    sim = drifted_cluster(2, replicas=2, limits={"nodes": "4"})

    take_one(sim)
    sim.advance(200)

    assert len(names_of(sim, NODECLAIMS)) == 2


def test_a_node_that_has_just_got_a_pod_is_no_candidate_for_twenty_seconds():
    sim = drifted_cluster(1)
    sim.advance(5)
    sim.add_pod(name="pending")
    sim.set_budgets("app", OPEN)

    sim.advance(14)
    early = sim.witness.nodes()
    sim.advance(20)

    assert (early, sim.witness.nodes()) == ([], ["a0"])


@pytest.mark.parametrize(
    ("selector", "policy", "rolls"),
    [
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, None, False),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, None, True),
        ({}, None, False),
        (None, None, True),
        ({"matchLabels": WEB}, "AlwaysAllow", True),
    ],
)
def test_a_pdb_holds_what_its_selector_takes_unless_an_unready_pod_may_always_go(selector, policy, rolls):
    sim = drifted_cluster(1)
    sim.add_pod("a0", "web-0", labels=WEB, ready=policy is None)
    spec = {"minAvailable": 1} | ({"selector": selector} if selector is not None else {})
    spec |= {"unhealthyPodEvictionPolicy": policy} if policy else {}
    body = {"kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}
    send(sim, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", body)

    take_one(sim)

    assert bool(sim.witness.disruptions) == rolls
