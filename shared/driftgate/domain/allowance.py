"""What budgets allow at one moment: Karpenter's own arithmetic, errors included.

No policy of ours and no question over time belongs here; `horizon` answers those with the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from driftgate.domain.budget import Budget, DisruptionReason


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetProblem:
    """Why Karpenter cannot use an entry: the place, and what to write instead where that is known."""

    entry: int
    field: str
    position: int
    message: str
    suggestion: str = ""


def number(budget: Budget, total: int) -> int:
    raise NotImplementedError


def is_active(budget: Budget, at: datetime) -> bool:
    raise NotImplementedError


def allowed(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> int | None:
    raise NotImplementedError


def allowed_by_reason(budgets: Sequence[Budget], total: int, at: datetime) -> dict[DisruptionReason, int | None]:
    raise NotImplementedError


def binding(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> tuple[int, ...]:
    raise NotImplementedError


def problems(budgets: Sequence[Budget]) -> tuple[BudgetProblem, ...]:
    raise NotImplementedError
