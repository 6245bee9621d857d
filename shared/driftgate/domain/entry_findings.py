"""What is worth saying about single budget entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from driftgate.domain.allowance import number, problems, read_schedule
from driftgate.domain.budget import Budget, is_always_on, is_usable_number
from driftgate.domain.budget_words import described, joined, shortened
from driftgate.domain.errors import BudgetError
from driftgate.domain.findings import Finding, Severity
from driftgate.domain.marks import is_guard_mark
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.server_rules import refusals

_SHUT = "While it stands, Karpenter allows 0 for every reason."


def unusable_entries(budgets: Sequence[Budget]) -> Iterator[Finding]:
    """Entries that Karpenter gets an error from, each with its place."""
    for problem in problems(budgets):
        place = f"budgets[{problem.entry}].{problem.field}"
        value = shortened(getattr(budgets[problem.entry], problem.field) or "")
        remedy = f"Write {problem.suggestion!r} instead." if problem.suggestion else f"Correct {place}."
        yield Finding(
            code=ReasonCode.UNUSABLE_NUMBER if problem.field == "nodes" else ReasonCode.INVALID_SCHEDULE,
            severity=Severity.ERROR,
            entries=(problem.entry,),
            message=f"{place} {value!r}: {problem.message}. {_SHUT}",
            remedy=remedy,
        )


def wrapped_numbers(budgets: Sequence[Budget]) -> Iterator[Finding]:
    """Counts that Karpenter reads as another number, because they do not fit into 32 bits."""
    for index, budget in enumerate(budgets):
        if is_usable_number(budget):
            continue
        try:
            read_as = number(budget, 1)
        except BudgetError:
            continue
        yield Finding(
            code=ReasonCode.UNUSABLE_NUMBER,
            severity=Severity.ERROR,
            entries=(index,),
            message=f"{described(index, budgets)}: Karpenter reads this number as {read_as}.",
            remedy="Write 2147483647 or less, or remove the entry where no limit is meant.",
        )


def unknown_fields(budgets: Sequence[Budget]) -> Iterator[Finding]:
    """Entries with fields that this version does not know, so their meaning is not known either."""
    for index, budget in enumerate(budgets):
        if names := [name for name, _ in budget.unknown]:
            yield Finding(
                code=ReasonCode.UNKNOWN_FIELD,
                severity=Severity.ERROR,
                entries=(index,),
                message=f"budgets[{index}] has {joined(names)}, which this version of driftgate does not know.",
                remedy="Use a driftgate that knows this Karpenter, or remove the field if it is a slip.",
            )


def refused_by_server(budgets: Sequence[Budget]) -> Iterator[Finding]:
    """Entries that break a rule of the CRD: in files that nobody could apply yet, or stored by another CRD."""
    for index, budget in enumerate(budgets):
        if refused := list(refusals(budget)):
            yield Finding(
                code=ReasonCode.REFUSED_BY_SERVER,
                severity=Severity.ERROR,
                entries=(index,),
                message=f"Karpenter's CRD (v1.14) refuses budgets[{index}]: {'; '.join(refused)}.",
                remedy=f"Correct budgets[{index}] before it is applied.",
            )


def without_reasons(budgets: Sequence[Budget]) -> Iterator[Finding]:
    """Entries whose list of reasons is empty."""
    for index, budget in enumerate(budgets):
        if budget.reasons == ():
            yield Finding(
                code=ReasonCode.APPLIES_TO_NOTHING,
                severity=Severity.WARNING,
                entries=(index,),
                message=f"{described(index, budgets)} applies to no reason, so it limits nothing.",
                remedy="Name the reasons, or leave `reasons` out to mean all of them.",
            )


def impossible_dates(budgets: Sequence[Budget], at: datetime) -> Iterator[Finding]:
    """Entries that count at every moment because their date does not come."""
    for index, budget in enumerate(budgets):
        if not is_always_on(budget) and _never_starts(budget, at):
            yield Finding(
                code=ReasonCode.IMPOSSIBLE_DATE,
                severity=Severity.WARNING,
                entries=(index,),
                message=f"{described(index, budgets)}: this date does not come within five years, and Karpenter "
                "then counts the entry at every moment.",
                remedy="Correct the date, or remove schedule and duration if it is meant to count always.",
            )


def rounded_up(budgets: Sequence[Budget], total: int) -> Iterator[Finding]:
    """Percentages that are more nodes, in a pool of this size, than they seem."""
    for index, budget in enumerate(budgets):
        percent = budget.nodes.removesuffix("%")
        if percent == budget.nodes or not percent.isdecimal() or int(percent) * total % 100 == 0:
            continue
        yield Finding(
            code=ReasonCode.PERCENT_ROUNDS_UP,
            severity=Severity.INFO,
            entries=(index,),
            message=f"budgets[{index}]: {budget.nodes} of {total} nodes is {int(percent) * total / 100:g}; "
            f"Karpenter rounds up to {number(budget, total)}.",
            remedy=f'Write a count, such as nodes: "{number(budget, total)}", where the exact number matters.',
        )


def guards_left_behind(budgets: Sequence[Budget]) -> Iterator[Finding]:
    """Guards of ours that no roll needs any more. The caller says whether one does."""
    for index, budget in enumerate(budgets):
        if is_guard_mark(budget):
            yield Finding(
                code=ReasonCode.GUARD_LEFT_BEHIND,
                severity=Severity.WARNING,
                entries=(index,),
                message=f"{described(index, budgets)} is a guard of driftgate that no roll needs: it shuts Drifted "
                "for 364 days from each of its dates.",
                remedy="Run `driftgate close --pool` on this pool.",
            )


def _never_starts(budget: Budget, at: datetime) -> bool:
    try:
        return read_schedule(budget).next(at) is None
    except BudgetError:
        return False
