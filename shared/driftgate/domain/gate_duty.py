"""What closing one NodePool comes to: which record to believe, which list to write, which tombstone to leave.

Closing is always allowed; this module never says no. It says "nothing to write" where the list is none of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from driftgate.domain.budget import to_objects
from driftgate.domain.closing import Closing, ClosingKind
from driftgate.domain.gate_patch import closing_patch
from driftgate.domain.jsonvalue import compact
from driftgate.domain.marks import is_mark
from driftgate.domain.nodepool import ROLL_ANNOTATION, NodePoolSnapshot
from driftgate.domain.patch import JsonPatch
from driftgate.domain.plan import Alert
from driftgate.domain.pool_closing import closing_of
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll
from driftgate.domain.roll_annotation import LiveRoll, Tombstone, from_text, to_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingDecision:
    """The patch that closes, empty where nothing is left to write, and what it means.

    `is_superseded`: a newer roll has this NodePool; closing the older one is done.
    """

    patch: JsonPatch
    closing: Closing
    is_superseded: bool = False

    @property
    def is_baseline_back(self) -> bool:
        """Whether the list is, after the patch, exactly what the record calls the baseline."""
        kinds = (ClosingKind.RESTORED, ClosingKind.ALREADY_CLOSED)
        return self.closing.kind in kinds

    def alert(self, pool: str) -> Alert | None:
        """What people must be told of this closing, with both lists."""
        return None if self.closing.alert is None else _alert(pool, self.closing, self.closing.alert)


def decide_closing(pool: NodePoolSnapshot, roll: Roll | None, deployment: str) -> ClosingDecision:
    """The closing of a roll, or with None of whatever of ours stands in the NodePool."""
    if roll is not None and _is_superseded(pool, roll):
        is_back = pool.budgets == roll.baseline
        kind = ClosingKind.ALREADY_CLOSED if is_back else ClosingKind.NOTHING_OURS
        untouched = Closing(kind=kind, found=pool.budgets)
        return ClosingDecision(patch=(), closing=untouched, is_superseded=True)
    due = closing_of(pool, deployment=deployment, roll=roll)
    return ClosingDecision(patch=closing_patch(pool, due.closing, due.tombstone), closing=due.closing)


def _is_superseded(pool: NodePoolSnapshot, roll: Roll) -> bool:
    """Whether a newer roll has this NodePool. A note that it was closed says nothing while marks of ours stand."""
    standing = from_text(pool.roll_annotation)
    if not isinstance(standing, LiveRoll | Tombstone) or standing.id <= roll.id:
        return False
    return isinstance(standing, LiveRoll) or not any(is_mark(budget) for budget in pool.budgets)


def live_roll(roll: Roll, deployment: str) -> LiveRoll:
    """The annotation of an opening. The roll must have its times: it is about to be, or was, opened."""
    if roll.opened_at is None or roll.guard_at is None or roll.revert_by is None:
        raise ValueError(f"the roll {roll.id} was never opened")
    return LiveRoll(
        deployment=deployment,
        id=roll.id,
        opened_at=roll.opened_at,
        guard_at=roll.guard_at,
        revert_by=roll.revert_by,
        baseline=roll.baseline,
        opened=roll.opened,
        window_key=roll.window_key,
        count=roll.count,
    )


def as_left(roll: Roll, deployment: str) -> NodePoolSnapshot | None:
    """The NodePool as this roll left it, so that a closing needs no reading first; None where that is not known.

    If anybody touched it since, the tests of the patch fail and nothing is written.
    """
    if roll.generation is None or roll.opened_at is None or roll.guard_at is None or roll.revert_by is None:
        return None
    annotation = to_text(live_roll(roll, deployment))
    return NodePoolSnapshot(
        name=roll.pool,
        generation=roll.generation,
        annotations={ROLL_ANNOTATION: annotation},
        budgets=roll.opened,
    )


def stands_open_for_others(pool: NodePoolSnapshot, known: frozenset[str], now: datetime) -> LiveRoll | None:
    """A roll in flight that this ledger does not know: hands off until its revertBy."""
    standing = from_text(pool.roll_annotation)
    if isinstance(standing, LiveRoll) and standing.id not in known and now < standing.revert_by:
        return standing
    return None


def has_leftovers(pool: NodePoolSnapshot) -> bool:
    """Whether something of ours stands in the NodePool that a closing would remove."""
    return isinstance(from_text(pool.roll_annotation), LiveRoll) or any(is_mark(budget) for budget in pool.budgets)


def _alert(pool: str, closing: Closing, code: ReasonCode) -> Alert:
    found = compact(to_objects(closing.found))
    if closing.kind is ClosingKind.NO_ROOM:
        text = f"The budgets of {pool} are full of entries that are not driftgate's, and none of them shuts Drifted."
        remedy = 'Put {nodes: "0", reasons: [Drifted]} back by hand, in place of one of them.'
        return Alert(code=code, message=f"{text} They are: {found}", objects=(f"nodepool/{pool}",), remedy=remedy)
    if closing.budgets is None:
        lists = f"Found: {found} Before the opening: {compact(to_objects(closing.baseline))}"
    else:
        lists = f"Found: {found} Now: {compact(to_objects(closing.budgets))}"
    return Alert(
        code=code,
        message=f"{_WHAT[closing.kind].format(pool=pool)} {lists}",
        objects=(f"nodepool/{pool}",),
        remedy="Compare both lists and put right what should be different.",
    )


_WHAT = {
    ClosingKind.MENDED: "The budgets of {pool} were edited while the gate was open. The gate is shut, the edit kept.",
    ClosingKind.LEFT_TO_PERSON: "The budgets of {pool} were replaced and hold nothing of driftgate's: left so.",
    ClosingKind.MARKS_REMOVED: "Entries of driftgate stood in {pool} without a record to believe. They are gone.",
}
