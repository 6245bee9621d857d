"""What budgets allow over time: the coming year, minute by minute.

The same rules as `allowance`, asked for all minutes at once. Nothing below 0 is told apart from 0: shut is shut.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from driftgate.domain.activity import Span, active_minutes, first_minute, set_bits
from driftgate.domain.allowance import number
from driftgate.domain.budget import NO_LIMIT, Budget, DisruptionReason, applies_to
from driftgate.domain.errors import BudgetError
from driftgate.domain.window import Interval

COMING_YEAR = timedelta(days=366)


def next_change(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> datetime | None:
    """The next instant after `at` at which another number is allowed; None where none comes within a year."""
    span = Span.of(at, at + COMING_YEAR)
    changed = span.every & ~_same_as_first(limits(budgets, total, span, reason), span)
    return _instant(span, changed)


def next_opening(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> datetime | None:
    """The next instant after `at` at which nodes may go, by the budgets alone.

    None where the gate is open at `at`, and where it does not open within a year.
    """
    span = Span.of(at, at + COMING_YEAR)
    opened = span.every & ~shut_minutes(budgets, total, span, reason)
    return None if opened & 1 else _instant(span, opened)


def next_closing(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> datetime | None:
    """The next instant after `at` at which nothing may go any more, by the budgets alone.

    None where the gate is shut at `at`, and where it does not shut within a year.
    """
    span = Span.of(at, at + COMING_YEAR)
    shut = shut_minutes(budgets, total, span, reason)
    return None if shut & 1 else _instant(span, shut)


def never_opens(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> bool:
    """Whether nothing is allowed in every minute of the coming year."""
    span = Span.of(at, at + COMING_YEAR)
    return shut_minutes(budgets, total, span, reason) == span.every


def openings(
    budgets: Sequence[Budget], total: int, start: datetime, end: datetime, reason: DisruptionReason
) -> tuple[Interval, ...]:
    """The intervals within [start, end) in which nodes may go, by the budgets alone."""
    span = Span.of(start, end)
    opened = span.every & ~shut_minutes(budgets, total, span, reason)
    edges = [span.instant(bit) for bit in set_bits(opened ^ opened << 1)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple(Interval(start=max(first, start), end=min(last, end)) for first, last in pairs)


def change_points(budgets: Sequence[Budget], start: datetime, end: datetime) -> tuple[datetime, ...]:
    """Every instant after `start` and before `end` at which an entry begins or ceases to count.

    Entries that cannot be read are left out: they count, as 0, at every moment.
    """
    span = Span.of(start, end)
    edges = 0
    for budget in budgets:
        minutes = _readable_minutes(budget, span)
        edges |= (minutes ^ minutes << 1) & span.every
    return tuple(span.instant(bit) for bit in set_bits(edges >> 1 << 1))


def first_difference(
    one: Sequence[Budget],
    other: Sequence[Budget],
    total: int,
    start: datetime,
    end: datetime,
    reason: DisruptionReason,
) -> datetime | None:
    """The first instant in [start, end) at which the two lists allow another number; None where none does."""
    span = Span.of(start, end)
    left, right = (dict(limits(budgets, total, span, reason)) for budgets in (one, other))
    differing, left_at, right_at = 0, 0, 0
    for value in sorted(left.keys() | right.keys()):
        left_at, right_at = left.get(value, left_at), right.get(value, right_at)
        differing |= left_at ^ right_at
    first = first_minute(differing)
    return None if first is None else max(span.instant(first), start)


def most_allowed(
    budgets: Sequence[Budget], total: int, start: datetime, end: datetime, reason: DisruptionReason
) -> int | None:
    """The largest number allowed at any instant in [start, end); None where there is no limit at some."""
    span = Span.of(start, end)
    return next((value for value, minutes in limits(budgets, total, span, reason) if minutes == span.every), None)


def closes_together(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> tuple[int, ...]:
    """The indexes of entries that together shut the gate in every minute of the coming year, none too many.

    One entry that does it alone is preferred. Empty where the gate opens within the year.
    """
    span = Span.of(at, at + COMING_YEAR)
    shut = [
        minutes if value <= 0 else 0 for value, minutes in (_counted(budget, total, span, reason) for budget in budgets)
    ]
    alone = next((index for index, minutes in enumerate(shut) if minutes == span.every), None)
    return (alone,) if alone is not None else _fewest(shut, span)


def limits(budgets: Sequence[Budget], total: int, span: Span, reason: DisruptionReason) -> tuple[tuple[int, int], ...]:
    """Each number that occurs, smallest first, with the minutes in which that or less is allowed.

    In minutes that no number covers there is no limit.
    """
    by_number: dict[int, int] = {}
    for value, minutes in (_counted(budget, total, span, reason) for budget in budgets):
        if value < NO_LIMIT:
            by_number[value] = by_number.get(value, 0) | minutes
    found, at_most = [], 0
    for value in sorted(by_number):
        at_most |= by_number[value]
        found.append((value, at_most))
    return tuple(found)


def shut_minutes(budgets: Sequence[Budget], total: int, span: Span, reason: DisruptionReason) -> int:
    """The minutes of the span in which nothing is allowed."""
    return dict(limits(budgets, total, span, reason)).get(0, 0)


def _counted(budget: Budget, total: int, span: Span, reason: DisruptionReason) -> tuple[int, int]:
    """An entry's number and the minutes in which it counts for the reason.

    One that cannot be used is 0 for every reason: always by its schedule, while active by its number.
    """
    try:
        minutes = active_minutes(budget, span)
    except BudgetError:
        return 0, span.every
    try:
        value = max(number(budget, total), 0)
    except BudgetError:
        return 0, minutes
    return (value, minutes) if applies_to(budget, reason) else (NO_LIMIT, 0)


def _readable_minutes(budget: Budget, span: Span) -> int:
    try:
        return active_minutes(budget, span)
    except BudgetError:
        return span.every


def _same_as_first(levels: Sequence[tuple[int, int]], span: Span) -> int:
    """The minutes in which the number of the first minute is allowed."""
    below = 0
    for _, minutes in levels:
        if minutes & 1:
            return minutes & ~below
        below = minutes
    return span.every & ~below


def _fewest(shut: Sequence[int], span: Span) -> tuple[int, ...]:
    later = [0]
    for minutes in reversed(shut):
        later.append(later[-1] | minutes)
    if later[-1] != span.every:
        return ()
    kept, covered = [], 0
    for index, minutes in enumerate(shut):
        if covered | later[len(shut) - index - 1] != span.every:
            kept.append(index)
            covered |= minutes
    return tuple(kept)


def _instant(span: Span, bits: int) -> datetime | None:
    first = first_minute(bits)
    return None if first is None else span.instant(first)
