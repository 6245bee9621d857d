"""What the pods on a node say against emptying it, exactly as Karpenter asks them.

Source: sigs.k8s.io/karpenter v1.14.1, pkg/utils/pod/scheduling.go, pkg/utils/pdb/pdb.go and
pkg/controllers/state/statenode.go (ValidatePodsDisruptable). Karpenter stops at the first blocker; here all are
named. Must not look at the node itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.karpenter_version import Version, reads_durations
from driftgate.domain.nodes import DO_NOT_DISRUPT, PodDisruptionBudgetSnapshot, PodSnapshot
from driftgate.domain.pdb import PdbCoverage, Pdbs, allows_never
from driftgate.domain.plan import Hold
from driftgate.domain.reasons import ReasonCode

FOR_EVER = datetime.max.replace(tzinfo=UTC)


def is_active(pod: PodSnapshot) -> bool:
    """Whether the pod runs or will run: neither finished nor being deleted."""
    return pod.deleted_at is None and pod.phase != "Succeeded" and pod.phase != "Failed"


def is_reschedulable(pod: PodSnapshot) -> bool:
    """Whether the pod needs room elsewhere when its node goes; a node without such pods is empty to Karpenter."""
    if pod.owner_kind == "DaemonSet" or pod.is_mirror:
        return False
    return is_active(pod) or (pod.owner_kind == "StatefulSet" and pod.deleted_at is not None)


def lone_pods(pods: Iterable[PodSnapshot], node: str) -> tuple[PodSnapshot, ...]:
    """The pods on the node that need room elsewhere and of whose owner no other pod was read."""
    found = tuple(pod for pod in pods if is_reschedulable(pod))
    replicas = Counter((pod.namespace, pod.owner_kind, pod.owner_name or pod.name) for pod in found)
    return tuple(
        pod
        for pod in found
        if pod.node_name == node and replicas[pod.namespace, pod.owner_kind, pod.owner_name or pod.name] == 1
    )


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


class PodIndex:
    """The pods of the nodes that are asked about, sorted once by what they say.

    A large cluster has a hundred thousand pods: those elsewhere, and those without a say, leave nothing behind.
    """

    __slots__ = ("_at", "_covered", "_nominated", "_protected", "_version", "_with_pods")

    def __init__(
        self,
        pods: Iterable[PodSnapshot],
        pdbs: Iterable[PodDisruptionBudgetSnapshot],
        nodes: Collection[str],
        *,
        at: datetime,
        version: Version | None,
    ) -> None:
        self._at = at
        self._version = version
        self._with_pods: set[str] = set()
        self._nominated: dict[str, list[PodSnapshot]] = {}
        self._protected: dict[str, list[PodSnapshot]] = {}
        self._covered: dict[str, list[tuple[PodSnapshot, Pdbs]]] = {}
        self._sort(pods, frozenset(nodes), PdbCoverage(pdbs))

    def is_empty(self, node: str) -> bool:
        """Whether no pod on the node needs room elsewhere (DaemonSet, mirror and finished pods do not)."""
        return node not in self._with_pods

    def nominated(self, node: str) -> Sequence[PodSnapshot]:
        """Pending pods that are promised to the node."""
        return self._nominated.get(node, ())

    def blocks(self, node: str) -> tuple[Hold, ...]:
        """Why the pods keep the node: do-not-disrupt first, then pods under two PDBs, then PDBs at zero."""
        protected, covered = self._protected.get(node, ()), self._covered.get(node, ())
        return (*self._do_not_disrupt(protected), *_pdb_blocks(covered)) if protected or covered else ()

    def _sort(self, pods: Iterable[PodSnapshot], nodes: Collection[str], coverage: PdbCoverage) -> None:
        with_pods, answers = self._with_pods, coverage.answers
        for pod in pods:
            node = pod.node_name
            if node not in nodes:
                continue
            if not pod.scheduled:
                if is_active(pod):
                    self._nominated.setdefault(node, []).append(pod)
                continue
            if node not in with_pods and is_reschedulable(pod):
                with_pods.add(node)
            if pod.annotations and self._is_protected(pod):
                self._protected.setdefault(node, []).append(pod)
                continue
            known = answers.get(pod.namespace)
            if known is None:
                continue
            budgets = known.get(id(pod.labels))
            if budgets is None:
                budgets = coverage.ask(pod)
            if budgets and _is_evicted(pod):
                self._covered.setdefault(node, []).append((pod, budgets))

    def _is_protected(self, pod: PodSnapshot) -> bool:
        until = protected_until(pod, self._version) if is_active(pod) else None
        return until is not None and self._at < until

    def _do_not_disrupt(self, protected: Sequence[PodSnapshot]) -> Iterator[Hold]:
        if not protected:
            return
        until = max(protected_until(pod, self._version) or FOR_EVER for pod in protected)
        keys = sorted(pod.key for pod in protected)
        ending = f", until {rfc3339(until)}" if until != FOR_EVER else ""
        yield Hold(
            code=ReasonCode.POD_DO_NOT_DISRUPT,
            objects=tuple(f"pod/{key}" for key in keys),
            message=f"{DO_NOT_DISRUPT} protects {', '.join(keys)}{ending}.",
            until=None if until == FOR_EVER else until,
        )


def _duration(value: str) -> timedelta | None:
    try:
        length = parse_duration(value)
    except InvalidInputError:
        return None
    return length if length > timedelta(0) else None


def _is_evicted(pod: PodSnapshot) -> bool:
    """Whether Karpenter would call the eviction API for it, so that PDBs matter."""
    return is_active(pod) and not pod.tolerates_disruption and not pod.is_mirror


def _pdb_blocks(covered: Sequence[tuple[PodSnapshot, Pdbs]]) -> Iterator[Hold]:
    exhausted: dict[str, tuple[PodDisruptionBudgetSnapshot, list[str]]] = {}
    for pod, budgets in covered:
        if len(budgets) > 1:
            yield _two_pdbs(pod, budgets)
        elif pod.ready or budgets[0].unhealthy_pod_eviction_policy != "AlwaysAllow":
            exhausted.setdefault(budgets[0].key, (budgets[0], []))[1].append(pod.key)
    for key in sorted(exhausted):
        yield from _at_zero(*exhausted[key])


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
