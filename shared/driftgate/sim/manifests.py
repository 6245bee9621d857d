"""Objects of the simulated cluster as Karpenter, kubelet and people would have written them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from driftgate.domain.nodes import DO_NOT_DISRUPT, INITIALIZED_LABEL, NODEPOOL_LABEL
from driftgate.sim.objects import JsonDict, k8s_time, name_of, set_condition

OLD_IMAGE = "ami-0aaa00000000000a1"
NEW_IMAGE = "ami-0bbb00000000000b2"
FINALIZER = "karpenter.sh/termination"
NODE_CLASS_LABEL = "karpenter.k8s.aws/ec2nodeclass"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpec:
    """A NodePool to be. `budgets` None leaves them to the API server's default."""

    name: str
    budgets: Sequence[Mapping[str, object]] | None = None
    node_class: str = "std"
    consolidate_after: str = "Never"
    consolidation_policy: str = "WhenEmptyOrUnderutilized"
    expire_after: str = "Never"
    termination_grace_period: str | None = None
    limits: Mapping[str, str] = field(default_factory=dict)
    replicas: int | None = None
    weight: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    arch: str = "amd64"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """A Node and its NodeClaim to be. `drifted_since` None: not drifted (yet). `cpu` is the whole node."""

    name: str
    pool: str
    image: str
    drifted_since: datetime | None = None
    drift_reason: str = "AMIDrift"
    ready: bool = True
    initialized: bool = True
    registered: bool = True
    do_not_disrupt: bool = False
    unschedulable: bool = False
    instance_type: str = "m7i.xlarge"
    arch: str = "amd64"
    cpu: int = 4
    zone: str = "eu-central-1a"
    kubelet: str = "v1.34.2"
    created_at: datetime
    claim_name: str = ""
    node_class: str = "std"
    termination_grace_period: str | None = None
    expire_after: str = "Never"
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def claim(self) -> str:
        return self.claim_name or f"{self.pool}-{self.name}"

    @property
    def provider_id(self) -> str:
        return f"aws:///{self.zone}/i-{abs(hash_of(self.claim)):017x}"


def hash_of(text: str) -> int:
    """A number that depends on the text alone (Python's own hash changes from run to run)."""
    value = 0
    for letter in text.encode():
        value = (value * 131 + letter) % (1 << 61)
    return value


def nodepool(spec: PoolSpec, at: datetime) -> JsonDict:
    disruption: JsonDict = {
        "consolidateAfter": spec.consolidate_after,
        "consolidationPolicy": spec.consolidation_policy,
    }
    if spec.budgets is not None:
        disruption["budgets"] = [dict(entry) for entry in spec.budgets]
    template: JsonDict = {
        "expireAfter": spec.expire_after,
        "nodeClassRef": _class_ref(spec.node_class),
        "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": [spec.arch]}],
    }
    if spec.termination_grace_period is not None:
        template["terminationGracePeriod"] = spec.termination_grace_period
    body: JsonDict = {"disruption": disruption, "template": {"spec": template}}
    body |= {"limits": dict(spec.limits)} if spec.limits else {}
    body |= {"replicas": spec.replicas} if spec.replicas is not None else {}
    body |= {"weight": spec.weight} if spec.weight is not None else {}
    obj: JsonDict = {"metadata": metadata_of(spec.name, spec.labels, spec.annotations), "spec": body}
    for kind in ("ValidationSucceeded", "NodeClassReady", "Ready"):
        set_condition(obj, kind, "True", at)
    return obj


def node_class(name: str, alias: str, images: Sequence[tuple[str, str]], at: datetime, arch: str) -> JsonDict:
    obj: JsonDict = {
        "metadata": metadata_of(name),
        "spec": {"amiSelectorTerms": [{"alias": alias}], "role": "demo-node"},
        "status": {"amis": resolved_images(images, arch)},
    }
    for kind in ("AMIsReady", "Ready"):
        set_condition(obj, kind, "True", at)
    return obj


def resolved_images(images: Sequence[tuple[str, str]], arch: str) -> list[JsonDict]:
    """`status.amis` from pairs of id and name, newest first."""
    absent = ("karpenter.k8s.aws/instance-gpu-count", "karpenter.k8s.aws/instance-accelerator-count")
    requirements: list[object] = [{"key": "kubernetes.io/arch", "operator": "In", "values": [arch]}]
    requirements += [{"key": key, "operator": "DoesNotExist"} for key in absent]
    return [{"id": image, "name": name, "requirements": requirements} for image, name in images]


def bare_nodeclaim(spec: NodeSpec) -> JsonDict:
    """A NodeClaim as Karpenter creates it; the API server chooses the name."""
    metadata = metadata_of("", _shared_labels(spec)) | {
        "generateName": f"{spec.pool}-",
        "finalizers": [FINALIZER],
        "ownerReferences": [{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": spec.pool, "uid": ""}],
    }
    return {"metadata": metadata, "spec": _claim_spec(spec)}


def launched_status(spec: NodeSpec) -> JsonDict:
    """What a launch adds to a NodeClaim's status."""
    status: JsonDict = {"imageID": spec.image, "providerID": spec.provider_id}
    return status | {"capacity": _capacity(spec), "allocatable": _capacity(spec)}


def _claim_spec(spec: NodeSpec) -> JsonDict:
    body: JsonDict = {
        "nodeClassRef": _class_ref(spec.node_class),
        "expireAfter": spec.expire_after,
        "requirements": [{"key": NODEPOOL_LABEL, "operator": "In", "values": [spec.pool]}],
    }
    if spec.termination_grace_period is not None:
        body["terminationGracePeriod"] = spec.termination_grace_period
    return body


def nodeclaim(spec: NodeSpec) -> JsonDict:
    """A NodeClaim that has come as far as the spec says."""
    metadata = metadata_of(spec.claim, _shared_labels(spec)) | {
        "creationTimestamp": k8s_time(spec.created_at),
        "finalizers": [FINALIZER],
        "ownerReferences": [{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": spec.pool, "uid": ""}],
    }
    status = launched_status(spec)
    obj: JsonDict = {"metadata": metadata, "spec": _claim_spec(spec), "status": status}
    set_condition(obj, "Launched", "True", spec.created_at)
    set_condition(obj, "Registered", "True" if spec.registered else "Unknown", spec.created_at)
    set_condition(obj, "Initialized", "True" if spec.initialized else "Unknown", spec.created_at)
    ready = spec.registered and spec.initialized
    set_condition(obj, "Ready", "True" if ready else "Unknown", spec.created_at)
    if spec.registered:
        status["nodeName"] = spec.name
    if spec.drifted_since is not None:
        set_condition(obj, "Drifted", "True", spec.drifted_since, spec.drift_reason)
    return obj


def node(spec: NodeSpec, claim: JsonDict) -> JsonDict:
    labels = _shared_labels(spec) | {"karpenter.sh/registered": "true", "kubernetes.io/hostname": spec.name}
    if spec.initialized:
        labels[INITIALIZED_LABEL] = "true"
    annotations = dict(spec.annotations) | ({DO_NOT_DISRUPT: "true"} if spec.do_not_disrupt else {})
    metadata = metadata_of(spec.name, labels, annotations) | {
        "creationTimestamp": k8s_time(spec.created_at),
        "finalizers": [FINALIZER],
        "ownerReferences": [{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": name_of(claim), "uid": ""}],
    }
    body: JsonDict = {"providerID": spec.provider_id}
    body |= {"unschedulable": True} if spec.unschedulable else {}
    status: JsonDict = {"capacity": _capacity(spec), "allocatable": _capacity(spec)}
    status["nodeInfo"] = _node_info(spec)
    obj: JsonDict = {"metadata": metadata, "spec": body, "status": status}
    set_condition(obj, "Ready", "True" if spec.ready else "False", spec.created_at)
    return obj


def karpenter_deployment(version: str) -> JsonDict:
    image = f"public.ecr.aws/karpenter/controller:{version}"
    container: JsonDict = {"name": "controller", "image": image}
    labels = {"app.kubernetes.io/name": "karpenter", "app.kubernetes.io/version": version}
    return {
        "metadata": metadata_of("karpenter", labels) | {"namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": {"app.kubernetes.io/name": "karpenter"}},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def metadata_of(
    name: str, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None
) -> JsonDict:
    metadata: JsonDict = {"name": name}
    metadata |= {"labels": dict(labels)} if labels else {}
    return metadata | ({"annotations": dict(annotations)} if annotations else {})


def _class_ref(name: str) -> JsonDict:
    return {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name}


def _capacity(spec: NodeSpec) -> JsonDict:
    return {"cpu": str(spec.cpu), "memory": f"{spec.cpu * 4}Gi", "pods": "58"}


def _node_info(spec: NodeSpec) -> JsonDict:
    return {
        "architecture": spec.arch,
        "bootID": "",
        "containerRuntimeVersion": "containerd://2.1.5",
        "kernelVersion": "6.12.46",
        "kubeProxyVersion": "",
        "kubeletVersion": spec.kubelet,
        "machineID": "",
        "operatingSystem": "linux",
        "osImage": "Amazon Linux 2023",
        "systemUUID": "",
    }


def _shared_labels(spec: NodeSpec) -> dict[str, str]:
    return {
        NODEPOOL_LABEL: spec.pool,
        NODE_CLASS_LABEL: spec.node_class,
        "karpenter.sh/capacity-type": "on-demand",
        "node.kubernetes.io/instance-type": spec.instance_type,
        "topology.kubernetes.io/zone": spec.zone,
        "kubernetes.io/arch": spec.arch,
        "kubernetes.io/os": "linux",
        **spec.labels,
    }
