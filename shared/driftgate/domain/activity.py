"""When an entry counts, minute by minute: one bit for each minute of a span, in one big integer.

A year is half a million bits, and shifts and unions of such integers take microseconds; asking `is_active` for
every minute would take seconds. Entries start and end on whole minutes, so nothing is lost by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from driftgate.domain.allowance import read_duration, read_schedule
from driftgate.domain.budget import Budget, is_always_on
from driftgate.domain.cron import MINUTES_PER_DAY, CronSchedule

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_DAY_BYTES = MINUTES_PER_DAY // 8


@dataclass(frozen=True, slots=True)
class Span:
    """Whole minutes from `start` (aware UTC, on a minute): bit i stands for the i-th of them, from 0."""

    start: datetime
    minutes: int

    @classmethod
    def of(cls, start: datetime, end: datetime) -> Span:
        """The minutes that have an instant in [start, end)."""
        first = start.astimezone(UTC).replace(second=0, microsecond=0)
        return cls(first, -((first - end) // _MINUTE))

    @property
    def every(self) -> int:
        """All bits of the span."""
        return (1 << self.minutes) - 1

    def instant(self, bit: int) -> datetime:
        return self.start + bit * _MINUTE


def active_minutes(budget: Budget, span: Span) -> int:
    """The minutes of the span in which the entry counts.

    A date that does not come within five years counts always, as in Karpenter, judged at the span's start.

    Raises:
        BudgetError: its schedule or duration cannot be read.
    """
    if is_always_on(budget):
        return span.every
    length, schedule = read_duration(budget), read_schedule(budget)
    return _scheduled_minutes(schedule, length, span)


def first_minute(bits: int) -> int | None:
    """The number of the lowest bit, None where there is none."""
    return (bits & -bits).bit_length() - 1 if bits else None


def set_bits(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set, lowest first."""
    shown = f"{bits:b}"[::-1]
    found = shown.find("1")
    while found >= 0:
        yield found
        found = shown.find("1", found + 1)


@lru_cache(maxsize=64)
def _scheduled_minutes(schedule: CronSchedule, length: timedelta, span: Span) -> int:
    """Kept, because every question about a pool asks for the same entries over the same year (66 kB each)."""
    if schedule.every is not None:
        return span.every if schedule.every <= length else 0
    if schedule.next(span.start - length) is None:
        return span.every
    minutes = min(length // _MINUTE, span.minutes)
    return (_prolonged(_starts(schedule, span), minutes) | _carried_over(schedule, length, span)) & span.every


def _starts(schedule: CronSchedule, span: Span) -> int:
    """The minutes of the span in which the schedule starts something."""
    midnight = span.start.replace(hour=0, minute=0)
    skipped = (span.start - midnight) // _MINUTE
    days = -(-(skipped + span.minutes) // MINUTES_PER_DAY)
    busy = schedule.minutes_of_day.to_bytes(_DAY_BYTES, "little")
    idle = bytes(_DAY_BYTES)
    pattern = (busy if starts else idle for starts in _starting_days(schedule, midnight, days))
    return int.from_bytes(b"".join(pattern), "little") >> skipped


def _starting_days(schedule: CronSchedule, first: datetime, days: int) -> list[bool]:
    months: dict[tuple[int, int], int] = {}
    found = []
    for day in (first + offset * _DAY for offset in range(days)):
        month = (day.year, day.month)
        if month not in months:
            months[month] = schedule.days_in_month(*month)
        found.append(bool(months[month] >> day.day & 1))
    return found


def _prolonged(starts: int, minutes: int) -> int:
    """Each start and the minutes after it, `minutes` in all: doubled until it is long enough."""
    if minutes <= 0:
        return 0
    covered = 1
    while covered < minutes:
        step = min(covered, minutes - covered)
        starts |= starts << step
        covered += step
    return starts


def _carried_over(schedule: CronSchedule, length: timedelta, span: Span) -> int:
    """The first minutes of the span that the last start before it still covers."""
    last = schedule.previous(span.start)
    if last is None:
        return 0
    left = (last + length - span.start) // _MINUTE
    return (1 << min(max(left, 0), span.minutes)) - 1
