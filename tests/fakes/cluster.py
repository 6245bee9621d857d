"""`ports.Cluster` in memory: snapshots as a test put them, and a log of changes to watch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from driftgate.domain.budget import Budget
from driftgate.domain.errors import (
    DriftgateError,
    NodePoolChangedError,
    NodePoolNotFoundError,
    PatchRejectedError,
)
from driftgate.domain.jsonvalue import child, items, mapping, strings
from driftgate.domain.nodepool import NodeClassSnapshot, NodePoolSnapshot
from driftgate.domain.nodes import (
    NODEPOOL_LABEL,
    NodeClaimSnapshot,
    NodeSnapshot,
    PodDisruptionBudgetSnapshot,
    PodSnapshot,
    VolumeAttachmentSnapshot,
)
from driftgate.domain.patch import JsonPatch
from driftgate.ports import ClaimChanged, Clock, NodeChanged, PoolChange, PoolMembers, Quiet, Relisted
from driftgate.sim.jsonpatch import apply_json_patch
from driftgate.sim.objects import JsonDict
from driftgate.sim.status import ApiError
from tests.fakes.clock import FakeClock

Snapshot = (
    NodePoolSnapshot
    | NodeClassSnapshot
    | NodeClaimSnapshot
    | NodeSnapshot
    | PodSnapshot
    | PodDisruptionBudgetSnapshot
    | VolumeAttachmentSnapshot
)
T = TypeVar("T", bound=Snapshot)
NODES_PATTERN = re.compile(r"((100|[0-9]{1,2})%|[0-9]+)")


class FakeCluster:
    """Holds snapshots. `failures`: what a method of that name raises, until the test takes it out again.

    `patches` are those that were stored. `denied` names rights that the identity lacks, such as `list nodes`; `*` is
    every right. While nothing changes, a watch moves the clock.
    """

    def __init__(self, *objects: Snapshot, clock: Clock | None = None, karpenter: str | None = None) -> None:
        self.clock = clock or FakeClock()
        self.karpenter = karpenter
        self.failures: dict[str, DriftgateError] = {}
        self.patches: list[tuple[str, JsonPatch]] = []
        self.denied: set[str] = set()
        self._objects: dict[tuple[type, str], Snapshot] = {}
        self._log: list[tuple[Snapshot, bool]] = []
        for entry in objects:
            self.put(entry)

    def put(self, entry: Snapshot) -> None:
        """Adds the object, or replaces the one of that name."""
        self._objects[_key(entry)] = entry
        self._log.append((entry, False))

    def remove(self, entry: Snapshot) -> None:
        """Takes the object away, as it last was."""
        self._log.append((self._objects.pop(_key(entry)), True))

    def list_nodepools(self) -> tuple[NodePoolSnapshot, ...]:
        return self._list("list_nodepools", NodePoolSnapshot)

    def get_nodepool(self, name: str) -> NodePoolSnapshot:
        self._fail("get_nodepool")
        found = self._objects.get((NodePoolSnapshot, name))
        if not isinstance(found, NodePoolSnapshot):
            raise NodePoolNotFoundError(f"there is no NodePool {name!r} in this cluster")
        return found

    def patch_nodepool(self, name: str, patch: JsonPatch, *, dry_run: bool = False) -> NodePoolSnapshot:
        self._fail("patch_nodepool")
        pool = self.get_nodepool(name)
        patched = _patched(pool, patch)
        if not dry_run and patched != pool:
            patched = replace(patched, resource_version=str(int(pool.resource_version or "0") + 1))
            self.put(patched)
            self.patches.append((name, patch))
        return patched

    def list_node_classes(self) -> tuple[NodeClassSnapshot, ...]:
        return self._list("list_node_classes", NodeClassSnapshot)

    def list_nodeclaims(self) -> tuple[NodeClaimSnapshot, ...]:
        return self._list("list_nodeclaims", NodeClaimSnapshot)

    def list_nodes(self) -> tuple[NodeSnapshot, ...]:
        return self._list("list_nodes", NodeSnapshot)

    def list_pods(self, nodes: Sequence[str] | None = None) -> tuple[PodSnapshot, ...]:
        pods = self._list("list_pods", PodSnapshot)
        return pods if nodes is None else tuple(pod for node in nodes for pod in pods if pod.node_name == node)

    def list_pdbs(self) -> tuple[PodDisruptionBudgetSnapshot, ...]:
        return self._list("list_pdbs", PodDisruptionBudgetSnapshot)

    def list_volume_attachments(self) -> tuple[VolumeAttachmentSnapshot, ...]:
        return self._list("list_volume_attachments", VolumeAttachmentSnapshot)

    def read_pool(self, pool: str) -> PoolMembers:
        claims = self._list("read_pool", NodeClaimSnapshot)
        nodes = self._list("read_pool", NodeSnapshot)
        return PoolMembers(
            claims=tuple(claim for claim in claims if _pool_of(claim) == pool),
            nodes=tuple(node for node in nodes if _pool_of(node) == pool),
            claims_version=str(len(self._log)),
            nodes_version=str(len(self._log)),
        )

    def watch_pool(self, pool: str, since: PoolMembers, timeout: timedelta) -> Iterator[PoolChange]:
        end = self.clock.now() + timeout
        if not since.claims_version:
            since = self.read_pool(pool)
            yield Relisted(claims=since.claims, nodes=since.nodes)
        seen = int(since.claims_version)
        while self.clock.now() < end:
            self._fail("watch_pool")
            if seen == len(self._log):
                self.clock.sleep(0.5)
                yield Quiet()
                continue
            entry, deleted = self._log[seen]
            seen += 1
            if _pool_of(entry) == pool:
                yield from _change(entry, deleted)

    def karpenter_version(self) -> str | None:
        self._fail("karpenter_version")
        return self.karpenter

    def may(self, verb: str, group: str, resource: str) -> bool:
        self._fail("may")
        return not self.denied & {"*", f"{verb} {resource}"}

    def server_time(self) -> datetime | None:
        self._fail("server_time")
        return self.clock.now().replace(microsecond=0)

    def _fail(self, method: str) -> None:
        if method in self.failures:
            raise self.failures[method]

    def _list(self, method: str, kind: type[T]) -> tuple[T, ...]:
        self._fail(method)
        return tuple(entry for entry in self._objects.values() if isinstance(entry, kind))


def _key(entry: Snapshot) -> tuple[type, str]:
    return type(entry), entry.key if isinstance(entry, PodSnapshot | PodDisruptionBudgetSnapshot) else entry.name


def _pool_of(entry: Snapshot) -> str | None:
    return entry.labels.get(NODEPOOL_LABEL) if isinstance(entry, NodeClaimSnapshot | NodeSnapshot) else None


def _change(entry: Snapshot, deleted: bool) -> Iterator[PoolChange]:
    if isinstance(entry, NodeClaimSnapshot):
        yield ClaimChanged(claim=entry, deleted=deleted)
    elif isinstance(entry, NodeSnapshot):
        yield NodeChanged(node=entry, deleted=deleted)


def _patched(pool: NodePoolSnapshot, patch: JsonPatch) -> NodePoolSnapshot:
    metadata: JsonDict = {"generation": pool.generation, "resourceVersion": pool.resource_version}
    if pool.annotations is not None:
        metadata["annotations"] = dict(pool.annotations)
    budgets = [entry.to_object() for entry in pool.budgets]
    before: JsonDict = {"metadata": metadata, "spec": {"disruption": {"budgets": budgets}}}
    try:
        after = apply_json_patch(before, [operation.to_object() for operation in patch])
    except ApiError as error:
        raise NodePoolChangedError(str(error)) from error
    kept = items(child(after, "spec", "disruption").get("budgets"))
    for index, entry in enumerate(kept):
        if not NODES_PATTERN.fullmatch(str(mapping(entry).get("nodes"))):
            raise PatchRejectedError(f"spec.disruption.budgets[{index}].nodes: Invalid value")
    annotations = child(after, "metadata").get("annotations")
    return replace(
        pool,
        budgets=tuple(Budget.from_object(mapping(entry)) for entry in kept),
        annotations=None if annotations is None else strings(annotations),
        generation=pool.generation + (list(kept) != budgets),
    )
