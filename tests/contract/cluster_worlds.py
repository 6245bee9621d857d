"""Clusters to hold `ports.Cluster` against: in memory, simulated over HTTP, and the real kube-apiserver.

A world is a cluster under test with a back door: what people and Karpenter do there goes past the port.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

import urllib3

from driftgate.adapters.kubernetes_client import KubernetesClient
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.kubernetes_objects import ObjectKind, kind_of
from driftgate.adapters.kubernetes_parts import new_configuration
from driftgate.adapters.node_objects import node_from_object, nodeclaim_from_object, volume_attachment_from_object
from driftgate.adapters.nodepool_objects import nodepool_from_object
from driftgate.adapters.pod_objects import pdb_from_object, pod_from_object
from driftgate.domain.errors import ClusterForbiddenError, ClusterUnauthorizedError
from driftgate.ports import Cluster
from tests.contract.cluster_objects import Object
from tests.fakes.cluster import FakeCluster, Snapshot

PLURALS = {
    "NodePool": "nodepools",
    "NodeClaim": "nodeclaims",
    "Node": "nodes",
    "Pod": "pods",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "VolumeAttachment": "volumeattachments",
    "Deployment": "deployments",
}


ANSWERED = ("list", "get", "patch", "read", "watch", "may", "server")
"""How the names of the methods begin to which an API server must answer."""


class World(Protocol):
    """A cluster under test, and what happens in it."""

    cluster: Cluster

    def create(self, obj: Object) -> None:
        """Somebody creates the object, status included."""
        ...

    def change(self, obj: Object) -> None:
        """Somebody writes the parts given over those of the object, status included."""
        ...

    def delete(self, obj: Object) -> None: ...

    def stranger(self) -> Cluster:
        """The same cluster for somebody whom it does not know."""
        ...

    def outsider(self) -> Cluster:
        """The same cluster for somebody who may do nothing."""
        ...


class HttpWorld:
    """Over HTTP, simulated or real. `admin` may do anything, `outsider` is known and may do nothing."""

    def __init__(self, url: str, *, admin: str, outsider: str, ca: str | None = None) -> None:
        self._url, self._admin, self._outsider, self._ca = url, admin, outsider, ca
        self._pools = urllib3.PoolManager(ca_certs=ca)
        self._made: list[KubernetesCluster] = []
        self.cluster: Cluster = self._connect(admin)

    def create(self, obj: Object) -> None:
        self._send("POST", self._list_path(obj), obj, "application/json")
        self._put_status(obj)

    def change(self, obj: Object) -> None:
        self._send("PATCH", self._path(obj), {key: obj[key] for key in obj if key != "status"})
        self._put_status(obj)

    def delete(self, obj: Object) -> None:
        self._send("DELETE", self._path(obj), {"gracePeriodSeconds": 0}, "application/json")

    def stranger(self) -> Cluster:
        return self._connect("nobody-knows-this-token")

    def outsider(self) -> Cluster:
        return self._connect(self._outsider)

    def close(self) -> None:
        for cluster in self._made:
            cluster.close()
        self._pools.clear()

    def _connect(self, token: str) -> KubernetesCluster:
        configuration = new_configuration(host=self._url, api_key={"authorization": f"Bearer {token}"})
        configuration.ssl_ca_cert = self._ca
        self._made.append(KubernetesCluster(KubernetesClient(configuration)))
        return self._made[-1]

    def _put_status(self, obj: Object) -> None:
        if "status" in obj:
            self._send("PATCH", self._path(obj) + "/status", {"status": obj["status"]})

    def _send(self, method: str, path: str, body: Any, content_type: str = "application/merge-patch+json") -> None:
        headers = {"authorization": f"Bearer {self._admin}", "content-type": content_type}
        answer = self._pools.request(method, self._url + path, body=json.dumps(body), headers=headers)
        assert answer.status < 300, answer.data

    def _list_path(self, obj: Object) -> str:
        version, namespace = obj["apiVersion"], obj["metadata"].get("namespace")
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        return root + (f"/namespaces/{namespace}" if namespace else "") + f"/{PLURALS[obj['kind']]}"

    def _path(self, obj: Object) -> str:
        return f"{self._list_path(obj)}/{obj['metadata']['name']}"


class FakeWorld:
    """The fake in memory."""

    def __init__(self) -> None:
        self._fake = FakeCluster()
        self._objects: dict[tuple[str, str], Object] = {}
        self.cluster: Cluster = self._fake

    def create(self, obj: Object) -> None:
        self._objects[obj["kind"], obj["metadata"]["name"]] = obj
        if obj["kind"] == "Deployment":
            self._fake.karpenter = obj["spec"]["template"]["spec"]["containers"][0]["image"].split(":")[1].split("@")[0]
        else:
            self._fake.put(_snapshot(obj))

    def change(self, obj: Object) -> None:
        self.create(_merged(self._objects[obj["kind"], obj["metadata"]["name"]], obj))

    def delete(self, obj: Object) -> None:
        if obj["kind"] == "Deployment":
            self._fake.karpenter = None
        else:
            self._fake.remove(_snapshot(obj))

    def stranger(self) -> Cluster:
        return _refusing(lambda: ClusterUnauthorizedError("the fake does not know you"))

    def outsider(self) -> Cluster:
        fake = _refusing(lambda: ClusterForbiddenError("not allowed", verb="list", resource="nodepools"))
        del fake.failures["may"], fake.failures["server_time"]
        fake.denied.add("*")
        return fake

    def close(self) -> None:
        """There is nothing to close."""


def _refusing(error: Callable[[], ClusterUnauthorizedError | ClusterForbiddenError]) -> FakeCluster:
    fake = FakeCluster()
    methods = [name for name in dir(fake) if name.split("_")[0] in ANSWERED]
    fake.failures.update({name: error() for name in methods})
    return fake


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return old | {key: _merged(old.get(key), value) for key, value in new.items()}


def _snapshot(obj: Object) -> Snapshot:
    readers: dict[ObjectKind | None, Callable[[Object], Snapshot]] = {
        ObjectKind.NODEPOOL: nodepool_from_object,
        ObjectKind.NODECLAIM: nodeclaim_from_object,
        ObjectKind.NODE: node_from_object,
        ObjectKind.POD: pod_from_object,
        ObjectKind.PDB: pdb_from_object,
        ObjectKind.VOLUME_ATTACHMENT: volume_attachment_from_object,
    }
    return readers[kind_of(obj)](obj)
