"""Pods and PodDisruptionBudgets of the simulated cluster, as controllers and people would have written them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from driftgate.sim.manifests import metadata_of
from driftgate.sim.objects import JsonDict, k8s_time, set_condition


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSpec:
    """A Pod to be. `owner` is kind and name of its controller, None for a bare pod."""

    name: str
    namespace: str = "default"
    node: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    owner: tuple[str, str] | None = ("ReplicaSet", "web")
    cpu_m: int = 1000
    ready: bool = True
    grace_s: int = 30


def pod(spec: PodSpec, at: datetime) -> JsonDict:
    metadata = metadata_of(spec.name, spec.labels, spec.annotations) | {"namespace": spec.namespace}
    metadata["creationTimestamp"] = k8s_time(at)
    if spec.owner is not None:
        kind, name = spec.owner
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "", "controller": True}
        ]
    container: JsonDict = {"name": "main", "image": "app:1"}
    container["resources"] = {"requests": {"cpu": f"{spec.cpu_m}m"}}
    body: JsonDict = {"containers": [container], "terminationGracePeriodSeconds": spec.grace_s}
    if spec.owner is not None and spec.owner[0] == "DaemonSet":
        body["tolerations"] = [{"operator": "Exists"}]
    obj: JsonDict = {"metadata": metadata, "spec": body, "status": {"phase": "Pending"}}
    if spec.node:
        bind(obj, spec.node, at, ready=spec.ready)
    return obj


def bind(obj: JsonDict, node_name: str, at: datetime, *, ready: bool) -> None:
    """Puts the pod on the node, running from now on."""
    body, status = obj["spec"], obj["status"]
    if isinstance(body, dict) and isinstance(status, dict):
        body["nodeName"] = node_name
        status |= {"phase": "Running", "startTime": k8s_time(at)}
    set_condition(obj, "PodScheduled", "True", at)
    set_condition(obj, "Ready", "True" if ready else "False", at)


def pdb(
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    min_available: int | str | None,
    max_unavailable: int | str | None,
) -> JsonDict:
    body: JsonDict = {"selector": {"matchLabels": dict(labels)}}
    body |= {"minAvailable": min_available} if min_available is not None else {}
    body |= {"maxUnavailable": max_unavailable} if max_unavailable is not None else {}
    return {"metadata": metadata_of(name) | {"namespace": namespace}, "spec": body}
