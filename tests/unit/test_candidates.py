"""Which drifted node Karpenter takes next, and what keeps the others."""

from dataclasses import replace
from datetime import timedelta

import pytest

from driftgate.domain.candidates import (
    blocked,
    candidates,
    eligible,
    expires_at,
    facts_for,
    may_go_first,
    next_candidate,
)
from driftgate.domain.members import members_by_pool
from driftgate.domain.reasons import ReasonCode as Code
from tests.factories import (
    NOW,
    at,
    condition,
    daemon_pod,
    node,
    nodeclaim,
    observation,
    pair,
    pdb,
    pod,
    volume_attachment,
)

OLDEST, OLDER, OLD = "2026-10-05T08:00:00Z", "2026-10-06T08:00:00Z", "2026-10-07T08:00:00Z"


def judged(pairs, expires_by=None, **fields):
    seen = observation(pairs, **fields)
    members = [m for pool in members_by_pool(seen.nodeclaims, seen.nodes).values() for m in pool]
    return candidates(members, facts_for(seen, members, expires_by))


def one(claim, pods=(), pdbs=(), found_node=None, **fields):
    """The only candidate: node a1 with this claim."""
    (candidate,) = judged([(claim, found_node or node("a1"))], pods=tuple(pods), pdbs=tuple(pdbs), **fields)
    return candidate


def codes(holds):
    return [hold.code for hold in holds]


class TestOrder:
    def test_t12_an_empty_node_goes_first_then_the_one_drifted_longest(self):
        found = judged(
            [pair("a1", drifted=OLDEST), pair("a2", drifted=OLDER), pair("a3", drifted=OLD)],
            pods=(pod("web-0", "a1"), pod("web-1", "a2"), daemon_pod(node="a3")),
        )

        assert eligible(found) == ("a3", "a1", "a2")

    def test_any_that_drifted_in_the_same_second_as_the_next_may_go_first(self):
        found = judged(
            [pair("a1", drifted=OLD), pair("a2", drifted=OLD), pair("a3", drifted=OLDEST), pair("a4", drifted=OLDER)],
            pods=(pod("web-2", "a3"),),
        )

        assert [candidate.name for candidate in may_go_first(found, is_static=False)] == ["a4"]
        assert [candidate.name for candidate in may_go_first(found[1:], is_static=False)] == ["a1", "a2"]

    def test_a_kept_node_does_not_go_first(self):
        kept = nodeclaim("a1", drifted=OLDEST), node("a1", annotations={"karpenter.sh/do-not-disrupt": "true"})

        found = judged([kept, pair("a2", drifted=OLDER)])

        assert [candidate.name for candidate in may_go_first(found, is_static=False)] == ["a2"]

    def test_in_a_static_pool_any_may_go_first(self):
        found = judged([pair("a1", drifted=OLDEST), pair("a2", drifted=OLDER)], pods=(pod("web-0", "a1"),))

        assert {candidate.name for candidate in may_go_first(found, is_static=True)} == {"a1", "a2"}

    def test_equal_times_are_ordered_by_name(self):
        found = judged([pair("b", drifted=OLD), pair("a", drifted=OLD)], pods=(pod("x-0", "a"), pod("y-0", "b")))

        assert eligible(found) == ("a", "b")

    def test_a_drifted_condition_without_a_time_comes_first_as_gos_zero_time_does(self):
        timeless = nodeclaim("a2", drifted=OLD, conditions={"Drifted": condition(reason="AMIDrift")})

        found = judged([pair("a1", drifted=OLDEST), (timeless, node("a2"))])

        assert eligible(found) == ("a2", "a1")

    def test_pools_are_ordered_together(self):
        found = judged([pair("a1", "app", drifted=OLD), pair("w1", "web", drifted=OLDEST)])

        assert eligible(found) == ("w1", "a1")

    def test_nodes_that_are_not_drifted_are_no_candidates(self):
        assert judged([pair("a1")]) == ()

    def test_the_next_one_skips_those_that_are_kept(self):
        found = judged(
            [pair("a1", drifted=OLDEST), pair("a2", drifted=OLDER)],
            pods=(pod("web-0", "a1"), pod("api-0", "a2")),
            pdbs=(pdb("web", disruptions_allowed=0),),
        )

        following = next_candidate(found)
        assert following is not None
        assert following.name == "a2"

    def test_without_an_eligible_one_there_is_no_next(self):
        found = judged([pair("a1", drifted=OLD)], pods=(pod(),), pdbs=(pdb(disruptions_allowed=0),))

        assert next_candidate(found) is None


class TestEmptiness:
    @pytest.mark.parametrize(
        ("description", "fields"),
        [
            ("of a DaemonSet", {"owner_kind": "DaemonSet"}),
            ("mirrored", {"owner_kind": "Node", "is_mirror": True}),
            ("finished", {"phase": "Succeeded"}),
            ("failed", {"phase": "Failed"}),
            ("going", {"deleted_at": NOW}),
        ],
    )
    def test_a_node_is_empty_with_only_a_pod_that_is(self, description, fields):
        assert one(nodeclaim(drifted=OLD), [pod(**fields)]).is_empty

    def test_a_statefulsets_going_pod_still_needs_room(self):
        found = one(nodeclaim(drifted=OLD), [pod(owner_kind="StatefulSet", deleted_at=NOW)])

        assert not found.is_empty

    def test_karpenter_1_5_and_1_6_never_take_an_empty_node_for_drift(self):
        found = one(nodeclaim(drifted=OLD), [daemon_pod()], karpenter_version="1.6.1")

        assert codes(found.blockers) == [Code.VERSION_SKIPS_EMPTY]

    @pytest.mark.parametrize("version", ["1.4.0", "1.5.5", "1.6.4", "1.7.0", None])
    def test_other_versions_take_an_empty_node(self, version):
        assert one(nodeclaim(drifted=OLD), karpenter_version=version).is_eligible


class TestNode:
    def test_a_claim_without_a_node_is_not_initialized(self):
        (found,) = candidates(members_by_pool([nodeclaim(drifted=OLD)], [])["app"], facts_for(observation(), (), None))

        assert codes(found.blockers) == [Code.NOT_INITIALIZED]
        assert found.blockers[0].objects == ("nodeclaim/app-a1",)

    def test_a_node_without_the_initialized_label_is_kept(self):
        found = one(nodeclaim(drifted=OLD), found_node=node(labels={"karpenter.sh/nodepool": "app"}))

        assert codes(found.blockers) == [Code.NOT_INITIALIZED]

    @pytest.mark.parametrize(
        ("description", "claim_fields", "node_fields"),
        [
            ("being deleted", {"deleted_at": NOW}, {}),
            ("taken by a command", {"taken": "Drifted"}, {}),
            ("tainted by a command", {}, {"taints": ("karpenter.sh/disrupted",)}),
            ("whose Node is being deleted", {}, {"deleted_at": NOW}),
        ],
    )
    def test_a_node_is_going_when_it_is(self, description, claim_fields, node_fields):
        found = one(nodeclaim(drifted=OLD, **claim_fields), found_node=node(**node_fields))

        assert codes(found.blockers) == [Code.DELETING]

    def test_a_node_whose_machine_is_being_ended_is_going(self):
        claim = nodeclaim(drifted=OLD)
        claim = replace(claim, conditions={**claim.conditions, "InstanceTerminating": condition()})

        assert codes(one(claim).blockers) == [Code.DELETING]

    def test_do_not_disrupt_on_the_node_keeps_it_even_with_a_grace_period(self):
        found = one(
            nodeclaim(drifted=OLD, termination_grace_period="1h"),
            found_node=node(annotations={"karpenter.sh/do-not-disrupt": "true"}),
        )

        assert codes(found.blockers) == [Code.NODE_DO_NOT_DISRUPT]

    def test_do_not_disrupt_on_the_node_counts_only_as_exactly_true(self):
        found = one(nodeclaim(drifted=OLD), found_node=node(annotations={"karpenter.sh/do-not-disrupt": "True"}))

        assert found.is_eligible

    def test_do_not_disrupt_on_the_nodeclaim_has_no_effect(self):
        assert one(nodeclaim(drifted=OLD, annotations={"karpenter.sh/do-not-disrupt": "true"})).is_eligible

    def test_a_pending_pod_promised_to_the_node_keeps_it(self):
        found = one(nodeclaim(drifted=OLD), [pod(scheduled=False, phase="Pending")])

        assert codes(found.blockers) == [Code.NOMINATED]
        assert found.is_empty

    @pytest.mark.parametrize("key", ["karpenter.sh/do-not-drift", "driftgate.dev/do-not-roll"])
    def test_annotations_that_karpenter_does_not_know_make_a_node_unwanted_but_not_kept(self, key):
        found = one(nodeclaim(drifted=OLD), found_node=node(annotations={key: "true"}))

        assert found.is_eligible
        assert codes(found.unwanted) == [Code.DO_NOT_DRIFT]
        assert found.unwanted[0].objects == ("node/a1",)

    def test_the_nodeclaims_own_annotation_counts_too(self):
        found = one(nodeclaim(drifted=OLD, annotations={"driftgate.dev/do-not-roll": "payroll"}))

        assert found.unwanted[0].objects == ("nodeclaim/app-a1",)


class TestDoNotDisruptPods:
    def test_a_pod_that_asks_for_it_keeps_the_node(self):
        found = one(nodeclaim(drifted=OLD), [pod(annotations={"karpenter.sh/do-not-disrupt": "true"})])

        assert codes(found.blockers) == [Code.POD_DO_NOT_DISRUPT]
        assert found.blockers[0].objects == ("pod/shop/web-0",)
        assert found.blockers[0].until is None

    def test_a_daemonsets_pod_that_asks_for_it_keeps_the_node_too(self):
        asks = {"karpenter.sh/do-not-disrupt": "true"}

        assert not one(nodeclaim(drifted=OLD), [daemon_pod(annotations=asks)]).is_eligible

    def test_a_finished_pod_asks_in_vain(self):
        asks = {"karpenter.sh/do-not-disrupt": "true"}

        assert one(nodeclaim(drifted=OLD), [pod(annotations=asks, phase="Succeeded")]).is_eligible

    @pytest.mark.parametrize(
        ("age", "is_kept"), [(timedelta(minutes=59, seconds=59), True), (timedelta(hours=1), False)]
    )
    def test_a_duration_counts_from_the_pods_start_and_excludes_its_end(self, age, is_kept):
        young = pod(annotations={"karpenter.sh/do-not-disrupt": "1h"}, started_at=NOW - age)

        assert one(nodeclaim(drifted=OLD), [young]).is_eligible is not is_kept

    def test_a_duration_names_its_end(self):
        young = pod(annotations={"karpenter.sh/do-not-disrupt": "1h"}, started_at=NOW - timedelta(minutes=10))

        (hold,) = one(nodeclaim(drifted=OLD), [young]).blockers

        assert hold.until == at("2026-10-17T03:00:00Z")

    def test_a_duration_without_a_known_start_keeps_for_ever(self):
        waiting = pod(annotations={"karpenter.sh/do-not-disrupt": "5m"}, started_at=None)

        assert one(nodeclaim(drifted=OLD), [waiting]).blockers[0].until is None

    @pytest.mark.parametrize("value", ["false", "yes", "", "0s", "-5m", "1d"])
    def test_anything_else_is_ignored_as_karpenter_ignores_it(self, value):
        assert one(nodeclaim(drifted=OLD), [pod(annotations={"karpenter.sh/do-not-disrupt": value})]).is_eligible

    def test_before_1_12_a_duration_is_ignored(self):
        young = pod(annotations={"karpenter.sh/do-not-disrupt": "1h"}, started_at=NOW)

        assert one(nodeclaim(drifted=OLD), [young], karpenter_version="1.11.2").is_eligible

    def test_of_an_unknown_version_the_careful_reading_counts(self):
        young = pod(annotations={"karpenter.sh/do-not-disrupt": "1h"}, started_at=NOW)

        assert not one(nodeclaim(drifted=OLD), [young], karpenter_version=None).is_eligible


class TestDisruptionBudgetsOfPods:
    def test_a_budget_at_zero_keeps_the_node(self):
        found = one(nodeclaim(drifted=OLD), [pod()], [pdb(disruptions_allowed=0)])

        assert codes(found.blockers) == [Code.PDB_EXHAUSTED]
        assert found.blockers[0].objects == ("pdb/shop/web",)

    def test_t25_a_budget_that_can_never_allow_one_says_so(self):
        never = pdb(min_available="2", max_unavailable=None, expected_pods=2, disruptions_allowed=0)

        found = one(nodeclaim(drifted=OLD), [pod()], [never])

        assert codes(found.blockers) == [Code.PDB_EXHAUSTED, Code.PDB_NEVER_ALLOWS]
        assert "minAvailable 2 of 2" in found.blockers[1].message

    def test_t25_one_eligible_node_is_left_beside_two_that_are_held(self):
        found = judged(
            [pair("a1", drifted=OLDEST), pair("a2", drifted=OLDER), pair("a3", drifted=OLD)],
            pods=(pod("web-0", "a1"), pod("web-1", "a2"), pod("api-0", "a3")),
            pdbs=(pdb("web", disruptions_allowed=0), pdb("api")),
        )

        assert eligible(found) == ("a3",)
        assert [line.node for line in blocked(found)] == ["a1", "a2"]

    def test_a_budget_that_allows_one_keeps_nothing(self):
        assert one(nodeclaim(drifted=OLD), [pod()], [pdb()]).is_eligible

    def test_a_budget_of_another_namespace_keeps_nothing(self):
        assert one(nodeclaim(drifted=OLD), [pod()], [pdb(namespace="ops", disruptions_allowed=0)]).is_eligible

    def test_a_budget_without_a_selector_covers_nothing(self):
        assert one(nodeclaim(drifted=OLD), [pod()], [pdb(selector=None, disruptions_allowed=0)]).is_eligible

    def test_a_budget_with_an_empty_selector_covers_the_namespace(self):
        assert not one(nodeclaim(drifted=OLD), [pod()], [pdb(selector=(), disruptions_allowed=0)]).is_eligible

    def test_a_pod_under_two_budgets_keeps_the_node_although_both_allow(self):
        found = one(nodeclaim(drifted=OLD), [pod()], [pdb(), replace(pdb(), name="all", selector=())])

        assert codes(found.blockers) == [Code.TWO_PDBS]
        assert found.blockers[0].objects == ("pdb/shop/all", "pdb/shop/web", "pod/shop/web-0")

    def test_an_unready_pod_under_always_allow_keeps_nothing(self):
        lenient = pdb(disruptions_allowed=0, unhealthy_pod_eviction_policy="AlwaysAllow")

        assert one(nodeclaim(drifted=OLD), [pod(ready=False)], [lenient]).is_eligible
        assert not one(nodeclaim(drifted=OLD), [pod(ready=True)], [lenient]).is_eligible

    @pytest.mark.parametrize(
        ("description", "fields"),
        [
            ("tolerates the taint", {"tolerates_disruption": True}),
            ("mirrors a static pod", {"is_mirror": True, "owner_kind": "Node"}),
            ("has ended", {"phase": "Succeeded"}),
            ("is going", {"deleted_at": NOW}),
        ],
    )
    def test_a_budget_at_zero_does_not_matter_for_a_pod_that(self, description, fields):
        assert one(nodeclaim(drifted=OLD), [pod(**fields)], [pdb(disruptions_allowed=0)]).is_eligible

    def test_a_daemonsets_pod_is_evicted_so_its_budget_matters(self):
        found = one(
            nodeclaim(drifted=OLD),
            [daemon_pod(labels={"app": "proxy"})],
            [pdb("proxy", "kube-system", disruptions_allowed=0)],
        )

        assert not found.is_eligible

    def test_a_protected_pod_is_not_asked_for_its_budgets(self):
        asks = pod(annotations={"karpenter.sh/do-not-disrupt": "true"})

        found = one(nodeclaim(drifted=OLD), [asks], [pdb(disruptions_allowed=0)])

        assert codes(found.blockers) == [Code.POD_DO_NOT_DISRUPT]


class TestTerminationGracePeriod:
    def test_with_one_even_zero_pods_do_not_keep_drift_out(self):
        asks = pod(annotations={"karpenter.sh/do-not-disrupt": "true"})

        found = one(
            nodeclaim(drifted=OLD, termination_grace_period="0s"),
            [asks, pod("api-0")],
            [pdb("api", disruptions_allowed=0)],
        )

        assert found.is_eligible
        assert codes(found.overridden) == [Code.POD_DO_NOT_DISRUPT, Code.PDB_EXHAUSTED]
        assert codes(found.would_force) == [Code.POD_DO_NOT_DISRUPT]


class TestNotes:
    def test_a_node_that_expires_before_we_are_done_is_noted_and_stays_eligible(self):
        claim = nodeclaim(drifted=OLD, created_at=at("2026-09-17T03:00:00Z"), expire_after="720h")

        found = one(claim, expires_by=at("2026-10-17T05:00:00Z"))

        assert found.is_eligible
        assert codes(found.notes) == [Code.EXPIRES_FIRST]
        assert found.notes[0].until == at("2026-10-17T03:00:00Z")

    @pytest.mark.parametrize("after", ["Never", None, "soon"])
    def test_without_a_readable_end_nothing_expires(self, after):
        assert expires_at(nodeclaim(expire_after=after)) is None

    def test_a_volume_that_has_been_detaching_for_long_is_noted(self):
        seven_minutes = NOW - timedelta(minutes=7)

        found = one(nodeclaim(drifted=OLD), volume_attachments=(volume_attachment(deleted_at=seven_minutes),))

        assert codes(found.notes) == [Code.VOLUME_STUCK]
        assert found.notes[0].objects == ("volumeattachment/csi-1", "node/a1")

    def test_a_volume_that_says_why_it_does_not_detach_is_noted_at_once(self):
        volume = volume_attachment(deleted_at=NOW, error="still in use")

        (note,) = one(nodeclaim(drifted=OLD), volume_attachments=(volume,)).notes

        assert note.message == "csi-1 does not detach: still in use"

    @pytest.mark.parametrize("node", ["a1", "b7"])
    def test_an_attached_volume_is_not_noted(self, node):
        assert one(nodeclaim(drifted=OLD), volume_attachments=(volume_attachment(node=node),)).notes == ()

    def test_a_volume_that_just_began_to_detach_is_not(self):
        found = one(nodeclaim(drifted=OLD), volume_attachments=(volume_attachment(deleted_at=NOW),))

        assert found.notes == ()
