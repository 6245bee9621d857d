"""What is worth saying about a budget list as a whole: whether and how it lets drifted nodes go by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from driftgate.domain.activity import Span, first_minute
from driftgate.domain.allowance import number, problems
from driftgate.domain.budget import Budget, DisruptionReason, applies_to, is_always_on, is_always_on_zero
from driftgate.domain.budget_words import DRIFTED_ZERO, described, joined, named, shown
from driftgate.domain.complement import complement
from driftgate.domain.errors import BudgetError
from driftgate.domain.findings import Finding, Severity
from driftgate.domain.gate import is_freeze
from driftgate.domain.horizon import closes_together, limits, shut_minutes
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.reasons import ReasonCode

DRIFTED = DisruptionReason.DRIFTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A pool's budgets over a span that begins now. `windows_cover`: driftgate has a window for the pool."""

    budgets: tuple[Budget, ...]
    total: int
    span: Span
    windows_cover: bool

    @property
    def entries(self) -> tuple[int, ...]:
        """The indexes of the entries that apply to Drifted."""
        return tuple(index for index, budget in enumerate(self.budgets) if applies_to(budget, DRIFTED))

    @property
    def size(self) -> int:
        """The number of nodes to reckon with: one where there are none yet, so that 10% is not taken for shut."""
        return max(self.total, 1)

    @property
    def shut(self) -> int:
        """The minutes in which Drifted is at 0."""
        return shut_minutes(self.budgets, self.size, self.span, DRIFTED)

    @property
    def ungated(self) -> int:
        """The minutes in which Drifted has no limit."""
        levels = limits(self.budgets, self.size, self.span, DRIFTED)
        return self.span.every & ~(levels[-1][1] if levels else 0)

    @property
    def permissions(self) -> tuple[int, ...]:
        """The scheduled entries on Drifted with a number above 0: often meant to permit, which none can."""
        return tuple(index for index in self.entries if _is_permission(self.budgets[index], self.size))


def never_opens(gate: Gate) -> Iterator[Finding]:
    """The gate stays shut for the whole year, whatever the schedules seem to say."""
    closing = closes_together(gate.budgets, gate.size, gate.span.start, DRIFTED)
    if not closing:
        return
    yield Finding(
        code=ReasonCode.NEVER_OPENS,
        severity=Severity.INFO if gate.windows_cover else Severity.ERROR,
        entries=closing,
        message=f"Drifted stays at 0 in every minute of the coming year: {_why_shut(gate, closing)}.",
        remedy=_way_out(gate, closing),
    )


def ungated_outside_schedule(gate: Gate) -> Iterator[Finding]:
    """Scheduled entries are the only ones on Drifted, and outside of them there is no limit."""
    entries = gate.permissions or gate.entries
    if not entries or not (gate.ungated if gate.permissions else gate.ungated & 1):
        return
    yield Finding(
        code=ReasonCode.UNGATED_OUTSIDE_SCHEDULE,
        severity=Severity.ERROR if gate.permissions else Severity.WARNING,
        entries=entries,
        message=f"All {gate.total} nodes may roll as soon as they drift: {named(entries)} limits Drifted only while "
        "active and permits nothing; at other times there is no limit.",
        remedy=_always_shut(gate),
    )


def opening_ungated(gate: Gate) -> Iterator[Finding]:
    """A schedule shuts the gate, and when it ends nothing limits how many nodes go."""
    first = first_minute(gate.ungated & gate.shut << 1 & gate.span.every)
    if first is None:
        return
    zeros = tuple(index for index in gate.entries if number(gate.budgets[index], gate.size) <= 0)
    until = first_minute(gate.span.every & ~gate.ungated & ~((1 << first) - 1))
    end = f" until {rfc3339(gate.span.instant(until))}" if until is not None else ""
    yield Finding(
        code=ReasonCode.OPENING_UNGATED,
        severity=Severity.WARNING,
        entries=zeros,
        message=f"From {rfc3339(gate.span.instant(first))}{end} no entry limits Drifted: all {gate.total} nodes may "
        "go.",
        remedy='Add {nodes: "1", reasons: [Drifted]}, so that they go one at a time.',
    )


def ungated_reasons(gate: Gate) -> Iterator[Finding]:
    """Reasons that no entry applies to."""
    free = [
        reason.value for reason in DisruptionReason if not any(applies_to(budget, reason) for budget in gate.budgets)
    ]
    if free and gate.budgets:
        yield Finding(
            code=ReasonCode.UNGATED_REASON,
            severity=Severity.WARNING,
            message=f"No entry applies to {joined(free)}, so all {gate.total} nodes may go for it at once.",
            remedy=f'Add an entry such as {{nodes: "10%", reasons: [{", ".join(free)}]}}.',
        )


def cannot_keep_up(gate: Gate, lagging: int, expected_roll: timedelta, within: timedelta) -> Iterator[Finding]:
    """The budgets' own openings let fewer nodes go within the time than wait now.

    Counted in favour of the budgets: every opening starts at least one batch and has its largest number.
    """
    month = Span(gate.span.start, within // timedelta(minutes=1))
    levels = limits(gate.budgets, gate.size, month, DRIFTED)
    room = _room(levels, month, lagging, max(expected_roll // timedelta(minutes=1), 1))
    if room is None or room >= lagging:
        return
    yield Finding(
        code=ReasonCode.CANNOT_KEEP_UP,
        severity=Severity.WARNING,
        entries=gate.entries,
        message=f"In the coming {within.days} days the budgets by themselves let at most {room} nodes go; "
        f"{lagging} wait.",
        remedy="Lengthen the openings or allow more nodes in them, or give driftgate a window for this pool.",
    )


def _room(levels: Sequence[tuple[int, int]], month: Span, enough: int, roll_minutes: int) -> int | None:
    """How many nodes the openings have room for, counted up to `enough`; None where one has no limit."""
    limited = levels[-1][1] if levels else 0
    if limited != month.every:
        return None
    opened = month.every & ~dict(levels).get(0, 0)
    room, at = 0, 0
    while opened >> at and room < enough:
        at += first_minute(opened >> at) or 0
        length = first_minute(~(opened >> at)) or 0
        minutes = ((1 << length) - 1) << at
        most = next(value for value, covered in levels if covered & minutes == minutes)
        room += most * max(length // roll_minutes, 1)
        at += length
    return room


def _is_permission(budget: Budget, size: int) -> bool:
    try:
        return not is_always_on(budget) and number(budget, size) > 0
    except BudgetError:
        return False


def _why_shut(gate: Gate, closing: tuple[int, ...]) -> str:
    broken = {problem.entry for problem in problems(gate.budgets)}
    if broken & set(closing):
        return f"Karpenter cannot use {named(closing)} and allows 0 for every reason"
    if len(closing) > 1:
        return f"{named(closing)} together leave no minute free"
    shut = f"{described(closing[0], gate.budgets)} is active all the time"
    return f"{shut}, and {named(gate.permissions)} cannot loosen it" if gate.permissions else shut


def _way_out(gate: Gate, closing: tuple[int, ...]) -> str:
    if {problem.entry for problem in problems(gate.budgets)} & set(closing):
        return f"Correct {named(closing)}."
    if not any(is_always_on_zero(gate.budgets[index]) for index in closing):
        return f"Replace {named(closing)} by {DRIFTED_ZERO}, which driftgate may open in its windows."
    if is_freeze(gate.budgets):
        return "Always-on zeros cover every reason: driftgate leaves such a freeze alone until a person ends it."
    if gate.windows_cover:
        return "None is needed: driftgate opens the gate in its windows."
    inverse = _inverse(gate)
    window = "Give driftgate a window for this pool, so that it opens the gate for one node at a time."
    return f"{window} Or {_without_zeros(gate)} and add {inverse}." if inverse else window


def _without_zeros(gate: Gate) -> str:
    zeros = [index for index in gate.entries if is_always_on_zero(gate.budgets[index])]
    alone = all(gate.budgets[index].reasons == (DRIFTED.value,) for index in zeros)
    return f"drop {named(zeros)}" if alone else f"take Drifted out of {named(zeros)}"


def _always_shut(gate: Gate) -> str:
    window = f"Add {DRIFTED_ZERO} and let driftgate open it in a window"
    inverse = _inverse(gate)
    return f"{window}; or shut the rest of the week with {inverse}." if inverse else f"{window}."


def _inverse(gate: Gate) -> str:
    """The entries that shut what the only permission leaves, "" where that is not one weekly schedule."""
    if len(gate.permissions) != 1:
        return ""
    try:
        return joined([shown(entry) for entry in complement(gate.budgets[gate.permissions[0]])])
    except BudgetError:
        return ""
