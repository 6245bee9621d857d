"""Whatever people do to budgets and nodes, the model keeps Karpenter's own promises."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from driftgate.domain.allowance import allowed
from driftgate.domain.budget import DisruptionReason, from_objects
from driftgate.sim.kinds import NODECLAIMS, NODES, PODS
from tests.sim_clusters import drifted_cluster, names_of

BUDGETS = st.lists(
    st.sampled_from(
        [
            {"nodes": "0", "reasons": ["Drifted"]},
            {"nodes": "1", "reasons": ["Drifted"]},
            {"nodes": "2"},
            {"nodes": "50%"},
            {"nodes": "0", "schedule": "12 2 * * *", "duration": "2m"},
            {"nodes": "0", "reasons": ["Empty"]},
        ]
    ),
    max_size=3,
)
STEP = st.one_of(
    st.tuples(st.just("budgets"), BUDGETS),
    st.tuples(st.just("wait"), st.sampled_from([0.03, 0.5, 7, 31, 200])),
    st.tuples(st.just("ready"), st.booleans()),
    st.tuples(st.just("interrupt"), st.integers(0, 5)),
    st.tuples(st.just("restart"), st.none()),
)


def play(sim, steps):
    for step, value in steps:
        if step == "budgets":
            sim.set_budgets("app", value)
        elif step == "wait":
            sim.advance(value)
        elif step == "ready":
            sim.set_ready("a5", ready=value)
        elif step == "interrupt" and sim.store.get(NODES, f"a{value}") is not None:
            sim.interrupt(f"a{value}")
        elif step == "restart":
            sim.karpenter.restart()


@settings(deadline=None, max_examples=60)
@given(pods=st.sampled_from([0, 2, 4]), steps=st.lists(STEP, max_size=12))
def test_karpenter_never_starts_more_than_the_budgets_that_it_saw_allow(pods, steps):
    sim = drifted_cluster(6, pods=pods)

    play(sim, steps)

    for taken in sim.witness.disruptions:
        budgets, decided_at = from_objects(list(taken.seen_budgets)), taken.at - timedelta(seconds=0.06)
        limit = allowed(budgets, 12, decided_at, DisruptionReason.DRIFTED)
        assert limit is None or limit >= 1


@settings(deadline=None, max_examples=60)
@given(pods=st.sampled_from([0, 2, 4]), steps=st.lists(STEP, max_size=12))
def test_in_the_end_every_command_has_an_end_and_no_pod_is_lost(pods, steps):
    sim = drifted_cluster(6, pods=pods)

    play(sim, steps)
    sim.set_budgets("app", [{"nodes": "0"}])
    sim.advance(3600)

    ended = {ending.claim for ending in sim.witness.endings}
    assert {taken.claim for taken in sim.witness.disruptions} <= ended
    assert len(names_of(sim, PODS)) == 6 * pods
    assert all(pod.obj["spec"].get("nodeName") in names_of(sim, NODES) for pod in sim.store.all_of(PODS))  # type: ignore[attr-defined]
    assert len(names_of(sim, NODECLAIMS)) == len(names_of(sim, NODES))
