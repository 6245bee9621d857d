"""Whether a roll's worker is gone or its gate past its time, by the record alone.

Kept apart from what follows from it (`advance`), so that who only asks need not load that. Must not decide.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from driftgate.domain.roll import Roll

BEAT_STALE = timedelta(seconds=90)


def is_abandoned(roll: Roll, now: datetime) -> bool:
    """Whether the worker that had the gate open gave no sign of life for 90 seconds."""
    return roll.beat_at is not None and now - roll.beat_at > BEAT_STALE


def is_overdue(roll: Roll, now: datetime) -> bool:
    """Whether an open gate is past its revertBy."""
    return roll.may_be_open and roll.revert_by is not None and now >= roll.revert_by
