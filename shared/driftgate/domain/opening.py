"""Whether a gate may be opened as far as its budgets say, and the proof of an opened list before it is written.

Windows, alarms and nodes are judged elsewhere. Must not write, and must not guess what it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from driftgate.domain.allowance import allowed, binding, problems
from driftgate.domain.budget import MAX_ENTRIES, Budget, DisruptionReason, is_usable_number
from driftgate.domain.errors import InvariantError
from driftgate.domain.gate import OTHER_REASONS, parts_of, shuts_drifted
from driftgate.domain.guard import GUARD_SPAN
from driftgate.domain.horizon import COMING_YEAR, change_points, first_difference, most_allowed, next_closing
from driftgate.domain.marks import is_guard_mark, is_open_mark
from driftgate.domain.reasons import ReasonCode

DRIFTED = DisruptionReason.DRIFTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why these budgets cannot be opened; `entries` are indices in the baseline."""

    code: ReasonCode
    message: str
    entries: tuple[int, ...] = ()


def has_unknown(budget: Budget) -> bool:
    """Whether the entry says something that this version cannot weigh: a field, or a reason."""
    return bool(budget.unknown) or any(reason not in set(DisruptionReason) for reason in budget.reasons or ())


_ENTRY_RULES: tuple[tuple[ReasonCode, Callable[[Budget], bool], str], ...] = (
    (ReasonCode.UNKNOWN_FIELD, has_unknown, "An entry has a field or a reason that this version does not know."),
    (
        ReasonCode.INVALID,
        lambda budget: bool(problems((budget,))),
        "Karpenter cannot parse an entry, so it allows 0 for every reason whatever the others say.",
    ),
    (
        ReasonCode.UNUSABLE_NUMBER,
        lambda budget: not is_usable_number(budget),
        "A number is larger than Karpenter can use (2147483647).",
    ),
    (ReasonCode.GATE_LEFT_OPEN, is_open_mark, "An entry that opens the gate was left behind; close it first."),
    (ReasonCode.GUARD_LEFT_BEHIND, is_guard_mark, "A guard was left behind; close the gate first."),
)


def why_not_openable(baseline: Sequence[Budget], *, total: int) -> tuple[Obstacle, ...]:
    """Everything in the list itself that forbids an opening, at whatever time; empty where nothing does.

    `total` counts the pool's nodes as Karpenter does. A freeze is not named: whether it counts is the owner's choice.
    """
    if not baseline:
        message = "`budgets: []` means no limit at all: there is no gate to open."
        return (Obstacle(code=ReasonCode.EMPTY_LIST, message=message),)
    found = [_by_entry(baseline, *rule) for rule in _ENTRY_RULES]
    if not shuts_drifted(baseline):
        message = "No always-on zero shuts Drifted, and driftgate never edits scheduled entries."
        found.append(Obstacle(code=ReasonCode.NATIVE_BLACKOUT, message=message))
    if len(parts_of(baseline)) + 1 > MAX_ENTRIES:
        message = f"The opened list would have more than {MAX_ENTRIES} entries, which the API server refuses."
        found.append(Obstacle(code=ReasonCode.TOO_MANY_ENTRIES, message=message))
    if total < 1:
        found.append(Obstacle(code=ReasonCode.NOTHING_ELIGIBLE, message="The pool has no node that counts."))
    return tuple(obstacle for obstacle in found if obstacle is not None)


def _by_entry(
    baseline: Sequence[Budget], code: ReasonCode, is_so: Callable[[Budget], bool], message: str
) -> Obstacle | None:
    entries = tuple(index for index, budget in enumerate(baseline) if is_so(budget))
    return Obstacle(code=code, message=message, entries=entries) if entries else None


def next_native_zero(baseline: Sequence[Budget], total: int, at: datetime) -> datetime | None:
    """When the owner's own schedules next shut Drifted in a gate that we hold open; None where none does."""
    return next_closing(tuple(part.entry for part in parts_of(baseline)), total, at, DRIFTED)


def check_opened(
    baseline: Sequence[Budget], opened: Sequence[Budget], *, opened_at: datetime, guard_at: datetime, total: int
) -> tuple[Obstacle, ...]:
    """NATIVE_BLACKOUT where a scheduled zero shuts Drifted before the guard does; else empty: the list may be written.

    Asks the evaluator, for a baseline of which `why_not_openable` says nothing.

    Raises:
        InvariantError: the opened list breaks a promise: more than one node, no zero from the guard on, another
            reason's limit moved, or more entries than the server takes. That is a bug, and nothing may be written.
    """
    _promise(len(opened) <= MAX_ENTRIES, "it has too many entries")
    _promise(_most(opened, total, opened_at, guard_at) in (0, 1), "it allows more than one drifted node")
    _promise(_most(opened, total, guard_at, guard_at + GUARD_SPAN) == 0, "the guard does not shut it")
    for reason in OTHER_REASONS:
        moved = first_difference(baseline, opened, total, opened_at, opened_at + COMING_YEAR, DisruptionReason(reason))
        _promise(moved is None, f"the limit for {reason} moves")
    return native_blackout(baseline, opened, opened_at, guard_at, total)


def _most(budgets: Sequence[Budget], total: int, start: datetime, end: datetime) -> int | None:
    return most_allowed(budgets, total, start, end, DRIFTED)


def _promise(kept: bool, broken: str) -> None:
    if not kept:
        raise InvariantError(f"the opened list was not written: {broken}")


def native_blackout(
    baseline: Sequence[Budget], opened: Sequence[Budget], opened_at: datetime, guard_at: datetime, total: int
) -> tuple[Obstacle, ...]:
    """The scheduled zeros that are active at some moment while the gate would be open."""
    moments = (opened_at, *change_points(opened, opened_at, guard_at))
    shutting = [
        opened[index]
        for at in moments
        if allowed(opened, total, at, DRIFTED) == 0
        for index in binding(opened, total, at, DRIFTED)
    ]
    if not shutting:
        return ()
    entries = tuple(index for index, budget in enumerate(baseline) if budget in shutting)
    message = "A scheduled zero shuts Drifted before the guard's minute, so nothing could go."
    return (Obstacle(code=ReasonCode.NATIVE_BLACKOUT, message=message, entries=entries),)
