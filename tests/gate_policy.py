"""What the cluster's admission policy lets driftgate change in a NodePool's budgets, as a predicate.

Written from the policy's own rules and not from the product's code: the second opinion on every write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from driftgate.domain.budget import Budget

OTHERS = ("Empty", "Underutilized")


def refusals(before: Sequence[Budget], after: Sequence[Budget]) -> list[str]:
    """Why the policy refuses this change of budgets; empty where it lets it pass."""
    if list(before) == list(after):
        return []
    found = [f"{reason} moves" for reason in OTHERS if limits_of(before, reason) != limits_of(after, reason)]
    old, new = _of(before, "Drifted"), _of(after, "Drifted")
    found += [f"added {b}" for b in _less(new, old) if not (_is_zero(b) or _is_mark(b))]
    found += [f"removed {b}" for b in _less(old, new) if not ((_is_zero(b) and b.schedule is None) or _is_mark(b))]
    if _applying_to_nothing(after) > _applying_to_nothing(before):
        found.append("more entries with `reasons: []`")
    if not after:
        found.append("empty list")
    if not any(b.schedule is None and (_is_zero(b) or _is_mark(b)) for b in new):
        found.append("no always-on zero or open mark on Drifted")
    if len(after) > 50:
        found.append("more than 50 entries")
    return found


def limits_of(budgets: Sequence[Budget], reason: str) -> list[tuple[str, str, str]]:
    """What applies to the reason, as a multiset: number, schedule, duration."""
    return sorted((b.nodes, b.schedule or "", b.duration or "") for b in _of(budgets, reason))


def _of(budgets: Sequence[Budget], reason: str) -> list[Budget]:
    return [b for b in budgets if b.reasons is None or reason in b.reasons]


def _less(some: Sequence[Budget], others: Sequence[Budget]) -> list[Budget]:
    left, found = list(others), []
    for budget in some:
        if budget in left:
            left.remove(budget)
        else:
            found.append(budget)
    return found


def _is_zero(budget: Budget) -> bool:
    return re.fullmatch(r"0+%?", budget.nodes) is not None


def _is_mark(budget: Budget) -> bool:
    if budget.reasons != ("Drifted",):
        return False
    is_open = budget.nodes == "01" and budget.schedule is None
    is_dated = re.fullmatch(r"\d+ \d+ \d+ \d+ \*", budget.schedule or "", re.ASCII) is not None
    return is_open or (budget.nodes == "00" and is_dated and budget.duration == "8736h")


def _applying_to_nothing(budgets: Sequence[Budget]) -> int:
    return sum(budget.reasons == () for budget in budgets)
