"""Maintenance windows and blackouts: when disruption may, and must not, happen.

Asks "is it open at this instant", never "is this the hour". Every start of a window is an interval of its own:
it begins where the wall clock of its zone first shows the time (a time that the spring change leaves out: the
first instant after it) and lasts its duration in elapsed time, whatever the clock does meanwhile. Where intervals
overlap, the union is open. Nothing here reads the clock or the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from driftgate.domain.cron import CronSchedule
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.zone import first_instant, load_zone, wall_clock

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
# An opening ends within hours: how far ahead the union is followed before its end is taken as it stands.
_UNION_HORIZON = _DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Half-open: start included, end excluded. Both aware, UTC."""

    start: datetime
    end: datetime
    name: str = ""

    def covers(self, at: datetime) -> bool:
        return self.start <= at < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceWindow:
    """Starts by cron in an IANA zone, lasts an elapsed duration."""

    name: str
    timezone: str
    cron: str
    duration: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Blackout:
    """Half-open span in which nothing opens; `end` None means until it is lifted."""

    name: str
    start: datetime
    end: datetime | None
    owner: str = ""
    reason: str = ""

    def covers(self, at: datetime) -> bool:
        return self.start <= at and (self.end is None or at < self.end)


def current_window(windows: Sequence[MaintenanceWindow], at: datetime) -> Interval | None:
    """The interval that openings at `at` are counted under; None where no window is open.

    Of several open ones it is the one that ends last (then the one that started first, then by name). So the
    count moves on only when something begins that outlasts all that is open, and never comes back to an interval
    that it left: a short window inside a long one grants nothing more.
    """
    latest = (_latest(window, at) for window in windows)
    still_open = [interval for interval in latest if interval is not None and interval.covers(at)]
    return min(still_open, key=_ends_last, default=None)


def next_window(windows: Sequence[MaintenanceWindow], at: datetime) -> Interval | None:
    """The next interval to start strictly after `at`; None where none does within five years.

    Of several that start together it is the one that ends last, then by name.
    """
    coming = (next(_after(window, at), None) for window in windows)
    found = [interval for interval in coming if interval is not None]
    return min(found, key=lambda interval: (interval.start, *_ends_last(interval)), default=None)


def upcoming(windows: Sequence[MaintenanceWindow], start: datetime, end: datetime) -> tuple[Interval, ...]:
    """Every interval that has an instant in [start, end), uncut, by start, end and name."""
    found = [
        interval
        for window in windows
        for interval in takewhile(lambda found: found.start < end, _after(window, start - window.duration))
    ]
    return tuple(sorted(found, key=lambda interval: (interval.start, interval.end, interval.name)))


def window_key(pool: str, interval: Interval) -> str:
    """What openings are counted by: `pool/window/start`, the start as RFC 3339 in UTC."""
    return f"{pool}/{interval.name}/{rfc3339(interval.start)}"


def active_blackouts(blackouts: Sequence[Blackout], at: datetime) -> tuple[Blackout, ...]:
    """Every blackout that covers the instant, in the order given."""
    return tuple(blackout for blackout in blackouts if blackout.covers(at))


def next_blackout_start(blackouts: Sequence[Blackout], at: datetime) -> datetime | None:
    """When the next blackout begins, strictly after `at`."""
    return min((blackout.start for blackout in blackouts if blackout.start > at), default=None)


def may_open_at(windows: Sequence[MaintenanceWindow], blackouts: Sequence[Blackout], at: datetime) -> bool:
    """Whether a window is open and no blackout covers the instant: a blackout always wins."""
    return not active_blackouts(blackouts, at) and current_window(windows, at) is not None


def end_of_permission(
    windows: Sequence[MaintenanceWindow], blackouts: Sequence[Blackout], at: datetime
) -> datetime | None:
    """The first instant after `at` at which nothing may be open any more; None where nothing may be at `at`.

    It is the earlier of the end of the union of windows and the next blackout. A union that goes on for more
    than a day is followed no further than the interval that reaches past it: never later than the true end.
    """
    if not may_open_at(windows, blackouts, at):
        return None
    end = _end_of_union(windows, at)
    blackout = next_blackout_start(blackouts, at)
    return end if blackout is None else min(end, blackout)


def _end_of_union(windows: Sequence[MaintenanceWindow], at: datetime) -> datetime:
    end = at
    while end < at + _UNION_HORIZON:
        interval = current_window(windows, end)
        if interval is None:
            break
        end = interval.end
    return end


def _ends_last(interval: Interval) -> tuple[float, datetime, str]:
    return -interval.end.timestamp(), interval.start, interval.name


def _latest(window: MaintenanceWindow, at: datetime) -> Interval | None:
    """The interval with the latest start at or before `at`: of all of this window's, it ends last."""
    zone = load_zone(window.timezone)
    # Where the autumn change was within a day, the wall clock has already shown later times than now.
    wall = max(wall_clock(at, zone), wall_clock(at - _DAY, zone) + _DAY)
    starts = (first_instant(hit, zone) for hit in _hits_until(CronSchedule.parse(window.cron), wall))
    start = next((start for start in starts if start <= at), None)
    return None if start is None else _interval(window, start)


def _after(window: MaintenanceWindow, at: datetime) -> Iterator[Interval]:
    """The intervals that start strictly after `at`, in order; two starts at the same instant are one."""
    zone = load_zone(window.timezone)
    last = at
    for hit in _hits_after(CronSchedule.parse(window.cron), wall_clock(at, zone)):
        start = first_instant(hit, zone)
        if start > last:
            yield _interval(window, start)
            last = start


def _hits_until(schedule: CronSchedule, wall: datetime) -> Iterator[datetime]:
    hit = schedule.previous_naive(wall)
    while hit is not None:
        yield hit
        hit = schedule.previous_naive(hit - _MINUTE)


def _hits_after(schedule: CronSchedule, wall: datetime) -> Iterator[datetime]:
    hit = schedule.next_naive(wall)
    while hit is not None:
        yield hit
        hit = schedule.next_naive(hit)


def _interval(window: MaintenanceWindow, start: datetime) -> Interval:
    return Interval(start=start, end=start + window.duration, name=window.name)
