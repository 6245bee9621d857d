"""PodDisruptionBudgets: which pods one covers, and whether it could ever allow an eviction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from driftgate.domain.nodes import PodDisruptionBudgetSnapshot, PodSnapshot
from driftgate.domain.selectors import all_match

Pdbs = tuple[PodDisruptionBudgetSnapshot, ...]


class PdbCoverage:
    """The budgets that keep a pod from being evicted: one at zero, or any two.

    Pods of one workload share their labels object (the adapters see to it), so that each distinct set of labels
    is matched once and not once per pod. The pods must outlive the coverage.

    `answers` are the budgets found so far, by namespace and by the id of a labels object. A namespace that is not
    there has no budget that could keep a pod. A caller with a hundred thousand pods looks there first.
    """

    __slots__ = ("_budgets", "answers")

    def __init__(self, budgets: Iterable[PodDisruptionBudgetSnapshot]) -> None:
        by_namespace: dict[str, list[PodDisruptionBudgetSnapshot]] = defaultdict(list)
        for budget in budgets:
            if budget.selector is not None:
                by_namespace[budget.namespace].append(budget)
        self._budgets = {name: found for name, found in by_namespace.items() if _may_hold(found)}
        self.answers: dict[str, dict[int, Pdbs]] = {name: {} for name in self._budgets}

    def ask(self, pod: PodSnapshot) -> Pdbs:
        """The budgets for a pod of a namespace that has `answers`, which hold this one from now on."""
        matching = tuple(b for b in self._budgets[pod.namespace] if all_match(b.selector or (), pod.labels))
        found = self.answers[pod.namespace][id(pod.labels)] = matching if _may_hold(matching) else ()
        return found


def _may_hold(budgets: Pdbs | list[PodDisruptionBudgetSnapshot]) -> bool:
    return len(budgets) > 1 or any(budget.disruptions_allowed == 0 for budget in budgets)


def allows_never(budget: PodDisruptionBudgetSnapshot) -> str:
    """Why it can never allow one, as the end of a sentence; "" where it can, or where that is not known.

    Source: Kubernetes, pkg/controller/disruption/disruption.go (percentages round up, both ways).
    """
    expected = budget.expected_pods
    if budget.max_unavailable is not None:
        most = _scaled(budget.max_unavailable, expected)
        return f"can never allow one: maxUnavailable is {budget.max_unavailable}." if most == 0 else ""
    if budget.min_available == "100%":
        return "can never allow one: minAvailable is 100%."
    least = None if budget.min_available is None else _scaled(budget.min_available, expected)
    if least is None or not expected or least < expected:
        return ""
    return f"can never allow one: minAvailable {budget.min_available} of {expected} expected pods leaves none to spare."


def _scaled(value: str, expected: int | None) -> int | None:
    """The number of pods; a percentage of an unknown number is unknown, but for 0%."""
    if not value.endswith("%"):
        return int(value) if value.isdigit() else None
    percent = int(value[:-1]) if value[:-1].isdigit() else None
    if percent == 0:
        return 0
    return None if percent is None or expected is None else -(-percent * expected // 100)
