"""Which Kubernetes kinds driftgate judges, what they are called on the wire, and how each is read."""

from __future__ import annotations

from enum import Enum

from driftgate.domain.jsonvalue import JsonObject, text

KARPENTER_GROUP = "karpenter.sh"


class ObjectKind(Enum):
    """The kinds that a judgement is made from; the value is the plural resource."""

    NODEPOOL = "nodepools"
    NODE_CLASS = "nodeclasses"
    NODECLAIM = "nodeclaims"
    NODE = "nodes"
    POD = "pods"
    PDB = "poddisruptionbudgets"
    VOLUME_ATTACHMENT = "volumeattachments"


_KINDS = {
    (KARPENTER_GROUP, "NodePool"): ObjectKind.NODEPOOL,
    (KARPENTER_GROUP, "Provisioner"): ObjectKind.NODEPOOL,
    (KARPENTER_GROUP, "NodeClaim"): ObjectKind.NODECLAIM,
    ("", "Node"): ObjectKind.NODE,
    ("", "Pod"): ObjectKind.POD,
    ("policy", "PodDisruptionBudget"): ObjectKind.PDB,
    ("storage.k8s.io", "VolumeAttachment"): ObjectKind.VOLUME_ATTACHMENT,
}


def kind_of(raw: JsonObject) -> ObjectKind | None:
    """Which judged kind the object is, None for any other. Every `…NodeClass` is a node class."""
    group, _, version = (text(raw.get("apiVersion")) or "").partition("/")
    kind = text(raw.get("kind")) or ""
    found = _KINDS.get((group if version else "", kind))
    if found is None and kind.endswith("NodeClass") and version:
        return ObjectKind.NODE_CLASS
    return found
