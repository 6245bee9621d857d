"""Entries that can never decide anything: whatever the pool's size, others always allow as little."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from driftgate.domain.activity import Span, active_minutes
from driftgate.domain.allowance import number, read_duration
from driftgate.domain.budget import NO_LIMIT, Budget, DisruptionReason, applies_to, is_always_on
from driftgate.domain.budget_words import described, named
from driftgate.domain.findings import Finding, Severity
from driftgate.domain.reasons import ReasonCode


@dataclass(frozen=True, slots=True)
class _Entry:
    index: int
    budget: Budget
    minutes: int


def dead_entries(budgets: Sequence[Budget], span: Span) -> Iterator[Finding]:
    """Entries that could be removed without any change. Of two that say the same, the later one is dead.

    Raises:
        BudgetError: an entry cannot be used; then none is dead, because that one decides everything.
    """
    alive = [_Entry(index, budget, active_minutes(budget, span)) for index, budget in enumerate(budgets)]
    found = []
    for entry in reversed(alive.copy()):
        others = [other for other in alive if other is not entry]
        if why := _why_dead(entry, others):
            alive.remove(entry)
            found.append(_finding(entry, budgets, why))
    yield from reversed(found)


def _why_dead(entry: _Entry, others: Sequence[_Entry]) -> str:
    if number(entry.budget, 1) == NO_LIMIT:
        return "this number is the same as no limit"
    if not is_always_on(entry.budget) and not read_duration(entry.budget) and not entry.minutes:
        return "it lasts 0 minutes"
    reasons = [reason for reason in DisruptionReason if applies_to(entry.budget, reason)]
    hiding = [_hiding(entry, others, reason) for reason in reasons]
    if not entry.minutes or not reasons or not all(hiding):
        return ""
    names = named(sorted({other.index for group in hiding for other in group}))
    return f"{names} already allows as little whenever it counts, and the smallest active entry wins"


def _hiding(entry: _Entry, others: Sequence[_Entry], reason: DisruptionReason) -> list[_Entry]:
    """The entries that leave this one nothing to decide for the reason; none where they do not."""
    tighter = [
        other for other in others if applies_to(other.budget, reason) and _is_never_above(other.budget, entry.budget)
    ]
    left, needed = entry.minutes, []
    for other in tighter:
        if left & other.minutes:
            needed.append(other)
            left &= ~other.minutes
    return [] if left else needed


def _is_never_above(one: Budget, other: Budget) -> bool:
    """Whether one allows no more than the other in a pool of any size but an empty one."""
    percents = one.nodes.endswith("%"), other.nodes.endswith("%")
    if percents[0] == percents[1]:
        return number(one, 100) <= number(other, 100)
    if percents[0]:
        return number(one, 100) == 0 <= number(other, 100)
    return number(one, 1) <= number(other, 1)


def _finding(entry: _Entry, budgets: Sequence[Budget], why: str) -> Finding:
    return Finding(
        code=ReasonCode.DEAD_ENTRY,
        severity=Severity.WARNING,
        entries=(entry.index,),
        message=f"{described(entry.index, budgets)} can never decide anything: {why}.",
        remedy=f"Remove budgets[{entry.index}], or what hides it if this is the entry that is meant.",
    )
