"""Two hundred openings over mixed nodes, on clusters that are quick, slow and late: one node each, never another."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from driftgate.domain.budget import from_objects
from driftgate.domain.policy import GuardPolicy, OpenPolicy
from driftgate.domain.window import MaintenanceWindow
from driftgate.sim.clock import ManualClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODES
from driftgate.sim.timings import Timings
from tests.factories import cluster_policy, pool_policy
from tests.gate_policy import limits_of
from tests.sim_clusters import NOW
from tests.simulated.deployment import Deployment
from tests.simulated.watchman import Watchman

GATE = [{"nodes": "20%", "reasons": ["Empty"]}, {"nodes": "0", "reasons": ["Underutilized", "Drifted"]}]
ALL_DAY = MaintenanceWindow(name="always", timezone="UTC", cron="0 0 * * *", duration=timedelta(hours=24))
ONE_AFTER_THE_OTHER = OpenPolicy(per_window=None, pause_between=timedelta(0))
POLICY = cluster_policy(
    "app",
    policy=pool_policy(windows=(ALL_DAY,), open=ONE_AFTER_THE_OTHER, guards=GuardPolicy(alarms=(), bake=timedelta(0))),
)
TIMINGS = (
    Timings(),
    Timings(informer_lag_s=1.5, write_s=0.2),
    Timings(idle_s=35.0, simulation_s=2.0),
    Timings(idle_s=1.0, retry_s=0.2, launch_s=20.0, register_s=55.0),
    Timings(idle_s=17.0, simulation_s=0.6, informer_lag_s=0.3, min_drain_s=2.5, queue_poll_s=3.0),
)
SEEDS = (1, 2)
OPENINGS = 20
KEPT = {"kept0", "kept1", "own"}


def mixed_cluster(seed: int, timings: Timings) -> SimCluster:
    """Five empty and fifteen full nodes, two behind a PDB at zero, one that says do-not-disrupt; all are drifted."""
    sim = SimCluster(ManualClock(NOW), karpenter="1.14.1", timings=timings, seed=seed)
    sim.add_node_class()
    sim.add_nodepool("app", GATE)
    for number in range(OPENINGS):
        since = NOW - timedelta(hours=90 - number)
        sim.add_node("app", f"n{number}", drifted_since=since, pods=4 if number % 4 else 0)
    for number in range(2):
        sim.add_node("app", f"kept{number}", drifted_since=NOW - timedelta(hours=100))
        for replica in range(4):
            sim.add_pod(f"kept{number}", f"db-{number}-{replica}", labels={"app": "db"})
    sim.add_node("app", "own", drifted_since=NOW - timedelta(hours=99), do_not_disrupt=True, pods=4)
    sim.add_pdb("db", {"app": "db"}, max_unavailable=0)
    sim.advance(3.7 * seed)
    return sim


def roll_all(sim: SimCluster) -> tuple[Watchman, Deployment]:
    """As many openings as there are nodes that can go; meanwhile a node that nobody may take is sick now and then."""
    watchman, deployment = Watchman(sim), Deployment(sim, POLICY)
    for minute in range(300):
        deployment.run(60)
        is_flying = any(not roll.is_finished for roll in deployment.world.ledger.load("demo").rolls)
        if not is_flying and len(watchman.openings) >= OPENINGS:
            break
        sim.set_ready("kept0", ready=minute % 9 not in (3, 4))
    return watchman, deployment


@pytest.fixture(scope="module")
def all_rolled() -> list[tuple[Watchman, Deployment]]:
    return [roll_all(mixed_cluster(seed, timings)) for seed in SEEDS for timings in TIMINGS]


def test_each_of_two_hundred_openings_takes_one_node_and_none_takes_two(all_rolled):
    took: Counter[int] = sum((watchman.histogram() for watchman, _ in all_rolled), Counter())

    print(f"\nnodes taken per opening: {dict(took)}")
    assert set(took) <= {0, 1}, "a gate that nobody took a node through is shut unused; two never go"
    assert took[1] >= 195
    assert [broken for watchman, _ in all_rolled for broken in watchman.broken] == []


def test_the_gate_is_shut_within_a_second_after_karpenter_took_the_node(all_rolled):
    openings = [opening for watchman, _ in all_rolled for opening in watchman.openings]
    seconds = sorted((o.closed_at - o.taken[0].at).total_seconds() for o in openings if o.closed_at and o.taken)

    print(f"\nfrom the sign to the shut gate: median {seconds[len(seconds) // 2]} s, longest {seconds[-1]} s")
    assert len(seconds) >= 195
    assert seconds[-1] <= 1.0


def test_the_gate_is_left_as_it_was_and_other_reasons_never_moved(all_rolled):
    for watchman, deployment in all_rolled:
        written = [from_objects(list(change.after)) for change in watchman.sim.witness.budgets]

        assert deployment.world.cluster.get_nodepool("app").budgets == from_objects(GATE)
        assert {repr(limits_of(budgets, "Empty")) for budgets in written} == {"[('20%', '', '')]"}
        assert {repr(limits_of(budgets, "Underutilized")) for budgets in written} == {"[('0', '', '')]"}


def test_nodes_that_something_keeps_are_still_there(all_rolled):
    for watchman, _ in all_rolled:
        assert {node.name for node in watchman.sim.store.all_of(NODES)} >= KEPT


def test_no_opening_came_while_a_node_was_sick(all_rolled):
    for watchman, deployment in all_rolled:
        held = [report for report in deployment.reports if report.plan and "NODE_NOT_READY" in codes(report.plan)]

        assert held
        assert all(report.opened == [] for report in held)
        assert watchman.openings


def codes(plan) -> set[str]:
    return {str(hold.code) for pool in plan.pools for hold in pool.action.reasons}
