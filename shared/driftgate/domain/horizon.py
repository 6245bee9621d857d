"""What budgets allow over time: the coming year, minute by minute, as bits of big integers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from driftgate.domain.budget import Budget, DisruptionReason


def next_change(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> datetime | None:
    raise NotImplementedError


def next_opening(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> datetime | None:
    raise NotImplementedError


def never_opens(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> bool:
    raise NotImplementedError


def change_points(budgets: Sequence[Budget], start: datetime, end: datetime) -> tuple[datetime, ...]:
    raise NotImplementedError


def closes_together(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> tuple[int, ...]:
    raise NotImplementedError
