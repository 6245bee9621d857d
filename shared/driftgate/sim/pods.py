"""Where the pods are: an index over the store, and questions about single pods."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.jsonvalue import child, instant, items, mapping, text
from driftgate.domain.nodes import DISRUPTED_TAINT, DO_NOT_DISRUPT
from driftgate.domain.quantity import parse_quantity
from driftgate.sim.kinds import PODS
from driftgate.sim.objects import JsonDict, annotations_of, condition_is_true, is_deleting
from driftgate.sim.store import Change, Store, Stored

MIRROR = "kubernetes.io/config.mirror"


class Pods:
    """Pods by node and by namespace, kept up to date by the store's changes."""

    def __init__(self, store: Store) -> None:
        self._by_node: dict[str, dict[str, Stored]] = {}
        self._by_namespace: dict[str, dict[str, Stored]] = {}
        for stored in store.all_of(PODS):
            self._add(stored)
        store.listeners.append(self._heard)

    def on(self, node: str) -> list[Stored]:
        return list(self._by_node.get(node, {}).values())

    def pending(self) -> list[Stored]:
        """Pods that no node has, oldest name first."""
        return sorted(self.on(""), key=lambda stored: stored.key)

    def of_namespace(self, namespace: str) -> list[Stored]:
        return list(self._by_namespace.get(namespace, {}).values())

    def _heard(self, change: Change) -> None:
        if change.kind is not PODS:
            return
        if change.before is not None:
            self._by_node.get(node_of(change.before.obj), {}).pop(change.before.key, None)
            self._by_namespace.get(_namespace(change.before), {}).pop(change.before.key, None)
        if change.type != "DELETED":
            self._add(change.after)

    def _add(self, stored: Stored) -> None:
        self._by_node.setdefault(node_of(stored.obj), {})[stored.key] = stored
        self._by_namespace.setdefault(_namespace(stored), {})[stored.key] = stored


def _namespace(stored: Stored) -> str:
    return stored.key.partition("/")[0]


def node_of(pod: JsonDict) -> str:
    return text(child(pod, "spec").get("nodeName")) or ""


def owner_of(pod: JsonDict) -> tuple[str, str]:
    """Kind and name of the controller, both "" for a bare pod."""
    for entry in items(child(pod, "metadata").get("ownerReferences")):
        owner = mapping(entry)
        if owner.get("controller"):
            return str(owner.get("kind")), str(owner.get("name"))
    return "", ""


def is_active(pod: JsonDict) -> bool:
    phase = child(pod, "status").get("phase")
    return not is_deleting(pod) and phase not in ("Succeeded", "Failed")


def is_mirror(pod: JsonDict) -> bool:
    return MIRROR in annotations_of(pod)


def needs_room(pod: JsonDict) -> bool:
    """Whether the pod must go somewhere else when its node goes."""
    return is_active(pod) and owner_of(pod)[0] != "DaemonSet" and not is_mirror(pod)


def tolerates_disruption(pod: JsonDict) -> bool:
    tolerations = [mapping(entry) for entry in items(child(pod, "spec").get("tolerations"))]
    return any(
        entry.get("operator") == "Exists" and entry.get("key") in (None, DISRUPTED_TAINT) for entry in tolerations
    )


def is_evictable(pod: JsonDict) -> bool:
    return is_active(pod) and not is_mirror(pod) and not tolerates_disruption(pod)


def forbids_disruption(pod: JsonDict, at: datetime) -> bool:
    """Whether `karpenter.sh/do-not-disrupt` protects the pod now: true, or a duration since its start."""
    value = annotations_of(pod).get(DO_NOT_DISRUPT)
    if value is None or not is_active(pod):
        return False
    if value == "true":
        return True
    length, started = _duration(value), instant(child(pod, "status").get("startTime"))
    return length > timedelta(0) and (started is None or at < started + length)


def _duration(value: str) -> timedelta:
    try:
        return parse_duration(value)
    except InvalidInputError:
        return timedelta(0)


def is_ready(pod: JsonDict) -> bool:
    return condition_is_true(pod, "Ready")


def cpu_of(pod: JsonDict) -> Fraction:
    """The cores that the containers request together."""
    total = Fraction(0)
    for container in items(child(pod, "spec").get("containers")):
        requested = text(child(container, "resources", "requests").get("cpu"))
        total += parse_quantity(requested or "0") or 0
    return total
