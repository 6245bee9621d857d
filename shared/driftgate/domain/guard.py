"""The guard: the entry by which Karpenter itself shuts an open gate if all of driftgate is gone.

It is one scheduled zero that begins at a full minute, 30 to 90 seconds ahead, and lasts 364 days. A living worker
moves it on; nobody needs to be alive for it to act. It stops new disruptions only, not one that has begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from driftgate.domain.budget import Budget
from driftgate.domain.errors import InvariantError
from driftgate.domain.marks import DRIFTED_ONLY, GUARD_DURATION, GUARD_NODES

MINUTE = timedelta(minutes=1)
GUARD_LEAD = timedelta(seconds=30)
"""A guard is written at least this long before its minute."""

RENEWAL_LEAD = timedelta(seconds=20)
"""A guard with less than this to go is renewed, or the gate is closed."""

GUARD_SPAN = timedelta(hours=8736)


def first_guard(now: datetime) -> datetime:
    """The first full minute at least 30 s after `now`."""
    at = floor_minute(now + GUARD_LEAD)
    return at if at == now + GUARD_LEAD else at + MINUTE


def next_guard(now: datetime, revert_by: datetime) -> datetime | None:
    """The first guard after `now`; None where it would lie past `revert_by`."""
    at = first_guard(now)
    return at if at <= revert_by else None


def guard_entry(at: datetime) -> Budget:
    """The guard that shuts Drifted from `at` on, for 364 days.

    One dated 29 February returns only in the next leap year; any other returns after a year.

    Raises:
        InvariantError: `at` is not a full minute, so no schedule can begin there.
    """
    if at != floor_minute(at):
        raise InvariantError(f"a guard begins at a full minute, not at {at.isoformat()}")
    utc = at.astimezone(UTC)
    schedule = f"{utc.minute} {utc.hour} {utc.day} {utc.month} *"
    return Budget(nodes=GUARD_NODES, reasons=DRIFTED_ONLY, schedule=schedule, duration=GUARD_DURATION)


def needs_renewal(guard_at: datetime, now: datetime) -> bool:
    """Whether the guard acts in less than 20 s, or acts already."""
    return guard_at - now < RENEWAL_LEAD


def renewed_list(opened: Sequence[Budget], old_guard: datetime, new_guard: datetime) -> tuple[Budget, ...]:
    """The opened list with its guard moved to a later minute, everything else as it was.

    Raises:
        InvariantError: the old guard is not in the list exactly once, or the new one is not later.
    """
    old, new = guard_entry(old_guard), guard_entry(new_guard)
    if list(opened).count(old) != 1 or new_guard <= old_guard:
        raise InvariantError(f"the guard of {old_guard.isoformat()} cannot move to {new_guard.isoformat()}")
    return tuple(new if budget == old else budget for budget in opened)


def floor_minute(at: datetime) -> datetime:
    """The full minute in which the instant lies."""
    return at.replace(second=0, microsecond=0)
