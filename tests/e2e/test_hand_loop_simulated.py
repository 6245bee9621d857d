"""The same hand loop on the simulated cluster: what the model says beside what the real Karpenter does."""

from itertools import pairwise

from driftgate.sim.cluster import SimCluster
from tests.sim_clusters import NOW, OPEN, SHUT, drifted_cluster, seconds, take_one


def test_the_model_rolls_six_nodes_in_a_minute_one_every_ten_seconds(record_property):
    sim = drifted_cluster(8)

    left = hold_open_for_a_minute(sim)

    shown = ", ".join(f"{at:.0f}" for at in left)
    record_property("hand loop, gate open for 60 s: simulated", f"{len(left)} of 8 nodes went, after {shown} s")
    assert len(left) == 6
    assert {round(then - at) for at, then in pairwise(left)} == {10}


def test_the_model_rolls_one_node_when_the_gate_is_shut_at_the_first_sign():
    sim = drifted_cluster(8)

    take_one(sim)
    sim.advance(60)

    assert len(sim.witness.disruptions) == 1


def hold_open_for_a_minute(sim: SimCluster) -> list[float]:
    """Seconds from the opening at which nodes were taken; whoever comes a minute later is counted too."""
    opened = (sim.clock.now() - NOW).total_seconds()
    sim.set_budgets("app", OPEN)
    sim.advance(60)
    sim.set_budgets("app", SHUT)
    sim.advance(60)
    return [at - opened for at in seconds(disruption.at for disruption in sim.witness.disruptions)]
