"""How driftgate's own budget entries are told from a person's: by their spelling, without any record.

Karpenter reads `01` as 1 and `00` as 0, so the spelling changes nothing but who the entry belongs to. Everything
that is not spelled exactly so belongs to somebody else and is never taken away.

Source: both spellings tried on kube-apiserver v1.36.3 with Karpenter v1.14.1 (stored as written, obeyed as 1 and 0).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from driftgate.domain.budget import Budget, DisruptionReason

DRIFTED_ONLY = (DisruptionReason.DRIFTED.value,)
OPEN_MARK = Budget(nodes="01", reasons=DRIFTED_ONLY)
"""Lets Karpenter take one drifted node."""

GUARD_NODES = "00"
GUARD_DURATION = "8736h"
"""364 days: with a guard less than 24 hours ahead, last year's hit has always ended before the gate opens."""

_GUARD_SCHEDULE = re.compile(r"[0-9]+ [0-9]+ [0-9]+ [0-9]+ \*")


def is_open_mark(budget: Budget) -> bool:
    """Whether the entry is our opening. Fields added by a newer API server do not change whose it is."""
    return budget.nodes == OPEN_MARK.nodes and budget.reasons == DRIFTED_ONLY and budget.schedule is None


def is_guard_mark(budget: Budget) -> bool:
    """Whether the entry is our guard, of any minute."""
    return (
        budget.nodes == GUARD_NODES
        and budget.reasons == DRIFTED_ONLY
        and budget.duration == GUARD_DURATION
        and _GUARD_SCHEDULE.fullmatch(budget.schedule or "") is not None
    )


def is_mark(budget: Budget) -> bool:
    """Whether the entry is ours."""
    return is_open_mark(budget) or is_guard_mark(budget)


def without_marks(budgets: Iterable[Budget]) -> tuple[Budget, ...]:
    """The entries that are not ours, in their order."""
    return tuple(budget for budget in budgets if not is_mark(budget))


def without_guards(budgets: Iterable[Budget]) -> tuple[Budget, ...]:
    """The entries but for our guards: what stays the same when a guard is renewed."""
    return tuple(budget for budget in budgets if not is_guard_mark(budget))
