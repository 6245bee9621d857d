"""Whether this is the time: mode, stops, windows, blackouts, calendars, counts and pauses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.ledger import Stop, StopCause
from driftgate.domain.nodepool import PAUSED_ANNOTATION, NodePoolSnapshot
from driftgate.domain.observation import Observation
from driftgate.domain.plan import Hold
from driftgate.domain.policy import Mode, NowRequest, PoolPolicy
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.roll_counts import OpeningCount
from driftgate.domain.stops import is_standing
from driftgate.domain.window import (
    Interval,
    active_blackouts,
    current_window,
    end_of_permission,
    next_blackout_start,
    next_window,
    window_key,
)

UNUSED_AT_MOST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The time as one pool's policy sees it."""

    now: datetime
    window: Interval | None
    upcoming: Interval | None
    key: str

    @classmethod
    def of(cls, pool: str, policy: PoolPolicy, now: datetime, request: NowRequest | None) -> Moment:
        """The current and the next window; a person's `--now` has a key of its own, filled in by its roll."""
        window = current_window(policy.windows, now)
        upcoming = next_window(policy.windows, now)
        key = window_key(pool, window) if window is not None and request is None else ""
        return cls(now=now, window=window, upcoming=upcoming, key=key)


def mode_holds(policy: PoolPolicy) -> tuple[Hold, ...]:
    """OBSERVE_MODE unless the owner decided that driftgate may act."""
    if policy.mode is Mode.ACT:
        return ()
    text = "The mode is observe: driftgate would have gone on from here, and writes nothing."
    return (Hold(code=ReasonCode.OBSERVE_MODE, message=text, remedy="Set mode: act when you trust what you read."),)


def stop_holds(
    observation: Observation, cluster: str, nodepool: NodePoolSnapshot, policy: PoolPolicy
) -> tuple[Hold, ...]:
    """Pauses and stops that stand, the pool's own annotation among them."""
    own = (nodepool.annotations or {}).get(PAUSED_ANNOTATION)
    paused = () if own is None else (_paused_by_annotation(nodepool.name, own),)
    if observation.stops is None:
        return (*paused, ledger_unknown("stops"))
    covering = (stop for stop in observation.stops if stop.covers(cluster, nodepool.name))
    standing = (s for s in covering if is_standing(s, observation) and _concerns(s, policy, observation))
    return paused + tuple(_stop_hold(stop) for stop in standing)


def window_holds(moment: Moment, request: NowRequest | None) -> tuple[Hold, ...]:
    """OUTSIDE_WINDOW unless a window is open or a person asked for now."""
    if moment.window is not None or request is not None:
        return ()
    return (_outside(moment.upcoming),)


def blackout_holds(observation: Observation, policy: PoolPolicy, now: datetime) -> tuple[Hold, ...]:
    """Blackouts of the configuration and closed or unknown change calendars."""
    black = tuple(
        Hold(
            code=ReasonCode.BLACKOUT,
            message=f"The blackout {b.name} covers this time{f': {b.reason}' if b.reason else '.'}",
            objects=(f"blackout/{b.name}",),
            until=b.end,
            remedy=f"Its end lifts this{f'; ask {b.owner}' if b.owner else ''}.",
        )
        for b in active_blackouts(policy.blackouts, now)
    )
    return black + tuple(h for name in policy.guards.calendars for h in _calendar_holds(name, observation))


def count_holds(count: OpeningCount, policy: PoolPolicy, request: NowRequest | None) -> tuple[Hold, ...]:
    """PER_WINDOW_REACHED and UNUSED_OPENINGS for the current window."""
    holds: list[Hold] = []
    most = policy.open.per_window
    if most is not None and count.taken >= most and request is None:
        text = f"{count.taken} of {most} openings of this window are used."
        holds.append(Hold(code=ReasonCode.PER_WINDOW_REACHED, message=text, remedy="The next window lifts this."))
    if count.unused >= UNUSED_AT_MOST:
        text = f"{count.unused} openings of this window took no node, so another one is not worth trying."
        remedy = "Look at what blocks the nodes; the next window lifts this."
        holds.append(Hold(code=ReasonCode.UNUSED_OPENINGS, message=text, remedy=remedy))
    return tuple(holds)


def pause_holds(finished: Iterable[Roll], policy: PoolPolicy, now: datetime) -> tuple[Hold, ...]:
    """PAUSE_BETWEEN after the pool's last roll that took a node, and until the last guard's minute has passed."""
    took = (roll for roll in finished if roll.state is not RollState.CLOSED_UNUSED)
    ends = [((roll.ended_at or roll.state_since) + policy.open.pause_between, roll) for roll in took]
    guards = [(roll.guard_at, roll) for roll in finished if roll.guard_at]
    later = [(until, roll) for until, roll in ends + guards if until > now]
    if not later:
        return ()
    until, roll = max(later, key=lambda pair: pair[0])
    ended = rfc3339(roll.ended_at or roll.state_since)
    text = f"The roll {roll.id} ended at {ended}; the next may follow at {rfc3339(until)}."
    return (Hold(code=ReasonCode.PAUSE_BETWEEN, message=text, until=until, remedy="Time lifts this."),)


def ends_of_permission(
    now: datetime, observation: Observation, policy: PoolPolicy, request: NowRequest | None
) -> tuple[tuple[datetime, str], ...]:
    """When the permission to have a gate open ends, and by what: windows, next blackout, closing of a calendar.

    A person's `--now` needs no window, so its end does not bound that.
    """
    calendars = [
        (c.next_transition, f"the change calendar {c.name} closes")
        for c in observation.calendars or ()
        if c.name in policy.guards.calendars and c.state == "OPEN" and c.next_transition is not None
    ]
    window = None if request is not None else end_of_permission(policy.windows, (), now)
    black = next_blackout_start(policy.blackouts, now)
    bounds = ((window, "the window ends"), (black, "a blackout begins"))
    return (*((end, why) for end, why in bounds if end is not None), *calendars)


def _concerns(stop: Stop, policy: PoolPolicy, observation: Observation) -> bool:
    """An alarm's stop concerns the pools that the alarm guards; one that guards none here concerns all."""
    if stop.cause is not StopCause.ALARM:
        return True
    own = {guard.name for guard in policy.guards.alarms or ()}
    is_known = any(alarm.name == stop.ref for alarm in observation.alarms or ())
    return stop.ref in own or not is_known


def _paused_by_annotation(pool: str, reason: str) -> Hold:
    return Hold(
        code=ReasonCode.PAUSED,
        message=f"The NodePool carries {PAUSED_ANNOTATION}: {reason or 'no reason given'}.",
        objects=(f"nodepool/{pool}",),
        remedy="Remove the annotation from the NodePool.",
    )


def _stop_hold(stop: Stop) -> Hold:
    scope = stop.pool or (stop.cluster if stop.cluster != "*" else "the fleet")
    if stop.cause is StopCause.PAUSE:
        why = f": {stop.reason}" if stop.reason else "."
        return Hold(
            code=ReasonCode.PAUSED,
            message=f"{stop.ref or 'Somebody'} paused {scope}{why}",
            until=stop.until,
            remedy=f"`driftgate resume` for {scope} lifts this.",
        )
    if stop.cause is StopCause.ALARM:
        text = f"The alarm {stop.ref} stopped {scope}; it has not been read OK since."
        return Hold(code=ReasonCode.STOPPED, message=text, objects=(f"alarm/{stop.ref}",), until=stop.until)
    text = f"The roll {stop.ref} of {scope} was closed from outside and has not ended yet."
    return Hold(code=ReasonCode.STOPPED, message=text, objects=(f"roll/{stop.ref}",), until=stop.until)


def _outside(upcoming: Interval | None) -> Hold:
    if upcoming is None:
        return Hold(
            code=ReasonCode.OUTSIDE_WINDOW,
            message="No maintenance window is open, and none is to come.",
            remedy="Configure a window: without one nothing ever opens.",
            needs_person=True,
        )
    return Hold(
        code=ReasonCode.OUTSIDE_WINDOW,
        message=f"No maintenance window is open; {upcoming.name} starts at {rfc3339(upcoming.start)}.",
        until=upcoming.start,
        remedy="The next window lifts this.",
    )


def _calendar_holds(name: str, observation: Observation) -> tuple[Hold, ...]:
    is_unread = any(e.resource == "calendars" and e.name in ("", name) for e in observation.errors)
    found = None if is_unread else next((c for c in observation.calendars or () if c.name == name), None)
    if found is not None and found.state == "OPEN":
        return ()
    objects = (f"calendar/{name}",)
    if found is None:
        text = f"The change calendar {name} could not be read."
        return (Hold(code=ReasonCode.UNKNOWN, message=text, objects=objects, remedy="Allow ssm:GetCalendarState."),)
    text = f"The change calendar {name} is {found.state}."
    return (Hold(code=ReasonCode.BLACKOUT, message=text, objects=objects, until=found.next_transition),)


def ledger_unknown(what: str) -> Hold:
    """UNKNOWN, because the ledger did not say which `what` there are."""
    return Hold(
        code=ReasonCode.UNKNOWN,
        message=f"The ledger's {what} are not known, so nobody can say that nothing speaks against an opening.",
        objects=(f"ledger/{what}",),
        remedy=f"Give the observation a list of {what} (an empty one if there are none), or a ledger to read.",
    )
