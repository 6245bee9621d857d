"""Kubernetes objects as plain JSON values: copying, reaching into them, conditions and taints.

Objects in the store are never changed in place; whoever wants another one takes a `copy_of` first.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from driftgate.domain.jsonvalue import child, instant, items, mapping, strings, text

JsonDict = dict[str, object]
T = TypeVar("T")


def copy_of(value: T) -> T:
    """A deep copy of a JSON value."""
    return _copy(value)  # type: ignore[return-value]


def _copy(value: object) -> object:
    if isinstance(value, dict):
        return {key: _copy(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(entry) for entry in value]
    return value


def section(target: JsonDict, *keys: str) -> JsonDict:
    """The object below the keys, made where it is missing, for changing it in place."""
    for key in keys:
        found = target.get(key)
        if not isinstance(found, dict):
            found = target[key] = {}
        target = found
    return target


def list_in(target: JsonDict, key: str) -> list[object]:
    """The list under the key, made where it is missing, for changing it in place."""
    found = target.get(key)
    if not isinstance(found, list):
        found = target[key] = []
    return found


def name_of(obj: JsonDict) -> str:
    return text(child(obj, "metadata").get("name")) or ""


def namespace_of(obj: JsonDict) -> str:
    return text(child(obj, "metadata").get("namespace")) or ""


def labels_of(obj: JsonDict) -> dict[str, str]:
    return strings(child(obj, "metadata").get("labels"))


def annotations_of(obj: JsonDict) -> dict[str, str]:
    return strings(child(obj, "metadata").get("annotations"))


def is_deleting(obj: JsonDict) -> bool:
    return child(obj, "metadata").get("deletionTimestamp") is not None


def created_at(obj: JsonDict) -> datetime:
    """When the object was created. Raises ValueError where that is not there: the store always writes it."""
    created = instant(child(obj, "metadata").get("creationTimestamp"))
    if created is None:
        raise ValueError(f"{name_of(obj)} has no creationTimestamp")
    return created


def k8s_time(at: datetime) -> str:
    """The instant as `metav1.Time` writes it: whole seconds, UTC, `Z`."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def condition_of(obj: JsonDict, kind: str) -> JsonDict | None:
    """The status condition of that type, None where there is none."""
    for entry in items(child(obj, "status").get("conditions")):
        if mapping(entry).get("type") == kind:
            return dict(mapping(entry))
    return None


def condition_is_true(obj: JsonDict, kind: str) -> bool:
    found = condition_of(obj, kind)
    return found is not None and found.get("status") == "True"


def set_condition(obj: JsonDict, kind: str, status: str, at: datetime, reason: str = "") -> None:
    """Sets the condition; its lastTransitionTime moves only when the status changes."""
    conditions = list_in(section(obj, "status"), "conditions")
    before = condition_of(obj, kind)
    since = k8s_time(at) if before is None or before.get("status") != status else before["lastTransitionTime"]
    entry: JsonDict = {
        "type": kind,
        "status": status,
        "reason": reason or kind,
        "message": reason,
        "lastTransitionTime": since,
    }
    remove_condition(obj, kind)
    conditions.append(entry)


def remove_condition(obj: JsonDict, kind: str) -> None:
    """Takes the condition away; nothing happens where there is none."""
    conditions = list_in(section(obj, "status"), "conditions")
    conditions[:] = [entry for entry in conditions if mapping(entry).get("type") != kind]


def taint_keys(node: JsonDict) -> Sequence[str]:
    return [str(mapping(taint).get("key")) for taint in items(child(node, "spec").get("taints"))]


def add_taint(node: JsonDict, key: str, effect: str) -> None:
    """Adds the taint once, with no value, as Karpenter does."""
    if key not in taint_keys(node):
        list_in(section(node, "spec"), "taints").append({"key": key, "effect": effect})


def remove_taint(node: JsonDict, key: str) -> None:
    """Takes the taint away; the list leaves with its last entry."""
    spec = section(node, "spec")
    left = [taint for taint in items(spec.get("taints")) if mapping(taint).get("key") != key]
    spec.pop("taints", None)
    if left:
        spec["taints"] = left
