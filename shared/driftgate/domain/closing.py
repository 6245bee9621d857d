"""Closing the gate: which list puts the baseline back without taking anything that a person did meanwhile.

Closing is always possible. It reads no schedule and no number but a zero's spelling, so nothing in the list can
block it, and doing it twice changes nothing more. Must not decide whether to close.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from driftgate.domain.alignment import aligned
from driftgate.domain.budget import MAX_ENTRIES, Budget
from driftgate.domain.gate import (
    Part,
    is_drifted_zero,
    may_be_baseline,
    parts_of,
    remainder,
    shuts_drifted,
)
from driftgate.domain.marks import DRIFTED_ONLY, is_mark, is_open_mark, without_guards, without_marks
from driftgate.domain.reasons import ReasonCode

SHUT = Budget(nodes="0", reasons=DRIFTED_ONLY)


class ClosingKind(StrEnum):
    """Which way a closing went."""

    RESTORED = "restored"
    """Nothing but our guard had moved: the baseline comes back exactly."""
    ALREADY_CLOSED = "already_closed"
    """The baseline was back before we came."""
    LEFT_TO_PERSON = "left_to_person"
    """Nothing of ours was left and the list is somebody's own: shut their way, or not ours to shut."""
    MENDED = "mended"
    """Somebody edited the list: ours left, the gate's zeros came back, their entries stayed."""
    MARKS_REMOVED = "marks_removed"
    """Marks of ours stood there without a record to believe: they left, and the gate is shut."""
    NOTHING_OURS = "nothing_ours"
    """No record to believe and no mark of ours: the list is none of our business."""
    NO_ROOM = "no_room"
    """Somebody filled the list with entries of their own and no zero: a person must shut the gate."""


_ALERTS = {
    ClosingKind.LEFT_TO_PERSON: ReasonCode.FOREIGN_EDIT,
    ClosingKind.MENDED: ReasonCode.FOREIGN_EDIT,
    ClosingKind.NO_ROOM: ReasonCode.TOO_MANY_ENTRIES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """What closing writes. `budgets` None: the list stays as it was `found`.

    `baseline` is what the record says the list was before the opening; empty where there is no record.
    """

    kind: ClosingKind
    found: tuple[Budget, ...]
    baseline: tuple[Budget, ...] = ()
    budgets: tuple[Budget, ...] | None = None

    @property
    def alert(self) -> ReasonCode | None:
        """What people must be told, with both lists; None where all is as it should be."""
        if self.kind is ClosingKind.MARKS_REMOVED:
            left_open = any(is_open_mark(budget) for budget in self.found)
            return ReasonCode.GATE_LEFT_OPEN if left_open else ReasonCode.GUARD_LEFT_BEHIND
        return _ALERTS.get(self.kind)


def close(baseline: Sequence[Budget], opened: Sequence[Budget], current: Sequence[Budget]) -> Closing:
    """The closing of a recorded opening: the baseline comes back exactly, or around a person's edit.

    `opened` is the list as last written, by the record that stands with it; its guard's minute does not matter.
    A record whose baseline driftgate could not have opened is no record.
    """
    if not may_be_baseline(baseline):
        return close_without_record(current)
    kind, budgets = _decide(tuple(baseline), opened, tuple(current))
    return Closing(kind=kind, found=tuple(current), baseline=tuple(baseline), budgets=budgets)


def close_without_record(current: Sequence[Budget]) -> Closing:
    """The closing of a list of which no believable record is left: marks leave, and the gate is shut.

    Without a mark of ours nothing is written, also where the gate is open: it may be a person's opening.
    """
    found = tuple(current)
    if not any(is_mark(budget) for budget in found):
        return Closing(kind=ClosingKind.NOTHING_OURS, found=found)
    return Closing(kind=ClosingKind.MARKS_REMOVED, found=found, budgets=_without_ours(found, ()))


def _decide(
    baseline: tuple[Budget, ...], opened: Sequence[Budget], current: tuple[Budget, ...]
) -> tuple[ClosingKind, tuple[Budget, ...] | None]:
    if without_guards(current) == without_guards(opened):
        return ClosingKind.RESTORED, baseline
    if current == baseline:
        return ClosingKind.ALREADY_CLOSED, None
    if not any(is_mark(budget) for budget in current) and shuts_drifted(current):
        return ClosingKind.LEFT_TO_PERSON, None
    mended = _mended(baseline, current)
    return (ClosingKind.NO_ROOM, None) if mended is None else (ClosingKind.MENDED, mended)


def _mended(baseline: tuple[Budget, ...], current: tuple[Budget, ...]) -> tuple[Budget, ...] | None:
    """The edited list without our marks and with the gate's zeros; None where the list has no room for one."""
    whole = _with_originals(parts_of(baseline), current)
    dropped = [zero for zero in baseline if is_drifted_zero(zero) and remainder(zero) is None]
    return _without_ours(whole, _missing(dropped, whole))


def _missing(wanted: Sequence[Budget], present: Sequence[Budget]) -> list[Budget]:
    """Those of `wanted` that `present` lacks, counting equal ones. Foreign fields need not be hashable."""
    left, missing = list(present), []
    for budget in wanted:
        if budget in left:
            left.remove(budget)
        else:
            missing.append(budget)
    return missing


def _with_originals(parts: tuple[Part, ...], current: tuple[Budget, ...]) -> tuple[Budget, ...]:
    """The list with each untouched remainder, moved or not, turned into its original entry, in place."""
    index_of = aligned([part.entry for part in parts], current)
    taken = set(index_of.values())
    moved = [part for index, part in enumerate(parts) if index not in taken and part.is_remainder]
    whole: list[Budget] = []
    for index, budget in enumerate(current):
        part = parts[index_of[index]] if index in index_of else _first_of(moved, budget)
        whole.append(budget if part is None or part.original is None else part.original)
    return tuple(whole)


def _first_of(moved: list[Part], budget: Budget) -> Part | None:
    """Takes the first part with this entry out of the list; None where there is none."""
    for part in moved:
        if part.entry == budget:
            moved.remove(part)
            return part
    return None


def _without_ours(budgets: tuple[Budget, ...], zeros: Iterable[Budget]) -> tuple[Budget, ...] | None:
    """The list without our marks, shut: the zeros stand where the open mark stood, else at the end.

    Where no zero on Drifted would stand, a plain one is added. At most 50 entries; None where that cannot be.
    """
    marks = [index for index, budget in enumerate(budgets) if is_open_mark(budget)]
    place = marks[0] if marks else len(budgets)
    before, after = without_marks(budgets[:place]), without_marks(budgets[place:])
    room = MAX_ENTRIES - len(before) - len(after)
    back = tuple(zeros)[: max(room, 0)]
    if not shuts_drifted((*before, *back, *after)):
        back = (SHUT,)
    return (*before, *back, *after) if len(back) <= room else None
