"""Which record a NodePool is closed by, and what may be touched at all.

The list that stands was written together with the annotation that stands, so the annotation says what "unchanged"
means; the ledger wins on the baseline of a roll that both know. Must not decide whether to close.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from driftgate.domain.budget import Budget
from driftgate.domain.closing import Closing, ClosingKind, close, close_without_record
from driftgate.domain.marks import is_mark
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.roll import Roll
from driftgate.domain.roll_annotation import LiveRoll, Tombstone, from_text, is_believable


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolClosing:
    """What closing a NodePool writes; `tombstone` None where nothing tells of which roll."""

    closing: Closing
    tombstone: Tombstone | None


def closing_of(pool: NodePoolSnapshot, *, deployment: str, roll: Roll | None = None) -> PoolClosing:
    """The closing of this NodePool, with the ledger's roll where there is one, else by what stands on it.

    Budgets are touched only where our marks stand, or a live annotation of this deployment: a person's own opening
    is left alone if we never opened.
    """
    standing = from_text(pool.roll_annotation)
    live = standing if isinstance(standing, LiveRoll) else None
    lists = _lists(live, roll)
    closing = close_without_record(pool.budgets) if lists is None else close(*lists, pool.budgets)
    is_ours = live is not None and live.deployment == deployment
    if closing.budgets is not None and not is_ours and not any(is_mark(budget) for budget in pool.budgets):
        closing = replace(closing, kind=ClosingKind.LEFT_TO_PERSON, budgets=None)
    return PoolClosing(closing=closing, tombstone=_tombstone(live, roll, deployment))


Lists = tuple[tuple[Budget, ...], tuple[Budget, ...]]


def _lists(live: LiveRoll | None, roll: Roll | None) -> Lists | None:
    """Baseline and opened list to close by; None where nothing can be believed."""
    if live is not None and roll is not None and live.id == roll.id and roll.baseline:
        return roll.baseline, live.opened
    if live is not None and is_believable(live):
        return live.baseline, live.opened
    return None if roll is None else (roll.baseline, roll.opened)


def _tombstone(live: LiveRoll | None, roll: Roll | None, deployment: str) -> Tombstone | None:
    """The note of the newer roll of the two; for one roll, the greater count of ledger and annotation."""
    notes = [] if live is None else [live.tombstone()]
    if roll is not None:
        notes.append(Tombstone(deployment=deployment, id=roll.id, window_key=roll.window_key, count=roll.count))
    return max(notes, key=lambda note: (note.id, note.count), default=None)
