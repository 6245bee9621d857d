"""The same eight empty drifted nodes, by hand and by driftgate, side by side."""

from __future__ import annotations

from datetime import timedelta

from driftgate.domain.policy import GuardPolicy, OpenPolicy
from driftgate.sim.cluster import SimCluster
from tests.factories import cluster_policy, pool_policy
from tests.sim_clusters import OPEN, SHUT, drifted_cluster
from tests.simulated.deployment import Deployment
from tests.simulated.watchman import Watchman

ALL_OF_THEM = pool_policy(
    open=OpenPolicy(per_window=None, pause_between=timedelta(0)), guards=GuardPolicy(alarms=(), bake=timedelta(0))
)


def by_hand(sim: SimCluster) -> None:
    """What people do: open, wait a minute, put it back."""
    sim.set_budgets("app", OPEN)
    sim.advance(60)
    sim.set_budgets("app", SHUT)
    sim.advance(600)


def test_one_opening_by_hand_rolls_six_nodes_and_each_of_driftgates_rolls_one():
    hand, ours = drifted_cluster(8), drifted_cluster(8)
    watchman, deployment = Watchman(ours), Deployment(ours, cluster_policy("app", policy=ALL_OF_THEM))

    by_hand(hand)
    deployment.run(3600)
    watchman.look()

    took = [len(opening.taken) for opening in watchman.openings]
    print(f"\nby hand: {hand.witness.rolled()} nodes by one opening; driftgate: {took} by {len(took)} openings")
    assert hand.witness.rolled() == 6
    assert took == [1, 1, 1, 1, 1, 1, 1]
    assert watchman.broken == []


def test_driftgate_leaves_the_last_node_of_the_pool_to_a_person():
    sim = drifted_cluster(8)
    deployment = Deployment(sim, cluster_policy("app", policy=ALL_OF_THEM))

    deployment.run(3600)

    plan = deployment.reports[-1].plan
    assert plan is not None
    assert sim.witness.rolled() == 7
    assert [str(hold.code) for hold in plan.pools[0].action.reasons] == ["SINGLE_NODE_POOL"]
