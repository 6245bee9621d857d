"""The entries that shut a gate whenever a weekly schedule does not run: the inverse that budgets need.

A budget only limits. Who wants "only on Saturdays" must forbid the rest of the week.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from driftgate.domain.activity import Span, active_minutes, set_bits
from driftgate.domain.allowance import read_schedule
from driftgate.domain.budget import Budget, DisruptionReason, is_always_on
from driftgate.domain.cron import MINUTES_PER_DAY, CronSchedule
from driftgate.domain.cron_advice import WEEKDAYS
from driftgate.domain.duration import format_duration

_WEEK = 7 * MINUTES_PER_DAY
_SUNDAY = datetime(2026, 3, 1, tzinfo=UTC)
_MOST_GAPS = 14
_EVERY_MONTH = (1 << 13) - 2


def complement(budget: Budget) -> tuple[Budget, ...]:
    """Zeros on Drifted for exactly the minutes in which the entry is not active.

    Empty where there are none to give: the entry is always or never active, does not repeat every week, or has
    more than 14 gaps in one.

    Raises:
        BudgetError: its schedule or duration cannot be read.
    """
    if is_always_on(budget) or not _repeats_weekly(read_schedule(budget)):
        return ()
    active = active_minutes(budget, Span(_SUNDAY, 2 * _WEEK)) >> _WEEK
    begins = list(set_bits(~active & (active << 1 | active >> _WEEK - 1) & (1 << _WEEK) - 1))
    if not 0 < len(begins) <= _MOST_GAPS:
        return ()
    days: dict[tuple[int, int], list[int]] = {}
    for begin in begins:
        day, minute = divmod(begin, MINUTES_PER_DAY)
        days.setdefault((minute, _gap(active, begin)), []).append(day)
    return tuple(_zero(minute, length, on) for (minute, length), on in days.items())


def _repeats_weekly(schedule: CronSchedule) -> bool:
    every_day = (1 << 32) - 2
    return schedule.months == _EVERY_MONTH and schedule.any_day and schedule.days == every_day


def _gap(active: int, begin: int) -> int:
    """How many minutes from `begin` on are not active, over the end of the week."""
    ahead = (active | active << _WEEK) >> begin
    return next(set_bits(ahead))


def _zero(minute: int, length: int, days: list[int]) -> Budget:
    on = "*" if len(days) == len(WEEKDAYS) else ",".join(WEEKDAYS[day] for day in days)
    return Budget(
        nodes="0",
        reasons=(DisruptionReason.DRIFTED.value,),
        schedule=f"{minute % 60} {minute // 60} * * {on}",
        duration=format_duration(timedelta(minutes=length)),
    )
