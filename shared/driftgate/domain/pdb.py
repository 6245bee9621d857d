"""Whether a PodDisruptionBudget could ever allow an eviction, even with every pod healthy."""

from __future__ import annotations

from driftgate.domain.nodes import PodDisruptionBudgetSnapshot


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
