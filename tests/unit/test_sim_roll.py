"""One node from the decision to its end: replacement, drain, roll back, and what keeps a node from being taken."""

from datetime import timedelta

import pytest

from driftgate.sim.kinds import NODECLAIMS, NODES, PODS, VOLUME_ATTACHMENTS
from driftgate.sim.launching import Launch
from driftgate.sim.manifests import NEW_IMAGE
from driftgate.sim.objects import condition_is_true, is_deleting, taint_keys
from driftgate.sim.timings import Timings
from tests.sim_clusters import NOW, OPEN, SHUT, drifted_cluster, empty_cluster, get, send

CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
WEB = {"app": "web"}


def open_for_one(sim):
    """As driftgate does it: shut again as soon as a node is taken."""
    before = len(sim.witness.disruptions)
    sim.set_budgets("app", OPEN)
    for _ in range(300):
        if len(sim.witness.disruptions) > before:
            break
        sim.advance(0.1)
    sim.set_budgets("app", SHUT)


def claims(sim):
    return [stored.name for stored in sim.store.all_of(NODECLAIMS)]


def claim(sim, name="app-a0"):
    return get(sim, f"{CLAIMS}/{name}")


def nodes(sim):
    return [stored.name for stored in sim.store.all_of(NODES)]


def replacement(sim):
    (name,) = [name for name in claims(sim) if not name.startswith("app-a")]
    return name


def pods_by_node(sim):
    placed = [pod.obj["spec"].get("nodeName", "") for pod in sim.store.all_of(PODS)]
    return {node: placed.count(node) for node in set(placed)}


def test_a_full_node_is_replaced_before_it_goes():
    sim = drifted_cluster(2, pods=4)

    open_for_one(sim)
    sim.advance(40)
    while_waiting = nodes(sim)
    sim.advance(60)

    new = replacement(sim)
    assert "a0" in while_waiting
    assert claims(sim) == sorted(["app-a1", new])
    assert get(sim, f"{CLAIMS}/{new}")["status"]["imageID"] == NEW_IMAGE
    assert len(nodes(sim)) == 2


def test_the_pods_of_the_old_node_end_on_the_new_one():
    sim = drifted_cluster(1, pods=4)

    open_for_one(sim)
    sim.advance(120)

    (node,) = nodes(sim)
    assert pods_by_node(sim) == {node: 4}
    assert all(condition_is_true(pod.obj, "Ready") for pod in sim.store.all_of(PODS))


def test_a_node_whose_pods_fit_elsewhere_needs_no_replacement():
    sim = drifted_cluster(1, pods=2)
    sim.add_node("app", "b0", pods=2)

    open_for_one(sim)
    sim.advance(60)

    assert nodes(sim) == ["b0"]
    assert pods_by_node(sim) == {"b0": 4}
    assert sim.witness.disruptions[0].replacements == 0


def test_a_replacement_comes_up_in_steps():
    sim = drifted_cluster(1, pods=4, timings=Timings(launch_s=3, register_s=28, initialize_s=15))
    open_for_one(sim)
    sim.advance(1)
    new = replacement(sim)

    def step():
        obj = get(sim, f"{CLAIMS}/{new}")
        return [condition_is_true(obj, kind) for kind in ("Launched", "Registered", "Initialized", "Ready")]

    steps = [step()]
    for wait in (3, 28, 15):
        sim.advance(wait)
        steps.append(step())

    assert steps == [[False] * 4, [True, False, False, False], [True, True, False, False], [True] * 4]


def test_a_replacement_that_never_initializes_rolls_the_node_back_after_ten_minutes_and_stays():
    sim = drifted_cluster(1, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.NEVER_INITIALIZES)

    open_for_one(sim)
    sim.advance(598)
    before = list(sim.witness.endings)
    sim.advance(5)

    assert before == []
    assert [(ending.kind, ending.node) for ending in sim.witness.endings] == [("rolled_back", "a0")]
    assert sim.witness.rolled() == 0
    assert taint_keys(get(sim, "/api/v1/nodes/a0")) == []
    assert len(claims(sim)) == 2


def test_a_replacement_without_capacity_rolls_the_node_back_at_once():
    sim = drifted_cluster(1, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.NO_CAPACITY)

    open_for_one(sim)
    sim.advance(20)

    assert [ending.kind for ending in sim.witness.endings if ending.node == "a0"] == ["rolled_back"]
    assert claims(sim) == ["app-a0"]


def test_a_replacement_that_never_registers_is_deleted_after_fifteen_minutes():
    sim = drifted_cluster(1, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.NEVER_REGISTERS)

    open_for_one(sim)
    sim.advance(890)
    before = len(claims(sim))
    sim.advance(30)

    assert (before, claims(sim)) == (2, ["app-a0"])


def test_a_node_that_was_rolled_back_is_the_first_to_be_taken_again():
    sim = drifted_cluster(2, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.NO_CAPACITY)
    open_for_one(sim)
    sim.advance(60)

    open_for_one(sim)

    assert sim.witness.nodes() == ["a0", "a0"]


def test_a_replacement_may_turn_sick_after_it_was_ready():
    sim = drifted_cluster(1, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.TURNS_SICK)

    open_for_one(sim)
    sim.advance(120)

    (node,) = sim.store.all_of(NODES)
    assert not condition_is_true(node.obj, "Ready")


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

    open_for_one(sim)
    sim.advance(290)
    draining = nodes(sim)
    sim.advance(30)

    assert sim.witness.nodes() == ["a0"]
    assert (draining, nodes(sim)) == (["a0"], [])


def test_a_pdb_that_gives_out_during_the_drain_holds_the_slot():
    sim = drifted_cluster(2)
    sim.add_pod("a0", "web-0", labels=WEB)
    sim.add_pod("a0", "web-1", labels=WEB)
    sim.add_pdb("web", WEB, max_unavailable=1)
    sim.add_pod("a1", "web-2", labels=WEB, ready=False)
    sim.set_budgets("app", OPEN)

    sim.advance(600)

    pdb = get(sim, "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")["status"]
    assert pdb == {"expectedPods": 3, "currentHealthy": 2, "desiredHealthy": 2, "disruptionsAllowed": 0}
    assert sim.witness.nodes() == []


def test_a_daemonset_pod_holds_nothing_up():
    sim = drifted_cluster(1)
    sim.add_pod("a0", "logs", owner=("DaemonSet", "logs"))

    open_for_one(sim)
    sim.advance(30)

    assert nodes(sim) == []
    assert sim.store.all_of(PODS) == []


def test_an_attached_volume_holds_the_node_until_it_is_detached():
    sim = drifted_cluster(1)
    volume = sim.add_volume_attachment("a0")
    open_for_one(sim)

    sim.advance(60)
    held = nodes(sim)
    sim.writes.delete(VOLUME_ATTACHMENTS, volume, "csi")
    sim.advance(10)

    assert (held, nodes(sim)) == (["a0"], [])


@pytest.mark.parametrize(
    ("limits", "rolls"),
    [({"cpu": "8"}, True), ({"cpu": "4"}, False), ({"nodes": "2"}, True), ({"nodes": "1"}, False)],
)
def test_limits_leave_out_the_leaving_node(limits, rolls):
    sim = drifted_cluster(2, pods=4, limits=limits)

    open_for_one(sim)

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

    open_for_one(sim)
    sim.advance(200)

    assert len(claims(sim)) == 2


def test_an_expired_node_leaves_whatever_the_budget_says():
    sim = empty_cluster()
    sim.add_node("app", "a0", expire_after="1h", pods=4)

    sim.advance(3590)
    before = nodes(sim)
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

    assert (nodes(sim), claims(sim)) == ([], [])
    assert [entry.reason for entry in sim.witness.departures] == ["Deleted"]


def test_pods_without_a_home_get_a_new_node():
    sim = empty_cluster()
    sim.add_node("app", "a0", pods=4)
    sim.interrupt("a0")

    sim.advance(120)

    (node,) = nodes(sim)
    assert pods_by_node(sim) == {node: 4}


def test_a_node_that_has_just_got_a_pod_is_no_candidate_for_twenty_seconds():
    sim = drifted_cluster(1)
    sim.advance(5)
    sim.add_pod(name="pending")
    sim.set_budgets("app", OPEN)

    sim.advance(14)
    early = sim.witness.nodes()
    sim.advance(20)

    assert (early, sim.witness.nodes()) == ([], ["a0"])


def test_a_new_image_marks_the_nodes_drifted_and_the_old_one_takes_it_back():
    sim = empty_cluster()
    sim.add_node("app", "a0")
    sim.advance(1)

    sim.set_image("std", "ami-0ccc00000000000c3")
    sim.advance(1)
    drifted = condition_is_true(claim(sim), "Drifted")
    sim.set_image("std", NEW_IMAGE)
    sim.advance(1)

    assert drifted
    assert not condition_is_true(claim(sim), "Drifted")


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


def test_a_nodeclaim_on_its_way_out_is_drained_for_at_least_five_seconds():
    sim = drifted_cluster(1)
    open_for_one(sim)

    sim.advance(4.8)
    early = condition_is_true(claim(sim), "Drained")
    sim.advance(0.5)

    assert is_deleting(claim(sim))
    assert (early, condition_is_true(claim(sim), "Drained")) == (False, True)
