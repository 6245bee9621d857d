"""`ports.Cluster` straight on a simulated cluster, without sockets or threads: time moves only while a watch waits.

For tests in virtual time. The adapter over HTTP is held to the same suite.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from driftgate.adapters.karpenter_deployment import version_of
from driftgate.adapters.node_objects import node_from_object, nodeclaim_from_object, volume_attachment_from_object
from driftgate.adapters.nodepool_objects import node_class_from_object, nodepool_from_object
from driftgate.adapters.pod_objects import pdb_from_object, pod_from_object
from driftgate.domain.errors import (
    ClusterForbiddenError,
    ClusterUnavailableError,
    NodePoolChangedError,
    NodePoolNotFoundError,
    PatchRejectedError,
)
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
from driftgate.ports import ClaimChanged, NodeChanged, PoolChange, PoolMembers, Quiet
from driftgate.sim.api import JSON_PATCH, Request
from driftgate.sim.cluster import TOKEN, SimCluster

T = TypeVar("T")
Hook = Callable[[str, str], None]
STEP_S = 0.25
OPAQUE = "the server rejected our request due to an error in our request"


class SimGateway:
    """The simulated cluster as driftgate's own user sees it.

    `before` and `after` are told the method and path of every request; what they raise is what the caller gets:
    from `before` nothing has happened, from `after` it has.
    """

    def __init__(self, sim: SimCluster) -> None:
        self.sim = sim
        self.before: Hook = _nothing
        self.after: Hook = _nothing

    def list_nodepools(self) -> tuple[NodePoolSnapshot, ...]:
        return self._list("/apis/karpenter.sh/v1/nodepools", nodepool_from_object)

    def get_nodepool(self, name: str) -> NodePoolSnapshot:
        status, body = self._send("GET", f"/apis/karpenter.sh/v1/nodepools/{name}")
        if status == 404:
            raise NodePoolNotFoundError(f"there is no NodePool {name}")
        return nodepool_from_object(_checked(status, body))

    def patch_nodepool(self, name: str, patch: JsonPatch, *, dry_run: bool = False) -> NodePoolSnapshot:
        query = {"fieldManager": "driftgate"} | ({"dryRun": "All"} if dry_run else {})
        operations = [operation.to_object() for operation in patch]
        path = f"/apis/karpenter.sh/v1/nodepools/{name}"
        status, body = self._send("PATCH", path, query, json.dumps(operations).encode(), JSON_PATCH)
        if status == 404:
            raise NodePoolNotFoundError(f"there is no NodePool {name}")
        if status == 409 or (status == 422 and body.get("message") == OPAQUE):
            raise NodePoolChangedError("a test of the patch failed")
        if status == 422:
            raise PatchRejectedError(str(body.get("message")))
        return nodepool_from_object(_checked(status, body))

    def list_node_classes(self) -> tuple[NodeClassSnapshot, ...]:
        return self._list("/apis/karpenter.k8s.aws/v1/ec2nodeclasses", node_class_from_object)

    def list_nodeclaims(self) -> tuple[NodeClaimSnapshot, ...]:
        return self._list("/apis/karpenter.sh/v1/nodeclaims", nodeclaim_from_object)

    def list_nodes(self) -> tuple[NodeSnapshot, ...]:
        return self._list("/api/v1/nodes", node_from_object)

    def list_pods(self, nodes: Sequence[str] | None = None) -> tuple[PodSnapshot, ...]:
        pods = self._list("/api/v1/pods", pod_from_object)
        return pods if nodes is None else tuple(pod for pod in pods if pod.node_name in nodes)

    def list_pdbs(self) -> tuple[PodDisruptionBudgetSnapshot, ...]:
        return self._list("/apis/policy/v1/poddisruptionbudgets", pdb_from_object)

    def list_volume_attachments(self) -> tuple[VolumeAttachmentSnapshot, ...]:
        return self._list("/apis/storage.k8s.io/v1/volumeattachments", volume_attachment_from_object)

    def read_pool(self, pool: str) -> PoolMembers:
        query = {"labelSelector": f"{NODEPOOL_LABEL}={pool}"}
        claims = self._list("/apis/karpenter.sh/v1/nodeclaims", nodeclaim_from_object, query)
        return PoolMembers(claims, self._list("/api/v1/nodes", node_from_object, query), "direct", "direct")

    def watch_pool(self, pool: str, since: PoolMembers, timeout: timedelta) -> Iterator[PoolChange]:
        """Looks four times a (virtual) second and tells the differences."""
        end, last, version = self.sim.clock.now() + timeout, since, -1
        while self.sim.clock.now() < end:
            if version != self.sim.store.version:
                version, now = self.sim.store.version, self.read_pool(pool)
                yield from changes_between(last, now)
                last = now
            self.sim.clock.sleep(STEP_S)
            yield Quiet()

    def karpenter_version(self) -> str | None:
        found = self._list("/apis/apps/v1/deployments", version_of)
        return next((version for version in found if version), None)

    def _list(
        self, path: str, read: Callable[[Mapping[str, object]], T], query: Mapping[str, str] | None = None
    ) -> tuple[T, ...]:
        status, body = self._send("GET", path, query or {})
        return tuple(read(item) for item in _checked(status, body).get("items") or ())

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        content_type: str = "application/json",
    ) -> tuple[int, Any]:
        request = Request(
            method=method,
            path=path,
            query=dict(query or {}),
            authorization=f"Bearer {TOKEN}",
            content_type=content_type,
            body=body,
        )
        self.before(method, path)
        answer = self.sim.api.handle(request)
        self.after(method, path)
        return answer.status, json.loads(answer.body)


def _nothing(method: str, path: str) -> None:
    """No trouble."""


def _checked(status: int, body: Any) -> Any:
    if status == 403:
        raise ClusterForbiddenError(str(body.get("message")))
    if status >= 300:
        raise ClusterUnavailableError(f"HTTP {status}: {body.get('message')}")
    return body


def changes_between(before: PoolMembers, after: PoolMembers) -> Iterator[PoolChange]:
    """What a watch that saw `before` hears when the pool is as in `after`."""
    yield from _claim_changes(before, after)
    yield from _node_changes(before, after)


def _claim_changes(before: PoolMembers, after: PoolMembers) -> Iterator[PoolChange]:
    was, present = {c.name: c for c in before.claims}, {c.name: c for c in after.claims}
    yield from (ClaimChanged(claim) for name, claim in present.items() if was.get(name) != claim)
    yield from (ClaimChanged(claim, deleted=True) for name, claim in was.items() if name not in present)


def _node_changes(before: PoolMembers, after: PoolMembers) -> Iterator[PoolChange]:
    was, present = {n.name: n for n in before.nodes}, {n.name: n for n in after.nodes}
    yield from (NodeChanged(node) for name, node in present.items() if was.get(name) != node)
    yield from (NodeChanged(node, deleted=True) for name, node in was.items() if name not in present)
