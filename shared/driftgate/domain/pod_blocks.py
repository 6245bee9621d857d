"""What the pods on a node say against emptying it, exactly as Karpenter asks them.

Source: sigs.k8s.io/karpenter v1.14.1, pkg/utils/pod/scheduling.go, pkg/utils/pdb/pdb.go and
pkg/controllers/state/statenode.go (ValidatePodsDisruptable). Karpenter stops at the first blocker; here all are
named. Must not look at the node itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.karpenter_version import Version, reads_durations
from driftgate.domain.nodes import DO_NOT_DISRUPT, PodDisruptionBudgetSnapshot, PodSnapshot
from driftgate.domain.pdb import allows_never
from driftgate.domain.plan import Hold
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.selectors import all_match

Pdbs = tuple[PodDisruptionBudgetSnapshot, ...]
FOR_EVER = datetime.max.replace(tzinfo=UTC)


def is_active(pod: PodSnapshot) -> bool:
    """Whether the pod runs or will run: neither finished nor being deleted."""
    return pod.phase not in ("Succeeded", "Failed") and pod.deleted_at is None


def is_reschedulable(pod: PodSnapshot) -> bool:
    """Whether the pod needs room elsewhere when its node goes; a node without such pods is empty to Karpenter."""
    stays = is_active(pod) or (pod.owner_kind == "StatefulSet" and pod.deleted_at is not None)
    return stays and pod.owner_kind != "DaemonSet" and not pod.is_mirror


def protected_until(pod: PodSnapshot, version: Version | None) -> datetime | None:
    """Until when the pod must not be disrupted: FOR_EVER without an end, None where it does not ask for it.

    A duration counts from the pod's start; without a known start it counts for ever, as in Karpenter. A value
    that is neither `true` nor a positive duration is ignored.
    """
    value = pod.annotations.get(DO_NOT_DISRUPT)
    if value == "true":
        return FOR_EVER
    length = _duration(value) if value is not None and reads_durations(version) else None
    if length is None:
        return None
    return FOR_EVER if pod.started_at is None else pod.started_at + length


@dataclass(slots=True)
class PodIndex:
    """Pods by node and PodDisruptionBudgets by namespace, built once for the nodes that are asked about.

    Pods of one workload share their labels object (see the adapters), so that each distinct set of labels is
    matched once, not once per pod.
    """

    at: datetime
    version: Version | None
    _pods: Mapping[str, Sequence[PodSnapshot]]
    _pdbs: Mapping[str, Pdbs]
    _matched: dict[tuple[str, int], Pdbs] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        pods: Iterable[PodSnapshot],
        pdbs: Iterable[PodDisruptionBudgetSnapshot],
        nodes: Collection[str],
        *,
        at: datetime,
        version: Version | None,
    ) -> PodIndex:
        """The index for these node names; pods elsewhere are passed over."""
        by_node: dict[str, list[PodSnapshot]] = {name: [] for name in nodes}
        for pod in pods:
            bucket = by_node.get(pod.node_name)
            if bucket is not None:
                bucket.append(pod)
        by_namespace: dict[str, list[PodDisruptionBudgetSnapshot]] = defaultdict(list)
        for budget in pdbs:
            by_namespace[budget.namespace].append(budget)
        return cls(at, version, by_node, {name: tuple(found) for name, found in by_namespace.items()})

    def is_empty(self, node: str) -> bool:
        """Whether no pod on the node needs room elsewhere (DaemonSet, mirror and finished pods do not)."""
        return not any(pod.scheduled and is_reschedulable(pod) for pod in self._pods.get(node, ()))

    def nominated(self, node: str) -> tuple[PodSnapshot, ...]:
        """Pending pods that are promised to the node."""
        return tuple(pod for pod in self._pods.get(node, ()) if not pod.scheduled and is_active(pod))

    def blocks(self, node: str) -> tuple[Hold, ...]:
        """Why the pods keep the node: do-not-disrupt first, then pods under two PDBs, then PDBs at zero."""
        protected: list[PodSnapshot] = []
        others: list[PodSnapshot] = []
        for pod in self._pods.get(node, ()):
            if pod.scheduled and is_active(pod):
                (protected if self._is_protected(pod) else others).append(pod)
        return (*self._do_not_disrupt(protected), *self._pdb_blocks(others))

    def _is_protected(self, pod: PodSnapshot) -> bool:
        until = protected_until(pod, self.version) if pod.annotations else None
        return until is not None and self.at < until

    def _do_not_disrupt(self, protected: Sequence[PodSnapshot]) -> Iterator[Hold]:
        if not protected:
            return
        ends = [protected_until(pod, self.version) or FOR_EVER for pod in protected]
        until = None if max(ends) == FOR_EVER else max(ends)
        keys = sorted(pod.key for pod in protected)
        ending = f", until {rfc3339(until)}" if until is not None else ""
        yield Hold(
            code=ReasonCode.POD_DO_NOT_DISRUPT,
            objects=tuple(f"pod/{key}" for key in keys),
            message=f"{DO_NOT_DISRUPT} protects {', '.join(keys)}{ending}.",
            until=until,
        )

    def _pdb_blocks(self, pods: Sequence[PodSnapshot]) -> Iterator[Hold]:
        exhausted: dict[str, tuple[PodDisruptionBudgetSnapshot, list[str]]] = {}
        for pod in filter(_is_evicted, pods):
            matching = self._matching(pod)
            if len(matching) > 1:
                yield _two_pdbs(pod, matching)
            elif matching and _holds(matching[0], pod):
                exhausted.setdefault(matching[0].key, (matching[0], []))[1].append(pod.key)
        for key in sorted(exhausted):
            yield from _at_zero(*exhausted[key])

    def _matching(self, pod: PodSnapshot) -> Pdbs:
        budgets = self._pdbs.get(pod.namespace)
        if budgets is None:
            return ()
        signature = (pod.namespace, id(pod.labels))
        found = self._matched.get(signature)
        if found is None:
            found = tuple(b for b in budgets if b.selector is not None and all_match(b.selector, pod.labels))
            self._matched[signature] = found
        return found


def _duration(value: str) -> timedelta | None:
    try:
        length = parse_duration(value)
    except InvalidInputError:
        return None
    return length if length > timedelta(0) else None


def _is_evicted(pod: PodSnapshot) -> bool:
    """Whether Karpenter would call the eviction API for it, so that PDBs matter."""
    return not pod.tolerates_disruption and not pod.is_mirror


def _holds(budget: PodDisruptionBudgetSnapshot, pod: PodSnapshot) -> bool:
    if budget.unhealthy_pod_eviction_policy == "AlwaysAllow" and not pod.ready:
        return False
    return budget.disruptions_allowed == 0


def _two_pdbs(pod: PodSnapshot, matching: Pdbs) -> Hold:
    names = sorted(budget.key for budget in matching)
    return Hold(
        code=ReasonCode.TWO_PDBS,
        objects=(*(f"pdb/{name}" for name in names), f"pod/{pod.key}"),
        message=f"{pod.key} is under {' and '.join(names)}: the eviction API refuses a pod with several budgets.",
    )


def _at_zero(budget: PodDisruptionBudgetSnapshot, pods: list[str]) -> Iterator[Hold]:
    objects = (f"pdb/{budget.key}",)
    held = f"{', '.join(sorted(pods)[:3])}{' and others' if len(pods) > 3 else ''}"
    yield Hold(
        code=ReasonCode.PDB_EXHAUSTED,
        objects=objects,
        message=f"{budget.key} allows no eviction now; it covers {held}.",
    )
    if never := allows_never(budget):
        yield Hold(code=ReasonCode.PDB_NEVER_ALLOWS, objects=objects, message=f"{budget.key} {never}")
