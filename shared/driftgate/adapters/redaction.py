"""Kubernetes objects without what the judgement does not need: secrets, environment, commands, user data first.

What is kept is named, never what is dropped: a field that appears in a later version stays out by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from driftgate.adapters.kubernetes_objects import ObjectKind, kind_of
from driftgate.adapters.nodepool_objects import owns_budgets
from driftgate.adapters.object_meta import judged_annotations
from driftgate.domain.jsonvalue import JsonObject, child, items, mapping, strings

METADATA = (
    "name",
    "namespace",
    "uid",
    "generation",
    "resourceVersion",
    "labels",
    "creationTimestamp",
    "deletionTimestamp",
    "ownerReferences",
)
Part = dict[str, object]
Parts = tuple[Part, Part]
CONDITION = ("type", "status", "reason", "message", "lastTransitionTime")
APPLIED_ANNOTATIONS = ("kubectl.kubernetes.io/last-applied-configuration",)


def redacted(raw: JsonObject) -> JsonObject | None:
    """The object reduced to what is judged; None for a kind that is not judged at all."""
    kind = kind_of(raw)
    if kind is None:
        return None
    spec, status = _PARTS[kind](raw)
    shown: Part = {"apiVersion": raw.get("apiVersion"), "kind": raw.get("kind"), "metadata": _metadata(raw, kind)}
    return shown | ({"spec": spec} if spec else {}) | ({"status": status} if status else {})


def _metadata(raw: JsonObject, kind: ObjectKind) -> Part:
    metadata = child(raw, "metadata")
    if kind is not ObjectKind.NODEPOOL:
        kept = judged_annotations(raw)
        return _kept(metadata, METADATA) | ({"annotations": dict(kept)} if kept else {})
    written = strings(metadata.get("annotations"))
    annotations = {key: value for key, value in written.items() if key not in APPLIED_ANNOTATIONS}
    owners = [_field_owner(mapping(entry)) for entry in items(metadata.get("managedFields"))]
    return (
        _kept(metadata, METADATA)
        | ({} if metadata.get("annotations") is None else {"annotations": annotations})
        | ({"managedFields": owners} if owners else {})
    )


def _field_owner(entry: JsonObject) -> Part:
    """The manager, and of its fields only whether the budgets are among them."""
    owned: Part = {"f:spec": {"f:disruption": {"f:budgets": {}}}} if owns_budgets(entry.get("fieldsV1")) else {}
    return _kept(entry, ("manager", "operation", "time")) | ({"fieldsV1": owned} if owned else {})


def _nodepool(raw: JsonObject) -> Parts:
    spec, template = child(raw, "spec"), child(raw, "spec", "template", "spec")
    kept = _kept(template, ("nodeClassRef", "requirements", "terminationGracePeriod", "expireAfter"))
    shown = _kept(spec, ("disruption", "limits", "replicas", "weight")) | {"template": {"spec": kept}}
    return shown, _kept(child(raw, "status"), ("resources",)) | _conditions(raw)


def _node_class(raw: JsonObject) -> Parts:
    return _kept(child(raw, "spec"), ("amiSelectorTerms",)), _kept(child(raw, "status"), ("amis",)) | _conditions(raw)


def _nodeclaim(raw: JsonObject) -> Parts:
    spec = _kept(child(raw, "spec"), ("terminationGracePeriod", "expireAfter"))
    return spec, _kept(child(raw, "status"), ("imageID", "nodeName", "providerID")) | _conditions(raw)


def _node(raw: JsonObject) -> Parts:
    status = child(raw, "status")
    version = _kept(child(status, "nodeInfo"), ("kubeletVersion",))
    spec = _kept(child(raw, "spec"), ("providerID", "taints", "unschedulable"))
    return spec, _kept(status, ("capacity",)) | ({"nodeInfo": version} if version else {}) | _conditions(raw)


def _pod(raw: JsonObject) -> Parts:
    status = _kept(child(raw, "status"), ("phase", "startTime", "nominatedNodeName"))
    return _kept(child(raw, "spec"), ("nodeName", "tolerations")), status | _conditions(raw)


def _pdb(raw: JsonObject) -> Parts:
    spec = _kept(child(raw, "spec"), ("selector", "minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy"))
    counts = ("disruptionsAllowed", "expectedPods", "currentHealthy", "desiredHealthy")
    return spec, _kept(child(raw, "status"), counts)


def _volume_attachment(raw: JsonObject) -> Parts:
    return _kept(child(raw, "spec"), ("nodeName",)), _kept(
        child(raw, "status"), ("attached", "attachError", "detachError")
    )


_PARTS: Mapping[ObjectKind, Callable[[JsonObject], Parts]] = {
    ObjectKind.NODEPOOL: _nodepool,
    ObjectKind.NODE_CLASS: _node_class,
    ObjectKind.NODECLAIM: _nodeclaim,
    ObjectKind.NODE: _node,
    ObjectKind.POD: _pod,
    ObjectKind.PDB: _pdb,
    ObjectKind.VOLUME_ATTACHMENT: _volume_attachment,
}


def _conditions(raw: JsonObject) -> Part:
    found = [_kept(mapping(entry), CONDITION) for entry in items(child(raw, "status").get("conditions"))]
    return {"conditions": found} if found else {}


def _kept(part: JsonObject, keys: tuple[str, ...]) -> Part:
    return {key: part[key] for key in keys if key in part}
