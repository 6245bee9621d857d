"""One node from the decision to its end: replacement, drain, and what is taken back."""

from driftgate.sim.kinds import NODECLAIMS, NODES, PODS, VOLUME_ATTACHMENTS
from driftgate.sim.launching import Launch
from driftgate.sim.manifests import NEW_IMAGE
from driftgate.sim.objects import condition_is_true, is_deleting, taint_keys
from driftgate.sim.timings import Timings
from tests.sim_clusters import OPEN, claim_of, drifted_cluster, get, names_of, take_one

CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
WEB = {"app": "web"}


def replacement(sim):
    (name,) = [name for name in names_of(sim, NODECLAIMS) if not name.startswith("app-a")]
    return name


def pods_by_node(sim):
    placed = [pod.obj["spec"].get("nodeName", "") for pod in sim.store.all_of(PODS)]
    return {node: placed.count(node) for node in set(placed)}


def test_a_full_node_is_replaced_before_it_goes():
    sim = drifted_cluster(2, pods=4)

    take_one(sim)
    sim.advance(40)
    while_waiting = names_of(sim, NODES)
    sim.advance(60)

    new = replacement(sim)
    assert "a0" in while_waiting
    assert names_of(sim, NODECLAIMS) == sorted(["app-a1", new])
    assert get(sim, f"{CLAIMS}/{new}")["status"]["imageID"] == NEW_IMAGE
    assert len(names_of(sim, NODES)) == 2


def test_the_pods_of_the_old_node_end_on_the_new_one():
    sim = drifted_cluster(1, pods=4)

    take_one(sim)
    sim.advance(120)

    (node,) = names_of(sim, NODES)
    assert pods_by_node(sim) == {node: 4}
    assert all(condition_is_true(pod.obj, "Ready") for pod in sim.store.all_of(PODS))


def test_a_node_whose_pods_fit_elsewhere_needs_no_replacement():
    sim = drifted_cluster(1, pods=2)
    sim.add_node("app", "b0", pods=2)

    take_one(sim)
    sim.advance(60)

    assert names_of(sim, NODES) == ["b0"]
    assert pods_by_node(sim) == {"b0": 4}
    assert sim.witness.disruptions[0].replacements == 0


def test_a_replacement_comes_up_in_steps():
    sim = drifted_cluster(1, pods=4, timings=Timings(launch_s=3, register_s=28, initialize_s=15))
    take_one(sim)
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

    take_one(sim)
    sim.advance(598)
    before = list(sim.witness.endings)
    sim.advance(5)

    assert before == []
    assert [(ending.kind, ending.node) for ending in sim.witness.endings] == [("rolled_back", "a0")]
    assert sim.witness.rolled() == 0
    assert taint_keys(get(sim, "/api/v1/nodes/a0")) == []
    assert len(names_of(sim, NODECLAIMS)) == 2


def test_a_replacement_without_capacity_rolls_the_node_back_at_once():
    sim = drifted_cluster(1, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.NO_CAPACITY)

    take_one(sim)
    sim.advance(20)

    assert [ending.kind for ending in sim.witness.endings if ending.node == "a0"] == ["rolled_back"]
    assert names_of(sim, NODECLAIMS) == ["app-a0"]


def test_a_launch_that_never_ends_pauses_all_disruption_and_is_given_up_after_five_minutes():
    sim = drifted_cluster(2, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.NEVER_LAUNCHES)
    sim.set_budgets("app", [{"nodes": "2"}])

    sim.advance(300)
    while_launching = sim.witness.nodes()
    sim.advance(30)

    assert while_launching == ["a0"]
    assert [ending.kind for ending in sim.witness.endings if ending.node == "a0"] == ["rolled_back"]
    assert len(sim.witness.nodes()) > 1


def test_a_replacement_that_never_registers_is_deleted_after_fifteen_minutes():
    sim = drifted_cluster(1, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.NEVER_REGISTERS)

    take_one(sim)
    sim.advance(890)
    before = len(names_of(sim, NODECLAIMS))
    sim.advance(30)

    assert (before, names_of(sim, NODECLAIMS)) == (2, ["app-a0"])


def test_a_node_that_was_rolled_back_is_the_first_to_be_taken_again():
    sim = drifted_cluster(2, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.NO_CAPACITY)
    take_one(sim)
    sim.advance(60)

    take_one(sim)

    assert sim.witness.nodes() == ["a0", "a0"]


def test_a_replacement_may_turn_sick_after_it_was_ready():
    sim = drifted_cluster(1, pods=4)
    sim.karpenter.launching.next_launches.append(Launch.TURNS_SICK)

    take_one(sim)
    sim.advance(120)

    (node,) = sim.store.all_of(NODES)
    assert not condition_is_true(node.obj, "Ready")


def test_a_pdb_slows_the_drain_down_and_the_slot_stays_taken_meanwhile():
    sim = drifted_cluster(2, timings=Timings(pod_start_s=60))
    for name in ("web-0", "web-1"):
        sim.add_pod("a1", name, labels=WEB)
    sim.add_pdb("web", WEB, max_unavailable=1)
    sim.writes.delete(NODECLAIMS, "app-a1", "kubectl")
    sim.set_budgets("app", OPEN)

    sim.advance(60)
    while_draining = (names_of(sim, NODES), sim.witness.nodes())
    sim.advance(30)

    assert while_draining == (["a0", "a1"], [])
    assert "a1" not in names_of(sim, NODES)


def test_a_pdb_counts_its_pods_and_says_how_many_may_go():
    sim = drifted_cluster(1)
    sim.add_pdb("web", WEB, max_unavailable="34%")
    for number, ready in enumerate((True, True, False)):
        sim.add_pod("a0", f"web-{number}", labels=WEB, ready=ready)

    assert get(sim, "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")["status"] == {
        "expectedPods": 3,
        "currentHealthy": 2,
        "desiredHealthy": 1,
        "disruptionsAllowed": 1,
    }


def test_a_daemonset_pod_holds_nothing_up():
    sim = drifted_cluster(1)
    sim.add_pod("a0", "logs", owner=("DaemonSet", "logs"))

    take_one(sim)
    sim.advance(30)

    assert names_of(sim, NODES) == []
    assert sim.store.all_of(PODS) == []


def test_an_attached_volume_holds_the_node_until_it_is_detached():
    sim = drifted_cluster(1)
    volume = sim.add_volume_attachment("a0")
    take_one(sim)

    sim.advance(60)
    held = names_of(sim, NODES)
    sim.writes.delete(VOLUME_ATTACHMENTS, volume, "csi")
    sim.advance(10)

    assert (held, names_of(sim, NODES)) == (["a0"], [])


def test_a_nodeclaim_on_its_way_out_is_drained_for_at_least_five_seconds():
    sim = drifted_cluster(1)
    take_one(sim)

    sim.advance(4.8)
    early = condition_is_true(claim_of(sim), "Drained")
    sim.advance(0.5)

    assert is_deleting(claim_of(sim))
    assert (early, condition_is_true(claim_of(sim), "Drained")) == (False, True)
