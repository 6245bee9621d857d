"""What every `ports.Cluster` promises, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from itertools import islice

import pytest

from driftgate.domain.errors import (
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    NodePoolChangedError,
    NodePoolNotFoundError,
    PatchRejectedError,
)
from driftgate.domain.nodepool import ROLL_ANNOTATION
from driftgate.domain.patch import JsonPatch, PatchOperation
from driftgate.ports import ClaimChanged, Cluster, NodeChanged, PoolChange, PoolMembers, Quiet, Relisted
from tests.contract.cluster_objects import (
    GATE,
    Object,
    deployment_object,
    node_object,
    nodeclaim_object,
    nodeclaim_status,
    nodepool_object,
    pdb_object,
    pod_object,
    volume_attachment_object,
)
from tests.contract.cluster_worlds import World

LONG = timedelta(seconds=30)
OPENED = [{"nodes": "10%", "reasons": ["Empty", "Underutilized"]}, {"nodes": "01", "reasons": ["Drifted"]}]
BUDGETS = "/spec/disruption/budgets"
ANNOTATIONS = "/metadata/annotations"


def replace_budgets(budgets: object) -> PatchOperation:
    return PatchOperation(op="replace", path=BUDGETS, value=budgets)


def check(path: str, value: object) -> PatchOperation:
    return PatchOperation(op="test", path=path, value=value)


def budgets_of(cluster: Cluster, pool: str) -> list[dict[str, object]]:
    return [budget.to_object() for budget in cluster.get_nodepool(pool).budgets]


@contextmanager
def watching(cluster: Cluster, pool: str, since: PoolMembers | None = None) -> Iterator[Iterator[PoolChange]]:
    """The changes of the pool, from now or from `since`; the watch ends with the block."""
    changes = cluster.watch_pool(pool, since or cluster.read_pool(pool), LONG)
    assert isinstance(changes, Generator)
    with closing(changes):
        yield changes


def news(changes: Iterator[PoolChange]) -> Iterator[PoolChange]:
    """The changes without the moments in which there was none."""
    return (change for change in changes if not isinstance(change, Quiet))


# --- NodePools ---------------------------------------------------------------------------------------


def test_every_nodepool_is_listed(world: World, pool: str) -> None:
    world.create(nodepool_object(f"{pool}-a"))
    world.create(nodepool_object(f"{pool}-b"))

    names = [found.name for found in world.cluster.list_nodepools() if found.name.startswith(pool)]

    assert sorted(names) == [f"{pool}-a", f"{pool}-b"]


def test_budgets_are_read_exactly_as_stored(world: World, pool: str) -> None:
    budgets: list[Object] = [
        {"nodes": "00", "reasons": ["Drifted"], "schedule": "5 2 17 10 *", "duration": "8736h"},
        {"nodes": "20%"},
        {"nodes": "1", "reasons": []},
    ]
    world.create(nodepool_object(pool, budgets))

    assert budgets_of(world.cluster, pool) == budgets


def test_a_nodepool_without_annotations_is_told_from_one_with_some(world: World, pool: str) -> None:
    world.create(nodepool_object(f"{pool}-without"))
    world.create(nodepool_object(f"{pool}-with", annotations={"team": "shop"}))

    assert world.cluster.get_nodepool(f"{pool}-without").annotations is None
    assert world.cluster.get_nodepool(f"{pool}-with").annotations == {"team": "shop"}


@pytest.mark.parametrize("name", ["no-such-pool", "No Such Pool", "..", "a/b", ""])
def test_a_nodepool_that_is_not_there_is_not_found(world: World, name: str) -> None:
    with pytest.raises(NodePoolNotFoundError):
        world.cluster.get_nodepool(name)
    with pytest.raises(NodePoolNotFoundError):
        world.cluster.patch_nodepool(name, (replace_budgets(OPENED),))


# --- patches -----------------------------------------------------------------------------------------


def test_a_patch_gives_the_nodepool_as_stored(world: World, pool: str) -> None:
    world.create(nodepool_object(pool))
    before = world.cluster.get_nodepool(pool)
    patch: JsonPatch = (
        check("/metadata/generation", before.generation),
        check(BUDGETS, GATE),
        check("/metadata/resourceVersion", before.resource_version),
        PatchOperation(op="add", path=ANNOTATIONS, value={ROLL_ANNOTATION: "{}"}),
        replace_budgets(OPENED),
    )

    after = world.cluster.patch_nodepool(pool, patch)

    assert [budget.to_object() for budget in after.budgets] == OPENED
    assert after.annotations == {ROLL_ANNOTATION: "{}"}
    assert after == world.cluster.get_nodepool(pool)


def test_each_change_of_the_budgets_is_a_new_generation(world: World, pool: str) -> None:
    world.create(nodepool_object(pool))

    opened = world.cluster.patch_nodepool(pool, (replace_budgets(OPENED),))
    closed = world.cluster.patch_nodepool(pool, (replace_budgets(GATE),))

    assert (opened.generation, closed.generation) == (2, 3)


def test_an_annotation_is_no_new_generation(world: World, pool: str) -> None:
    world.create(nodepool_object(pool, annotations={"team": "shop"}))
    note = PatchOperation(op="add", path=f"{ANNOTATIONS}/driftgate.dev~1roll", value="{}")

    after = world.cluster.patch_nodepool(pool, (note,))

    assert after.generation == 1
    assert after.annotations == {"team": "shop", ROLL_ANNOTATION: "{}"}


def test_a_patch_that_changes_nothing_leaves_the_version_alone(world: World, pool: str) -> None:
    world.create(nodepool_object(pool))
    before = world.cluster.get_nodepool(pool)

    after = world.cluster.patch_nodepool(pool, (replace_budgets(GATE),))

    assert after.resource_version == before.resource_version


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/metadata/generation", 7),
        (BUDGETS, OPENED),
        ("/metadata/annotations/driftgate.dev~1roll", "as it was read"),
        ("/metadata/resourceVersion", "1"),
    ],
)
def test_a_failed_test_says_that_the_nodepool_changed_and_stores_nothing(
    world: World, pool: str, path: str, value: object
) -> None:
    world.create(nodepool_object(pool, annotations={"team": "shop"}))
    before = world.cluster.get_nodepool(pool)

    with pytest.raises(NodePoolChangedError):
        world.cluster.patch_nodepool(pool, (check(path, value), replace_budgets(OPENED)))

    assert world.cluster.get_nodepool(pool) == before


def test_a_dry_run_gives_what_would_be_and_stores_nothing(world: World, pool: str) -> None:
    world.create(nodepool_object(pool))
    before = world.cluster.get_nodepool(pool)

    would_be = world.cluster.patch_nodepool(pool, (replace_budgets(OPENED),), dry_run=True)

    assert [budget.to_object() for budget in would_be.budgets] == OPENED
    assert world.cluster.get_nodepool(pool) == before


@pytest.mark.parametrize("dry_run", [False, True])
def test_content_that_the_server_does_not_take_is_rejected_with_its_words(
    world: World, pool: str, dry_run: bool
) -> None:
    world.create(nodepool_object(pool))

    with pytest.raises(PatchRejectedError, match=r"spec\.disruption\.budgets\[0\]\.nodes"):
        world.cluster.patch_nodepool(pool, (replace_budgets([{"nodes": "many"}]),), dry_run=dry_run)

    assert budgets_of(world.cluster, pool) == GATE


# --- everything else that is read --------------------------------------------------------------------


def test_nodeclaims_are_listed_with_what_the_judgement_needs(world: World, pool: str) -> None:
    world.create(nodeclaim_object(f"{pool}-a1", pool, Drifted="AMIDrift"))

    found = next(claim for claim in world.cluster.list_nodeclaims() if claim.nodepool == pool)

    assert found.name == f"{pool}-a1"
    assert found.drift_reason == "AMIDrift"
    assert (found.image_id, found.node_name) == ("ami-0aaa00000000000a1", f"{pool}-a1-node")


def test_nodes_are_listed_with_taints_and_readiness(world: World, pool: str) -> None:
    world.create(node_object(f"{pool}-a1", pool, taints=("karpenter.sh/disrupted",)))

    found = next(node for node in world.cluster.list_nodes() if node.name == f"{pool}-a1")

    assert found.is_tainted_disrupted
    assert found.is_ready


def test_pods_are_listed_for_the_nodes_named(world: World, pool: str) -> None:
    for number in (1, 2, 3):
        world.create(pod_object(f"{pool}-{number}", f"{pool}-node-{number}"))

    found = world.cluster.list_pods([f"{pool}-node-1", f"{pool}-node-3"])

    assert [pod.name for pod in found] == [f"{pool}-1", f"{pool}-3"]


def test_pods_of_no_node_are_none(world: World, pool: str) -> None:
    world.create(pod_object(pool, f"{pool}-node"))

    assert world.cluster.list_pods([]) == ()


def test_all_pods_are_listed_where_no_node_is_named(world: World, pool: str) -> None:
    for number in (1, 2):
        world.create(pod_object(f"{pool}-{number}", f"{pool}-node-{number}"))

    names = [pod.name for pod in world.cluster.list_pods() if pod.name.startswith(pool)]

    assert sorted(names) == [f"{pool}-1", f"{pool}-2"]


def test_pod_disruption_budgets_are_listed(world: World, pool: str) -> None:
    world.create(pdb_object(pool))

    assert f"default/{pool}" in [found.key for found in world.cluster.list_pdbs()]


def test_volume_attachments_are_listed(world: World, pool: str) -> None:
    world.create(volume_attachment_object(pool, f"{pool}-node"))

    found = {attachment.name: attachment.node_name for attachment in world.cluster.list_volume_attachments()}

    assert found[pool] == f"{pool}-node"


def test_the_version_of_karpenter_is_told_from_its_deployment(world: World) -> None:
    deployment = deployment_object("1.14.1")
    world.create(deployment)

    told = world.cluster.karpenter_version()
    world.delete(deployment)

    assert told == "1.14.1"
    assert world.cluster.karpenter_version() is None


def test_a_pool_is_read_without_the_members_of_others(world: World, pool: str) -> None:
    for owner in (pool, f"{pool}-other"):
        world.create(nodeclaim_object(f"{owner}-a1", owner))
        world.create(node_object(f"{owner}-a1-node", owner))

    members = world.cluster.read_pool(pool)

    assert [claim.name for claim in members.claims] == [f"{pool}-a1"]
    assert [node.name for node in members.nodes] == [f"{pool}-a1-node"]


# --- watching ----------------------------------------------------------------------------------------


def test_a_claim_that_karpenter_takes_is_seen(world: World, pool: str) -> None:
    claim = nodeclaim_object(f"{pool}-a1", pool)
    world.create(claim)

    with watching(world.cluster, pool) as changes:
        world.change(claim | {"status": nodeclaim_status(f"{pool}-a1", DisruptionReason="Drifted")})
        seen = next(news(changes))

    assert isinstance(seen, ClaimChanged)
    assert not seen.deleted
    assert seen.claim.disruption_reason == "Drifted"


def test_a_claim_that_is_gone_is_seen(world: World, pool: str) -> None:
    claim = nodeclaim_object(f"{pool}-a1", pool)
    world.create(claim)

    with watching(world.cluster, pool) as changes:
        world.delete(claim)
        seen = [change for change in islice(news(changes), 1) if isinstance(change, ClaimChanged)]

    assert [(change.claim.name, change.deleted) for change in seen] == [(f"{pool}-a1", True)]


def test_a_taint_is_seen(world: World, pool: str) -> None:
    node = node_object(f"{pool}-a1", pool)
    world.create(node)

    with watching(world.cluster, pool) as changes:
        world.change(node_object(f"{pool}-a1", pool, taints=("karpenter.sh/disrupted",)))
        seen = next(change for change in changes if isinstance(change, NodeChanged) and change.node.taints)

    assert seen.node.is_tainted_disrupted


def test_what_happened_between_reading_and_watching_is_seen(world: World, pool: str) -> None:
    claim = nodeclaim_object(f"{pool}-a1", pool)
    world.create(claim)
    members = world.cluster.read_pool(pool)
    world.delete(claim)

    with watching(world.cluster, pool, members) as changes:
        seen = next(news(changes))

    assert isinstance(seen, ClaimChanged)
    assert seen.deleted


def test_other_pools_are_not_seen(world: World, pool: str) -> None:
    with watching(world.cluster, pool) as changes:
        world.create(nodeclaim_object(f"{pool}-other-a1", f"{pool}-other"))
        world.create(nodeclaim_object(f"{pool}-a1", pool))
        seen = next(news(changes))

    assert isinstance(seen, ClaimChanged)
    assert seen.claim.name == f"{pool}-a1"


def test_a_quiet_pool_gives_quiet_until_the_watch_ends(world: World, pool: str) -> None:
    members = world.cluster.read_pool(pool)

    seen = list(world.cluster.watch_pool(pool, members, timedelta(seconds=1.2)))

    assert len(seen) >= 2
    assert set(map(type, seen)) == {Quiet}


def test_a_watch_from_nowhere_starts_with_the_present_state(world: World, pool: str) -> None:
    world.create(nodeclaim_object(f"{pool}-a1", pool))

    with watching(world.cluster, pool, PoolMembers(claims=(), nodes=())) as changes:
        seen = next(news(changes))

    assert isinstance(seen, Relisted)
    assert [claim.name for claim in seen.claims] == [f"{pool}-a1"]


# --- who may -----------------------------------------------------------------------------------------

READS: dict[str, Callable[[Cluster], object]] = {
    "list_nodepools": lambda cluster: cluster.list_nodepools(),
    "get_nodepool": lambda cluster: cluster.get_nodepool("app"),
    "patch_nodepool": lambda cluster: cluster.patch_nodepool("app", (replace_budgets(OPENED),)),
    "list_nodeclaims": lambda cluster: cluster.list_nodeclaims(),
    "list_nodes": lambda cluster: cluster.list_nodes(),
    "list_pods": lambda cluster: cluster.list_pods(),
    "list_pdbs": lambda cluster: cluster.list_pdbs(),
    "list_volume_attachments": lambda cluster: cluster.list_volume_attachments(),
    "read_pool": lambda cluster: cluster.read_pool("app"),
    "watch_pool": lambda cluster: list(cluster.watch_pool("app", PoolMembers((), (), "1", "1"), LONG)),
}


@pytest.mark.parametrize("what", READS)
def test_somebody_unknown_is_refused(world: World, what: str) -> None:
    with pytest.raises(ClusterUnauthorizedError):
        READS[what](world.stranger())


@pytest.mark.parametrize("what", READS)
def test_somebody_without_rights_is_refused(world: World, what: str) -> None:
    with pytest.raises(ClusterForbiddenError) as refused:
        READS[what](world.outsider())

    assert refused.value.verb
    assert refused.value.resource


def test_karpenters_version_is_unknown_to_somebody_without_rights(world: World) -> None:
    assert world.outsider().karpenter_version() is None
