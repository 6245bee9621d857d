"""The model over-rolls where the real Karpenter does, and stops where it stops."""

from datetime import timedelta

import pytest

from driftgate.sim.kinds import NODECLAIMS, NODEPOOLS, NODES
from driftgate.sim.objects import condition_of, is_deleting, taint_keys
from tests.sim_clusters import NOW, OPEN, SHUT, condition, drifted_cluster, empty_cluster, get, seconds

GUARD = {"nodes": "00", "reasons": ["Drifted"], "schedule": "11 2 17 10 *", "duration": "8736h"}


def until_taken(sim):
    assert sim.advance_until(lambda: len(sim.witness.disruptions) > 0, 600)


def test_the_hand_loop_rolls_six_of_eight_empty_nodes():
    sim = drifted_cluster(8)

    sim.set_budgets("app", OPEN)
    sim.advance(60)
    sim.set_budgets("app", SHUT)
    sim.advance(600)

    assert sim.witness.rolled() == 6
    assert seconds(entry.at for entry in sim.witness.disruptions) == [10.1, 20.1, 30.2, 40.2, 50.3, 60.4]
    assert sim.witness.most_at_once("app") == 1


def test_closing_at_the_first_sign_rolls_exactly_one():
    sim = drifted_cluster(8)

    sim.set_budgets("app", OPEN)
    until_taken(sim)
    sim.set_budgets("app", SHUT)
    sim.advance(3600)

    assert sim.witness.nodes() == ["a0"]


def test_a_guard_shuts_the_gate_by_itself():
    sim = drifted_cluster(8)

    sim.set_budgets("app", [{"nodes": "01", "reasons": ["Drifted"]}, GUARD])
    sim.advance(3600)

    assert len(sim.witness.between(NOW, NOW + timedelta(seconds=60))) == 5
    assert sim.witness.between(NOW + timedelta(seconds=61), NOW + timedelta(hours=2)) == []


def test_a_shut_gate_rolls_nothing():
    sim = drifted_cluster(4)

    sim.advance(3600)

    assert sim.witness.disruptions == []


def test_karpenter_may_act_on_an_older_view_of_the_budget():
    sim = drifted_cluster(4)
    sim.world.view.lag_of[NODEPOOLS] = 5.0

    sim.advance(4)
    sim.set_budgets("app", OPEN)
    sim.advance(3)
    sim.set_budgets("app", SHUT)
    sim.advance(600)

    (taken,) = sim.witness.disruptions
    assert taken.budgets == ({"nodes": "0", "reasons": ["Drifted"]},)
    assert taken.seen_budgets == ({"nodes": "1", "reasons": ["Drifted"]},)


def test_a_budget_that_is_shut_during_the_simulation_stops_nothing():
    sim = drifted_cluster(2)
    sim.set_budgets("app", OPEN)
    sim.advance(9.02)

    sim.set_budgets("app", SHUT)
    sim.advance(60)

    assert sim.witness.nodes() == ["a0"]


def test_a_budget_of_two_lets_two_go_at_once():
    sim = drifted_cluster(4, pods=4)

    sim.set_budgets("app", [{"nodes": "2", "reasons": ["Drifted"]}])
    sim.advance(30)

    assert sim.witness.most_at_once("app") == 2


@pytest.mark.parametrize("budgets", [[], [{"nodes": "0", "reasons": []}], [{"nodes": "0", "reasons": ["Empty"]}]])
def test_no_limit_lets_all_go(budgets):
    sim = drifted_cluster(5, pods=4)

    sim.set_budgets("app", budgets)
    sim.advance(60)

    assert len(sim.witness.disruptions) == 5


def test_one_broken_entry_shuts_everything():
    sim = drifted_cluster(3)

    sim.set_budgets("app", [*OPEN, {"nodes": "0", "reasons": ["Empty"], "schedule": "0 0 * * 7", "duration": "1h"}])
    sim.advance(3600)

    assert sim.witness.disruptions == []


def test_a_percentage_counts_initialized_nodes_and_rounds_up():
    sim = drifted_cluster(11, pods=4)

    sim.set_budgets("app", [{"nodes": "10%"}])
    sim.advance(30)

    assert sim.witness.most_at_once("app") == 2


def test_a_sick_node_uses_up_the_budget():
    sim = drifted_cluster(3)
    sim.set_ready("a2", ready=False)

    sim.set_budgets("app", OPEN)
    sim.advance(120)
    before = list(sim.witness.disruptions)
    sim.set_ready("a2", ready=True)
    sim.advance(20)

    assert before == []
    assert len(sim.witness.disruptions) == 2


def test_the_slot_is_free_again_when_the_instance_terminates_and_not_before():
    sim = drifted_cluster(2)
    sim.set_budgets("app", OPEN)
    until_taken(sim)

    sim.advance(5.0)
    terminating_early = condition(sim, "InstanceTerminating")
    sim.advance(0.1)

    assert terminating_early is None
    assert condition(sim, "InstanceTerminating")["status"] == "True"
    assert len(sim.witness.disruptions) == 1


def test_taint_comes_first_then_the_reason_then_the_deletion():
    sim = drifted_cluster(1)
    steps = []

    def hear(change):
        if change.type == "MODIFIED" and change.kind in (NODES, NODECLAIMS):
            taken = taint_keys(change.after.obj) or condition_of(change.after.obj, "DisruptionReason")
            steps.append((change.kind.kind, bool(taken), is_deleting(change.after.obj)))

    sim.store.listeners.append(hear)
    sim.set_budgets("app", OPEN)

    sim.advance(30)

    assert steps[:3] == [("Node", True, False), ("NodeClaim", True, False), ("NodeClaim", True, True)]


def test_the_condition_names_the_reason():
    sim = drifted_cluster(1, pods=4)
    sim.set_budgets("app", OPEN)

    until_taken(sim)
    sim.advance(0.1)

    assert condition(sim, "DisruptionReason") == {
        "type": "DisruptionReason",
        "status": "True",
        "reason": "Drifted",
        "message": "Drifted",
        "lastTransitionTime": "2026-10-17T02:10:10Z",
    }
    taints = get(sim, "/api/v1/nodes/a0")["spec"]["taints"]
    assert taints == [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]


def test_a_node_that_is_still_launching_pauses_all_disruption():
    sim = drifted_cluster(2)
    sim.karpenter.launching.create_claim("app")
    sim.set_budgets("app", OPEN)

    sim.advance(2.9)
    paused = list(sim.witness.disruptions)
    until_taken(sim)

    assert paused == []
    assert seconds([sim.witness.disruptions[0].at])[0] < 15


def test_empty_nodes_go_first_then_the_longest_drifted():
    sim = empty_cluster()
    sim.add_node("app", "old-full", drifted_since=NOW - timedelta(days=9), pods=4)
    sim.add_node("app", "older-full", drifted_since=NOW - timedelta(days=10), pods=4)
    sim.add_node("app", "young-empty", drifted_since=NOW - timedelta(days=1))
    sim.set_budgets("app", OPEN)

    sim.advance(400)

    assert sim.witness.nodes() == ["young-empty", "older-full", "old-full"]


def test_pools_have_budgets_of_their_own():
    sim = drifted_cluster(2)
    sim.add_nodepool("web", SHUT)
    sim.add_node("web", "w1", drifted_since=NOW - timedelta(days=30))
    sim.set_budgets("app", OPEN)

    sim.advance(60)

    assert sim.witness.rolled(pool="web") == 0
    assert sim.witness.rolled(pool="app") == 2


def test_a_restart_loses_the_queue_and_frees_the_node_for_another_choice():
    sim = drifted_cluster(1, pods=4)
    sim.set_budgets("app", OPEN)
    until_taken(sim)
    sim.advance(5)
    sim.set_budgets("app", SHUT)

    sim.karpenter.restart()
    sim.advance(120)

    assert sim.witness.rolled() == 0
    assert condition(sim, "DisruptionReason") is None
    assert "taints" not in get(sim, "/api/v1/nodes/a0")["spec"]
