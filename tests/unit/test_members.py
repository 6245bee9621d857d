"""How Karpenter counts a pool's nodes, and which of them keep the gate shut."""

from dataclasses import replace

import pytest

from driftgate.domain.members import consuming, drifted, members_by_pool, total
from driftgate.domain.pool_health import health_holds, pause_hold
from driftgate.domain.reasons import ReasonCode as Code
from tests.factories import DRIFTED_SINCE, NOW, condition, node, nodeclaim, pair


def members(*pairs):
    claims, nodes = zip(*pairs, strict=True)
    return members_by_pool(claims, [found for found in nodes if found is not None])["app"]


def terminating(claim):
    return replace(claim, conditions={**claim.conditions, "InstanceTerminating": condition()})


UNINITIALIZED = node(labels={"karpenter.sh/nodepool": "app"})
CASES = [
    ("without a Node", nodeclaim(), None, 0, 0),
    ("not initialized", nodeclaim(), UNINITIALIZED, 0, 0),
    ("its machine being ended", terminating(nodeclaim(deleted_at=NOW)), node(), 0, 0),
    ("initialized and Ready", nodeclaim(), node(), 1, 0),
    ("not Ready", nodeclaim(), node(ready=False), 1, 1),
    ("of unknown readiness", nodeclaim(), replace(node(), ready=condition("Unknown")), 1, 1),
    ("without a Ready condition", nodeclaim(), replace(node(), ready=None), 1, 1),
    ("deleting", nodeclaim(deleted_at=NOW), node(), 1, 1),
    ("deleting and not Ready", nodeclaim(deleted_at=NOW), node(ready=False), 1, 1),
    ("taken", nodeclaim(taken="Underutilized"), node(), 1, 1),
    ("tainted", nodeclaim(), node(taints=("karpenter.sh/disrupted",)), 1, 1),
    ("its Node alone deleting", nodeclaim(), node(deleted_at=NOW), 1, 0),
    ("cordoned", nodeclaim(), node(unschedulable=True), 1, 0),
]


@pytest.mark.parametrize(("state", "claim", "found", "counted", "used"), CASES)
def test_a_node_counts_as_in_karpenter_when_it_is(state, claim, found, counted, used):
    pool = members((claim, found))

    assert (total(pool), consuming(pool)) == (counted, used)


class TestJoining:
    def test_is_by_provider_id_before_the_node_name(self):
        moved = nodeclaim("a1", provider_id="aws:///eu-central-1a/i-a2")

        (member,) = members_by_pool([moved], [node("a1"), node("a2")])["app"]

        assert member.name == "a2"

    def test_is_by_node_name_where_there_is_no_provider_id(self):
        (member,) = members_by_pool([nodeclaim("a1", provider_id="")], [node("a1")])["app"]

        assert member.name == "a1"

    def test_a_node_without_a_claim_belongs_to_no_pool(self):
        assert members_by_pool([], [node()]) == {}


class TestHealth:
    def test_t15_a_sick_node_is_named_with_since_when(self):
        sick = replace(node("a5"), ready=condition("False", since="2026-10-17T01:30:00Z"))

        (hold,) = health_holds(members(pair("a1"), (nodeclaim("a5"), sick)))

        assert (hold.code, hold.objects) == (Code.NODE_NOT_READY, ("node/a5",))
        assert "2026-10-17T01:30:00Z" in hold.message

    def test_t15_a_cordoned_node_holds_too(self):
        (hold,) = health_holds(members((nodeclaim("a5"), node("a5", unschedulable=True))))

        assert (hold.code, hold.objects) == (Code.NODE_CORDONED, ("node/a5",))

    def test_a_deleting_node_is_told_as_going_and_not_as_sick_or_cordoned(self):
        going = nodeclaim("a1", deleted_at=NOW), node("a1", ready=False, unschedulable=True)

        assert [hold.code for hold in health_holds(members(going))] == [Code.NODE_STUCK_DELETING]

    def test_of_many_sick_nodes_three_are_named_and_all_are_listed(self):
        sick = [(nodeclaim(f"a{index}"), node(f"a{index}", ready=False)) for index in range(1, 6)]

        (hold,) = health_holds(members(*sick))

        assert hold.message == "a1, a2, a3 and 2 more not Ready and use up the budget."
        assert hold.objects == ("node/a1", "node/a2", "node/a3", "node/a4", "node/a5")

    def test_a_healthy_pool_holds_nothing(self):
        assert health_holds(members(pair("a1"), pair("a2"))) == ()

    def test_a_node_that_never_became_usable_does_not_use_up_the_budget(self):
        assert health_holds(members((nodeclaim(), replace(UNINITIALIZED, ready=condition("False"))))) == ()

    def test_a_claim_without_a_machine_pauses_the_cluster(self):
        hold = pause_hold([nodeclaim("a1"), nodeclaim("a2", provider_id="", node_name="")])

        assert hold is not None
        assert (hold.code, hold.objects) == (Code.KARPENTER_PAUSED, ("nodeclaim/app-a2",))

    def test_with_all_machines_launched_nothing_is_paused(self):
        assert pause_hold([nodeclaim("a1")]) is None


def test_drifted_leaves_out_those_on_their_way_out():
    going = nodeclaim("a2", drifted=DRIFTED_SINCE, deleted_at=NOW), node("a2")

    assert [member.name for member in drifted(members(pair("a1", drifted=DRIFTED_SINCE), going))] == ["a1"]
