"""PodDisruptionBudgets: which pods they cover, their status, and whether an eviction may happen now."""

from __future__ import annotations

import math

from driftgate.domain.jsonvalue import child, items, mapping, strings
from driftgate.domain.nodes import SelectorTerm
from driftgate.domain.selectors import matches
from driftgate.sim.kinds import PDBS, PODS
from driftgate.sim.objects import JsonDict, is_deleting, namespace_of, section
from driftgate.sim.pods import Pods, is_active, is_ready
from driftgate.sim.store import Change, Store, Stored
from driftgate.sim.writes import Writes

MANAGER = "kube-controller-manager"


class Pdbs:
    """Keeps every PDB's status true to its pods, at once."""

    def __init__(self, store: Store, writes: Writes, pods: Pods) -> None:
        self._store = store
        self._writes = writes
        self._pods = pods
        store.listeners.append(self._heard)

    def covering(self, pod: Stored) -> list[Stored]:
        """The PDBs whose selector takes the pod."""
        namespace = namespace_of(pod.obj)
        there = [entry for entry in self._store.all_of(PDBS) if namespace_of(entry.obj) == namespace]
        return [entry for entry in there if _selects(entry.obj, pod.labels)]

    def may_evict(self, pod: Stored) -> bool:
        """Whether the eviction API would take the pod now. Under more than one PDB it never does."""
        covering = self.covering(pod)
        if len(covering) > 1:
            return False
        return not covering or _allowed(covering[0].obj) > 0 or _may_go_unready(covering[0].obj, pod.obj)

    def blocks(self, pod: Stored) -> str:
        """Why Karpenter would not choose a node with this pod, "" where nothing is in the way."""
        if len(self.covering(pod)) > 1:
            return "eviction does not support multiple PDBs"
        return "" if self.may_evict(pod) else "pdb prevents pod evictions"

    def _heard(self, change: Change) -> None:
        if change.kind is PDBS and change.type == "ADDED":
            self._update(change.after)
        elif change.kind is PDBS and change.type == "MODIFIED" and change.before is not None:
            if child(change.before.obj, "spec") != child(change.after.obj, "spec"):
                self._update(change.after)
        elif change.kind is PODS:
            for pdb in self.covering(change.after):
                self._update(pdb)

    def _update(self, pdb: Stored) -> None:
        namespace = namespace_of(pdb.obj)
        covered = [
            pod
            for pod in self._pods.of_namespace(namespace)
            if _selects(pdb.obj, pod.labels) and (is_active(pod.obj) or is_deleting(pod.obj))
        ]
        expected = len([pod for pod in covered if is_active(pod.obj)])
        healthy = len([pod for pod in covered if is_active(pod.obj) and is_ready(pod.obj)])
        desired = _desired(pdb.obj, expected)

        def edit(obj: JsonDict) -> None:
            section(obj, "status").update(
                expectedPods=expected,
                currentHealthy=healthy,
                desiredHealthy=desired,
                disruptionsAllowed=max(0, healthy - desired) if expected else 0,
            )

        self._writes.change(PDBS, pdb.key, edit, MANAGER, subresource="status")


def _selects(pdb: JsonDict, labels: dict[str, str]) -> bool:
    selector = child(pdb, "spec").get("selector")
    if selector is None:
        return False
    wanted = strings(child(selector, "matchLabels"))
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(mapping(entry), labels) for entry in items(mapping(selector).get("matchExpressions")))


def _holds(expression: object, labels: dict[str, str]) -> bool:
    entry = mapping(expression)
    values = tuple(str(value) for value in items(entry.get("values")))
    term = SelectorTerm(key=str(entry.get("key")), operator=str(entry.get("operator")), values=values)
    return matches(term, labels.get(term.key))


def _allowed(pdb: JsonDict) -> int:
    found = child(pdb, "status").get("disruptionsAllowed")
    return found if isinstance(found, int) else 0


def _may_go_unready(pdb: JsonDict, pod: JsonDict) -> bool:
    return child(pdb, "spec").get("unhealthyPodEvictionPolicy") == "AlwaysAllow" and not is_ready(pod)


def _desired(pdb: JsonDict, expected: int) -> int:
    """How many pods must stay healthy; percentages round up, as the real controller has it."""
    spec = child(pdb, "spec")
    if (least := spec.get("minAvailable")) is not None:
        return _scaled(least, expected)
    most = spec.get("maxUnavailable")
    return expected if most is None else max(0, expected - _scaled(most, expected))


def _scaled(value: object, expected: int) -> int:
    if isinstance(value, int):
        return value
    shown = str(value)
    return math.ceil(int(shown.rstrip("%")) * expected / 100) if shown.endswith("%") else int(shown)
