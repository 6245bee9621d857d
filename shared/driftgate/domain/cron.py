"""Schedules in the cron dialect of Karpenter's budgets, which maintenance windows use as well.

A port of one dialect, not a general cron library: it must agree with Karpenter, oddities included.
Source: github.com/robfig/cron/v3 v3.0.1, parser.go (ParseStandard), spec.go, constantdelay.go.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from functools import lru_cache

from driftgate.domain import cron_advice as advice
from driftgate.domain.cron_fields import FIELDS, FieldBits, read_field
from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import CronError, InvalidInputError
from driftgate.domain.gosyntax import trimmed, words

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MINUTES_PER_DAY = 1440

_SEARCHED_YEARS = 5
"""robfig/cron gives up after these, and Karpenter then takes the entry for active at every moment."""

_LONGEST_GAP_YEARS = 8
"""29 February, over a century that has no leap day."""

_EVERY = "@every "
_SECOND = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)
_WEEK_BITS = 0b1111111
_FIVE_WEEKS = sum(1 << 7 * week for week in range(5))


@dataclass(frozen=True, slots=True, kw_only=True)
class CronSchedule:
    """When something starts: whole minutes by five fields (`every` is None), or a constant delay.

    Bit n of a field stands for the value n. `any_day` tells that a star stands in day of month or day of week:
    both must match then, else either.
    """

    text: str
    minutes: int = 0
    hours: int = 0
    days: int = 0
    months: int = 0
    weekdays: int = 0
    any_day: bool = False
    every: timedelta | None = None

    @classmethod
    def parse(cls, text: str) -> CronSchedule:
        """The schedule as robfig/cron's ParseStandard reads it behind Karpenter's `TZ=UTC `.

        Raises:
            CronError: it would refuse the text; names field, position and, where known, a suggestion.
        """
        return _parse(text)

    def next(self, after: datetime) -> datetime | None:
        """The first start strictly after an aware instant, in UTC.

        None where robfig/cron gives up after five years: such a date never comes (30 February), or not soon.
        """
        naive = after.astimezone(UTC).replace(tzinfo=None)
        if self.every is not None:
            return (naive.replace(microsecond=0) + self.every).replace(tzinfo=UTC)
        found = self.next_naive(naive)
        return None if found is None else found.replace(tzinfo=UTC)

    def previous(self, at: datetime) -> datetime | None:
        """The last start at or before an aware instant, in UTC; None where there was none in over eight years.

        A constant delay has no fixed starts, so it has no previous one either.
        """
        found = self.previous_naive(at.astimezone(UTC).replace(tzinfo=None))
        return None if found is None else found.replace(tzinfo=UTC)

    def next_naive(self, after: datetime) -> datetime | None:
        """The first matching minute strictly after a wall-clock time, whatever zone the caller means.

        None as for `next`.
        """
        first = after.replace(second=0, microsecond=0) + _MINUTE
        last_year = min((after + _SECOND).year + _SEARCHED_YEARS, MAXYEAR)
        if found := self._first_in_day(first, first.hour * 60 + first.minute):
            return found
        days = self.days_in_month(first.year, first.month) >> first.day + 1 << first.day + 1
        year, month = first.year, first.month
        while not days and (year, month) < (last_year, 12):
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)
            days = self.days_in_month(year, month)
        if not days:
            return None
        return self._first_in_day(first.replace(year=year, month=month, day=_lowest(days)), 0)

    def previous_naive(self, at: datetime) -> datetime | None:
        """The last matching minute at or before a wall-clock time; None as for `previous`."""
        if found := self._last_in_day(at, at.hour * 60 + at.minute):
            return found
        year, month = at.year, at.month
        first_year = max(year - _LONGEST_GAP_YEARS, MINYEAR)
        days = self.days_in_month(year, month) & (1 << at.day) - 1
        while not days and (year, month) > (first_year, 1):
            year, month = (year, month - 1) if month > 1 else (year - 1, 12)
            days = self.days_in_month(year, month)
        if not days:
            return None
        day = at.replace(year=year, month=month, day=days.bit_length() - 1)
        return self._last_in_day(day, MINUTES_PER_DAY - 1)

    def matches(self, minute: datetime) -> bool:
        """Whether the schedule starts in the minute of this wall-clock time."""
        on_day = self.days_in_month(minute.year, minute.month) >> minute.day & 1
        return bool(on_day and self.minutes_of_day >> minute.hour * 60 + minute.minute & 1)

    @property
    def minutes_of_day(self) -> int:
        """The matching minutes of a matching day: bit 60 h + m stands for h:m."""
        return _spread(self.hours, self.minutes)

    def days_in_month(self, year: int, month: int) -> int:
        """The matching days of a month: bit d stands for day d. 0 too where no minute of a day matches."""
        if not self.months >> month & 1 or not self.minutes_of_day:
            return 0
        monday_based, length = monthrange(year, month)
        first = (monday_based + 1) % 7
        week = (self.weekdays >> first | self.weekdays << 7 - first) & _WEEK_BITS
        by_weekday = week * _FIVE_WEEKS << 1
        days = self.days & by_weekday if self.any_day else self.days | by_weekday
        return days & (1 << length + 1) - 2

    def _first_in_day(self, day: datetime, from_minute: int) -> datetime | None:
        if not self.days_in_month(day.year, day.month) >> day.day & 1:
            return None
        minutes = self.minutes_of_day >> from_minute << from_minute
        return _at_minute(day, _lowest(minutes)) if minutes else None

    def _last_in_day(self, day: datetime, to_minute: int) -> datetime | None:
        if not self.days_in_month(day.year, day.month) >> day.day & 1:
            return None
        minutes = self.minutes_of_day & (1 << to_minute + 1) - 1
        return _at_minute(day, minutes.bit_length() - 1) if minutes else None


@lru_cache(maxsize=1024)
def _parse(text: str) -> CronSchedule:
    start, spec = trimmed(text)
    if spec.startswith("@"):
        return _descriptor(text, spec, start)
    parts = tuple((position + start, part) for position, part in words(spec))
    if len(parts) != len(FIELDS):
        message, suggestion = advice.without_extras(tuple(part for _, part in parts))
        raise CronError(message, position=start, suggestion=suggestion)
    fields = [read_field(rule, part, position) for rule, (position, part) in zip(FIELDS, parts, strict=True)]
    return _schedule(text, *fields)


def _schedule(
    text: str, minute: FieldBits, hour: FieldBits, day: FieldBits, month: FieldBits, weekday: FieldBits
) -> CronSchedule:
    return CronSchedule(
        text=text,
        minutes=minute.bits,
        hours=hour.bits,
        days=day.bits,
        months=month.bits,
        weekdays=weekday.bits,
        any_day=day.is_star or weekday.is_star,
    )


def _descriptor(text: str, spec: str, start: int) -> CronSchedule:
    if spec in MACROS:
        fields = zip(FIELDS, MACROS[spec].split(), strict=True)
        return _schedule(text, *(read_field(rule, part, start) for rule, part in fields))
    if spec.startswith(_EVERY):
        return CronSchedule(text=text, every=_delay(spec, start))
    known = ", ".join(MACROS)
    raise CronError(f"{spec!r} is none of {known}", position=start, suggestion=advice.macro(spec, MACROS))


def _delay(spec: str, start: int) -> timedelta:
    try:
        length = parse_duration(spec[len(_EVERY) :])
    except InvalidInputError as error:
        raise CronError(error.message, position=start + len(_EVERY)) from error
    return max(length // _SECOND, 1) * _SECOND


@lru_cache(maxsize=1024)
def _spread(hours: int, minutes: int) -> int:
    return sum(minutes << 60 * hour for hour in range(24) if hours >> hour & 1)


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _at_minute(day: datetime, minute: int) -> datetime:
    return day.replace(hour=minute // 60, minute=minute % 60, second=0, microsecond=0)
