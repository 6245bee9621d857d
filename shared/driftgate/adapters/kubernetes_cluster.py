"""`ports.Cluster` and `ports.ApiServer` over the API server of a real (or simulated) cluster.

Every read goes to the API server itself: no `resourceVersion=0`, no cache, since decisions rest on it. It writes one
thing: a JSON patch of a NodePool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from driftgate.adapters.karpenter_deployment import version_of
from driftgate.adapters.kubernetes_access import review_of, server_date
from driftgate.adapters.kubernetes_client import KubernetesClient
from driftgate.adapters.kubernetes_lists import PAGE_SIZE, ListReader, Progress
from driftgate.adapters.kubernetes_pool_watch import PoolWatch
from driftgate.adapters.kubernetes_resources import (
    DEPLOYMENTS,
    NODE_CLASSES,
    NODECLAIMS,
    NODEPOOLS,
    NODES,
    PDBS,
    PODS,
    SNAPSHOT_RESOURCES,
    VOLUME_ATTACHMENTS,
    Call,
)
from driftgate.adapters.kubernetes_stream import WatchTimes
from driftgate.adapters.node_objects import node_from_object, nodeclaim_from_object, volume_attachment_from_object
from driftgate.adapters.nodepool_objects import node_class_from_object, nodepool_from_object
from driftgate.adapters.pod_objects import pdb_from_object, pod_from_object
from driftgate.domain.errors import (
    ClusterForbiddenError,
    InvalidInputError,
    KarpenterMissingError,
    NodePoolNotFoundError,
)
from driftgate.domain.nodepool import FIELD_MANAGER, NodeClassSnapshot, NodePoolSnapshot
from driftgate.domain.nodes import (
    NodeClaimSnapshot,
    NodeSnapshot,
    PodDisruptionBudgetSnapshot,
    PodSnapshot,
    VolumeAttachmentSnapshot,
)
from driftgate.domain.patch import JsonPatch
from driftgate.ports import PoolChange, PoolMembers

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class KubernetesCluster:
    """One cluster, over one API server. `progress` hears of every page that was read."""

    def __init__(
        self,
        client: KubernetesClient,
        *,
        progress: Progress | None = None,
        page_size: int = PAGE_SIZE,
        times: WatchTimes | None = None,
    ) -> None:
        self._client = client
        self._times = times or WatchTimes()
        self._lists = ListReader(client, progress=progress, page_size=page_size)

    def close(self) -> None:
        """Closes the idle connections; the cluster may still be used and opens new ones."""
        self._client.close()

    def list_nodepools(self) -> tuple[NodePoolSnapshot, ...]:
        return self._lists.read(NODEPOOLS, nodepool_from_object).found

    def get_nodepool(self, name: str) -> NodePoolSnapshot:
        return nodepool_from_object(self._client.get(_nodepool_call("get", name)))

    def patch_nodepool(self, name: str, patch: JsonPatch, *, dry_run: bool = False) -> NodePoolSnapshot:
        query = {"fieldManager": FIELD_MANAGER} | ({"dryRun": "All"} if dry_run else {})
        operations = [operation.to_object() for operation in patch]
        return nodepool_from_object(
            self._client.patch(_nodepool_call("patch", name, writes=not dry_run), query, operations)
        )

    def list_node_classes(self) -> tuple[NodeClassSnapshot, ...]:
        """The EC2NodeClasses; none where the cluster does not serve that kind: it has another provider."""
        try:
            return self._lists.read(NODE_CLASSES, node_class_from_object).found
        except KarpenterMissingError:
            return ()

    def list_nodeclaims(self) -> tuple[NodeClaimSnapshot, ...]:
        return self._lists.read(NODECLAIMS, nodeclaim_from_object).found

    def list_nodes(self) -> tuple[NodeSnapshot, ...]:
        return self._lists.read(NODES, node_from_object).found

    def list_pods(self, nodes: Sequence[str] | None = None) -> tuple[PodSnapshot, ...]:
        if nodes is None:
            return self._lists.read(PODS, pod_from_object).found
        return tuple(pod for node in nodes for pod in self._pods_on(node))

    def _pods_on(self, node: str) -> tuple[PodSnapshot, ...]:
        return self._lists.read(PODS, pod_from_object, {"fieldSelector": f"spec.nodeName={node}"}).found

    def list_pdbs(self) -> tuple[PodDisruptionBudgetSnapshot, ...]:
        return self._lists.read(PDBS, pdb_from_object).found

    def list_volume_attachments(self) -> tuple[VolumeAttachmentSnapshot, ...]:
        return self._lists.read(VOLUME_ATTACHMENTS, volume_attachment_from_object).found

    def read_pool(self, pool: str) -> PoolMembers:
        return self._pool(pool).read()

    def watch_pool(self, pool: str, since: PoolMembers, timeout: timedelta) -> Iterator[PoolChange]:
        return self._pool(pool).changes(since, timeout)

    def _pool(self, pool: str) -> PoolWatch:
        return PoolWatch(self._client, self._lists, pool, self._times)

    def karpenter_version(self) -> str | None:
        try:
            found = self._lists.read(DEPLOYMENTS, version_of, {"labelSelector": "app.kubernetes.io/name=karpenter"})
        except ClusterForbiddenError:
            return None
        versions = {version for version in found.found if version}
        return versions.pop() if len(versions) == 1 else None

    def may(self, verb: str, group: str, resource: str) -> bool:
        return review_of(self._client, verb, group, resource)

    def server_time(self) -> datetime | None:
        return server_date(self._client)

    def list_raw(self, resource: str) -> Iterator[dict[str, object]]:
        """The objects as the API gives them, for a snapshot. Raises InvalidInputError for a resource not judged."""
        known = SNAPSHOT_RESOURCES.get(resource)
        if known is None:
            raise InvalidInputError(
                f"there is no resource {resource!r} in a snapshot", remedy=f"One of: {', '.join(SNAPSHOT_RESOURCES)}."
            )
        return self._lists.raw(known)


def _nodepool_call(verb: str, name: str, *, writes: bool = False) -> Call:
    """Raises NodePoolNotFoundError for what cannot be a name, so that it never becomes part of a path."""
    if not _NAME.fullmatch(name):
        raise NodePoolNotFoundError(f"there is no NodePool {name!r}: no Kubernetes object can have that name")
    return Call(verb=verb, resource=NODEPOOLS, name=name, writes=writes)
