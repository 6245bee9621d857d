"""The usual situation of a test: a pool of nodes behind a shut gate, all drifted.

Nodes come from NodeClaims made by hand, as Karpenter itself would make them, so that
no pod and no scheduler is needed to get them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.e2e.harness.api import Api, Object

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A cloud provider's NodeClass, and one small instance type: a node is a node."""

    group: str
    kind: str
    instance_type: str


KWOK = Provider(group="karpenter.kwok.sh", kind="KWOKNodeClass", instance_type="c-4x-amd64-linux")
AWS = Provider(group="karpenter.k8s.aws", kind="EC2NodeClass", instance_type="m5.large")

NODEPOOLS = "/apis/karpenter.sh/v1/nodepools"
NODECLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
NODECLASSES = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
EC2NODECLASSES = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
IMAGE = "driftgate.dev/image"
HASHES = ("karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version")
# The trap: Drifted never allowed, everything else at Karpenter's default.
SHUT_GATE: list[Object] = [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "10%"}]


def create_nodeclass(api: Api, name: str = "default", *, image: str = "ami-old") -> Object:
    """A KWOKNodeClass whose nodes run the image."""
    meta = {"name": name, "annotations": {IMAGE: image}}
    return api.create(
        NODECLASSES, {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": meta}
    )


def set_image(api: Api, image: str, nodeclass: str = "default") -> None:
    """Change what the nodes should run: all that run another image drift within a second or so."""
    api.patch(f"{NODECLASSES}/{nodeclass}", {"metadata": {"annotations": {IMAGE: image}}})


def create_nodepool(
    api: Api,
    name: str,
    *,
    budgets: Sequence[Object] = SHUT_GATE,
    nodeclass: str = "default",
    provider: Provider = KWOK,
    **more: object,
) -> Object:
    """A NodePool whose nodes go for drift alone: nothing is ever consolidated or expires. `more` goes into its spec."""
    template = {
        "nodeClassRef": {"group": provider.group, "kind": provider.kind, "name": nodeclass},
        "requirements": requirements(provider.instance_type),
        "expireAfter": "Never",
    }
    spec = {
        "disruption": {"consolidateAfter": "Never", "budgets": list(budgets)},
        "template": {"spec": template},
        **more,
    }
    meta = {"name": name}
    api.create(NODEPOOLS, {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": meta, "spec": spec})
    return wait_for(lambda: hashed_nodepool(api, name), f"the hash of NodePool {name}")


def create_nodes(api: Api, nodepool: str, count: int) -> list[Object]:
    """NodeClaims that Karpenter has launched, registered and initialized: 2 s, on AWS 31 s."""
    pool = api.get(f"{NODEPOOLS}/{nodepool}")
    names = [api.create(NODECLAIMS, nodeclaim(pool))["metadata"]["name"] for _ in range(count)]
    return wait_for(lambda: claims_with(api, names, "Initialized"), f"{count} initialized nodes of {nodepool}")


def create_drifted_nodes(api: Api, nodepool: str, count: int, *, image: str = "ami-new") -> list[Object]:
    """Nodes of the pool that all run another image than the NodeClass now names."""
    names = [claim["metadata"]["name"] for claim in create_nodes(api, nodepool, count)]
    set_image(api, image, api.get(f"{NODEPOOLS}/{nodepool}")["spec"]["template"]["spec"]["nodeClassRef"]["name"])
    return wait_for(lambda: claims_with(api, names, "Drifted"), f"{count} drifted nodes of {nodepool}")


def set_budgets(api: Api, nodepool: str, budgets: Sequence[Object]) -> Object:
    """Write the budgets as a person would by hand."""
    return api.patch(f"{NODEPOOLS}/{nodepool}", {"spec": {"disruption": {"budgets": list(budgets)}}})


def nodeclaims(api: Api, nodepool: str) -> list[Object]:
    return api.items(f"{NODECLAIMS}?labelSelector=karpenter.sh%2Fnodepool%3D{nodepool}")


def has_condition(object_: Object, kind: str) -> bool:
    conditions = object_.get("status", {}).get("conditions", [])
    return any(c["type"] == kind and c["status"] == "True" for c in conditions)


def wait_for(probe: Callable[[], T | None], what: str, timeout_s: float = 60) -> T:
    """The first answer of the probe that is not None; raises TimeoutError."""
    deadline = time.monotonic() + timeout_s
    while (found := probe()) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {what} after {timeout_s:.0f} s")
        time.sleep(0.2)
    return found


def requirements(instance_type: str) -> list[Object]:
    values = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "karpenter.sh/capacity-type": "on-demand",
        "node.kubernetes.io/instance-type": instance_type,
    }
    return [{"key": key, "operator": "In", "values": [value]} for key, value in values.items()]


def nodeclaim(pool: Object) -> Object:
    meta, template = pool["metadata"], pool["spec"]["template"]["spec"]
    owner = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": meta["name"], "uid": meta["uid"]}
    pool_requirement = {"key": "karpenter.sh/nodepool", "operator": "In", "values": [meta["name"]]}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "generateName": f"{meta['name']}-",
            "labels": {"karpenter.sh/nodepool": meta["name"]},
            "annotations": {key: meta["annotations"][key] for key in HASHES},
            "ownerReferences": [owner | {"blockOwnerDeletion": True}],
        },
        "spec": {
            "nodeClassRef": template["nodeClassRef"],
            "requirements": [*template["requirements"], pool_requirement],
            "expireAfter": template["expireAfter"],
        },
    }


def hashed_nodepool(api: Api, name: str) -> Object | None:
    pool = api.get(f"{NODEPOOLS}/{name}")
    return pool if HASHES[0] in pool["metadata"].get("annotations", {}) else None


def claims_with(api: Api, names: Sequence[str], condition: str) -> list[Object] | None:
    claims = [claim for claim in api.items(NODECLAIMS) if claim["metadata"]["name"] in names]
    return claims if len(claims) == len(names) and all(has_condition(c, condition) for c in claims) else None
