"""NodeClaims, Nodes and VolumeAttachments: reduced, as they arrive, to what the judgement needs.

A cluster may have thousands: a raw Node has 10 to 50 KB (images, managedFields), of which under 1 KB is kept.
"""

from __future__ import annotations

from driftgate.adapters.object_meta import (
    condition_of,
    conditions_of,
    created_at,
    deleted_at,
    judged_annotations,
    labels_of,
    name_of,
    owners_of,
    quantities,
    uid_of,
    word,
)
from driftgate.domain.jsonvalue import JsonObject, child, items, mapping, text
from driftgate.domain.nodes import NODEPOOL_LABEL, NodeClaimSnapshot, NodeSnapshot, VolumeAttachmentSnapshot

COUNTED_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")


def nodeclaim_from_object(raw: JsonObject) -> NodeClaimSnapshot:
    """The NodeClaim; its pool by label, else by owner, else ""."""
    spec, status, labels = child(raw, "spec"), child(raw, "status"), labels_of(raw)
    return NodeClaimSnapshot(
        name=name_of(raw),
        nodepool=labels.get(NODEPOOL_LABEL) or _owning_pool(raw),
        uid=uid_of(raw),
        labels=labels,
        annotations=judged_annotations(raw),
        created_at=created_at(raw),
        deleted_at=deleted_at(raw),
        image_id=word(status.get("imageID")),
        provider_id=text(status.get("providerID")) or "",
        node_name=word(status.get("nodeName")),
        conditions=conditions_of(raw),
        termination_grace_period=text(spec.get("terminationGracePeriod")),
        expire_after=text(spec.get("expireAfter")),
    )


def node_from_object(raw: JsonObject) -> NodeSnapshot:
    """The Node; of its conditions only Ready is kept."""
    spec, status = child(raw, "spec"), child(raw, "status")
    return NodeSnapshot(
        name=name_of(raw),
        provider_id=text(spec.get("providerID")) or "",
        uid=uid_of(raw),
        labels=labels_of(raw),
        annotations=judged_annotations(raw),
        created_at=created_at(raw),
        deleted_at=deleted_at(raw),
        taints=tuple(word(mapping(taint).get("key")) for taint in items(spec.get("taints"))),
        unschedulable=spec.get("unschedulable") is True,
        ready=condition_of(raw, "Ready"),
        capacity=_capacity(child(status, "capacity")),
        kubelet_version=word(child(status, "nodeInfo").get("kubeletVersion")),
    )


def volume_attachment_from_object(raw: JsonObject) -> VolumeAttachmentSnapshot:
    status = child(raw, "status")
    error = child(status, "detachError") or child(status, "attachError")
    return VolumeAttachmentSnapshot(
        name=name_of(raw),
        node_name=word(child(raw, "spec").get("nodeName")),
        attached=status.get("attached") is True,
        deleted_at=deleted_at(raw),
        error=text(error.get("message")) or "",
    )


def _owning_pool(raw: JsonObject) -> str:
    return next((name for kind, name, _ in owners_of(raw) if kind == "NodePool"), "")


def _capacity(capacity: JsonObject) -> dict[str, str]:
    """What limits may count: the common resources and extended ones (`vendor/thing`), not huge pages."""
    return {
        key: value
        for key, value in quantities(capacity).items()
        if key in COUNTED_RESOURCES or ("/" in key and not key.startswith("attachable-volumes"))
    }
