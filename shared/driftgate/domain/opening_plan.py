"""The roll that an opening starts with, and how it changes on the way: values only."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from driftgate.domain.gate import opened_list
from driftgate.domain.gate_duty import live_roll
from driftgate.domain.gate_patch import opening_patch, renewal_patch
from driftgate.domain.guard import next_guard, renewed_list
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.patch import JsonPatch
from driftgate.domain.roll import Roll, RollState


def roll_id(pool: str, now: datetime, after: str = "") -> str:
    """Sorts by time, to the millisecond; the pool's name keeps two pools of one moment apart.

    It sorts after the id `after` in any case: the clock of whoever wrote that one may be ahead of ours.
    """
    own = f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03d}Z-{pool}"
    return own if own > after else f"{after}.1"


def revert_by(now: datetime, open_timeout: timedelta, ends: tuple[datetime | None, ...]) -> datetime:
    """When an opening that starts now must be over: its timeout, or the earliest end of the permission."""
    return min([now + open_timeout, *(end for end in ends if end is not None)])


def timed(roll: Roll, now: datetime) -> Roll | None:
    """The roll with its times and opened list as of now; None where no guard fits before its revertBy."""
    if roll.revert_by is None:
        return None
    guard_at = next_guard(now, roll.revert_by)
    if guard_at is None:
        return None
    return replace(roll, opened_at=now, guard_at=guard_at, opened=opened_list(roll.baseline, guard_at))


def open_patch(pool: NodePoolSnapshot, roll: Roll, deployment: str) -> JsonPatch:
    """The patch that opens the gate for this roll, as timed."""
    return opening_patch(pool, live_roll(roll, deployment))


def renewed(roll: Roll, now: datetime) -> Roll | None:
    """The roll with its guard moved on; None where no later guard fits: then the gate must be closed."""
    if roll.guard_at is None or roll.revert_by is None or now >= roll.guard_at:
        return None
    later = next_guard(now, roll.revert_by)
    if later is None or later <= roll.guard_at:
        return None
    return replace(roll, guard_at=later, opened=renewed_list(roll.opened, roll.guard_at, later))


def renew_patch(pool: NodePoolSnapshot, roll: Roll, deployment: str) -> JsonPatch:
    """The patch that moves the guard on; the roll already has the later one."""
    return renewal_patch(pool, live_roll(roll, deployment))


def in_state(roll: Roll, state: RollState, now: datetime, holder: str) -> Roll:
    """The roll in a new state, with a fresh beat of its worker."""
    return replace(roll, state=state, state_since=now, beat_at=now, holder=holder)
