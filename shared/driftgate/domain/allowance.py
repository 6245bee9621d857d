"""What budgets allow at one moment: Karpenter's own arithmetic, errors included.

No policy of ours and no question over time belongs here; `horizon` answers those with the same rules.
Source: sigs.k8s.io/karpenter v1.14.1, pkg/apis/v1/nodepool.go (GetAllowedDisruptionsByReason,
GetAllowedDisruptions, IsActive); k8s.io/apimachinery, pkg/util/intstr.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from driftgate.domain.budget import NO_LIMIT, Budget, DisruptionReason, applies_to, is_always_on
from driftgate.domain.budget_words import shortened
from driftgate.domain.cron import CronSchedule
from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import BudgetError, CronError, InvalidInputError
from driftgate.domain.gosyntax import atoi


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetProblem:
    """Why Karpenter cannot use an entry, which then shuts every reason.

    `entry` is its index, `field` one of its fields, `position` counts from 0 within the field's value.
    `suggestion` replaces what stands at the position, "" where only a person can say.
    """

    entry: int
    field: str
    position: int
    message: str
    suggestion: str = ""


def number(budget: Budget, total: int) -> int:
    """How many of `total` nodes the entry lets go while it is active; a percentage rounds up.

    A count above 2147483647 wraps around as Karpenter's does, so the result may be negative: nothing may go.

    Raises:
        BudgetError: neither a count within 64 bits nor a percentage.
    """
    count = atoi(budget.nodes)
    if count is not None:
        return (count + 2**31) % 2**32 - 2**31
    percent = atoi(budget.nodes.removesuffix("%")) if budget.nodes.endswith("%") else None
    if percent is None:
        why = "too large to be read" if budget.nodes.isdecimal() else "neither a number of nodes nor a percentage"
        raise BudgetError(f"{shortened(budget.nodes)!r} is {why}", field="nodes")
    return -(-percent * total // 100)


def read_schedule(budget: Budget) -> CronSchedule:
    """The entry's schedule; one that is absent beside a duration reads as the empty text, as in Karpenter.

    Raises:
        BudgetError: Karpenter's cron refuses it.
    """
    try:
        return CronSchedule.parse(budget.schedule or "")
    except CronError as error:
        place = f"{error.field}, character {error.position + 1}: " if error.field else ""
        raise BudgetError(
            f"{place}{error.message}",
            field="schedule",
            position=error.position,
            suggestion=error.suggestion,
        ) from error


def read_duration(budget: Budget) -> timedelta:
    """The entry's duration; 0 where it is absent, as in Karpenter.

    Raises:
        BudgetError: Go cannot read it, so Karpenter cannot decode the NodePool at all.
    """
    if budget.duration is None:
        return timedelta(0)
    try:
        return parse_duration(budget.duration)
    except InvalidInputError as error:
        raise BudgetError(error.message, field="duration") from error


def is_active(budget: Budget, at: datetime) -> bool:
    """Whether the entry counts at an aware instant: from each start (included) for its duration (excluded).

    A date that does not come within five years counts as always active, because Karpenter's search then gives
    the zero time.

    Raises:
        BudgetError: its schedule or duration cannot be read.
    """
    if is_always_on(budget):
        return True
    length, schedule = read_duration(budget), read_schedule(budget)
    start = schedule.next(at.astimezone(UTC) - length)
    return start is None or start <= at


def allowed(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> int | None:
    """How many nodes may go for the reason, before those under way are taken off; None means no limit.

    The smallest of the active entries that apply. 0 for every reason while any entry cannot be used, whatever
    it applies to. Negative only for a count above 2147483647; then, as for 0, nothing may go.
    """
    return _lowest(_values(budgets, total, at), reason)


def allowed_by_reason(budgets: Sequence[Budget], total: int, at: datetime) -> dict[DisruptionReason, int | None]:
    """`allowed` for each of Karpenter's reasons."""
    values = _values(budgets, total, at)
    return {reason: _lowest(values, reason) for reason in DisruptionReason}


def binding(budgets: Sequence[Budget], total: int, at: datetime, reason: DisruptionReason) -> tuple[int, ...]:
    """The indexes of the entries that set what is allowed now; those that cannot be used, where there are any."""
    values = _values(budgets, total, at)
    lowest = _lowest(values, reason)
    unusable = tuple(index for index, (_, value) in enumerate(values) if value is None)
    if unusable or lowest is None:
        return unusable
    return tuple(
        index for index, (budget, value) in enumerate(values) if value == lowest and applies_to(budget, reason)
    )


def problems(budgets: Sequence[Budget]) -> tuple[BudgetProblem, ...]:
    """Everything in the entries that Karpenter cannot use, also what is not active now."""
    return tuple(
        BudgetProblem(
            entry=index,
            field=error.field,
            position=error.position,
            message=error.message,
            suggestion=error.suggestion,
        )
        for index, budget in enumerate(budgets)
        for error in _errors(budget)
    )


def _values(budgets: Sequence[Budget], total: int, at: datetime) -> list[tuple[Budget, int | None]]:
    """Each entry with what it allows now: NO_LIMIT while inactive, None where Karpenter gets an error."""
    return [(budget, _value(budget, total, at)) for budget in budgets]


def _value(budget: Budget, total: int, at: datetime) -> int | None:
    try:
        return number(budget, total) if is_active(budget, at) else NO_LIMIT
    except BudgetError:
        return None


def _lowest(values: Sequence[tuple[Budget, int | None]], reason: DisruptionReason) -> int | None:
    if any(value is None for _, value in values):
        return 0
    limits = [value for budget, value in values if value is not None and applies_to(budget, reason)]
    lowest = min(limits, default=NO_LIMIT)
    return None if lowest == NO_LIMIT else lowest


def _errors(budget: Budget) -> Iterator[BudgetError]:
    readers: list[Callable[[Budget], object]] = [lambda entry: number(entry, 1)]
    if not is_always_on(budget):
        readers += [read_schedule, read_duration]
    for read in readers:
        try:
            read(budget)
        except BudgetError as error:
            yield error
