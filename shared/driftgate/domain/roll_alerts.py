"""What a roll that went wrong tells people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from driftgate.domain.nodes import NodeClaimSnapshot
from driftgate.domain.plan import Alert, Hold
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll
from driftgate.domain.roll_annotation import LiveRoll


def left_open(roll: Roll, now: datetime) -> Alert:
    """The gate stood open past its revertBy."""
    over = _minutes(now - roll.revert_by) if roll.revert_by else 0
    stood = _minutes(now - roll.opened_at) if roll.opened_at else over
    return Alert(
        code=ReasonCode.GATE_LEFT_OPEN,
        message=f"The gate of {roll.pool} stood open for {stood} min, {over} min past its time. It is closed first.",
        objects=(f"nodepool/{roll.pool}", f"roll/{roll.id}"),
        remedy="Nothing to do for the gate. Look at why the worker died, and at the nodes that went meanwhile.",
    )


def unknown_opening(pool: str, live: LiveRoll, now: datetime) -> Alert:
    """The gate stood open for a roll that the ledger does not know."""
    over = int((now - live.revert_by).total_seconds() // 60)
    late = f", {over} past its time" if over >= 0 else ""
    return Alert(
        code=ReasonCode.GATE_LEFT_OPEN,
        message=f"An opening of {pool} stood for {_minutes(now - live.opened_at)} min{late}, and the ledger has no "
        f"roll {live.id} for it. It is closed.",
        objects=(f"nodepool/{pool}", f"roll/{live.id}"),
        remedy="Nothing to do for the gate. Find out why the ledger lost the roll, and what went meanwhile.",
    )


def abandoned(roll: Roll) -> Alert:
    """The worker that had the gate open gave no sign of life."""
    return Alert(
        code=ReasonCode.ABANDONED,
        message=f"The worker that opened {roll.pool} gave no sign of life for 90 s. Its gate is closed now.",
        objects=(f"nodepool/{roll.pool}", f"roll/{roll.id}"),
        remedy="Nothing to do for the gate. Look at the worker's log for the cause.",
    )


def more_than_one(roll: Roll) -> Alert:
    """More than one node went, or is going, since the opening."""
    claims = (roll.claim, *roll.also_taken)
    return Alert(
        code=ReasonCode.GATE_LEFT_OPEN,
        message=f"{len(claims)} nodes of {roll.pool} have gone or are going since the gate opened: "
        f"{', '.join((roll.node or roll.claim, *roll.also_taken))}.",
        objects=tuple(f"nodeclaim/{claim}" for claim in claims),
        remedy="They cannot be called back by a budget. Watch them settle before the next window.",
    )


def drain_stuck(roll: Roll, claim: NodeClaimSnapshot, waited: timedelta) -> Alert:
    """The old node does not get away."""
    name = claim.node_name or claim.name
    return Alert(
        code=ReasonCode.DRAIN_STUCK,
        message=f"{name} of {roll.pool} has been leaving for {_minutes(waited)} min.",
        objects=(f"node/{name}",),
        remedy="Look at its pods' PodDisruptionBudgets and finalizers, and at its volumes.",
    )


def failed(roll: Roll, orphans: Sequence[str]) -> Alert:
    """The replacement never became usable. `orphans` are NodeClaims that the roll leaves behind."""
    kept = f"The replacement for {roll.node or 'a node'} of {roll.pool} never became usable"
    why = f"; {roll.replacement} had a machine, so its image is suspect: no further node rolls onto it."
    left = f" Left behind: {', '.join(orphans)}." if orphans else ""
    nodes = (f"node/{roll.node}",) if roll.node else ()
    return Alert(
        code=ReasonCode.ROLL_FAILED,
        message=kept + (why if roll.replacement else ": no machine was launched. The image is not to blame.") + left,
        objects=(*nodes, *(f"nodeclaim/{name}" for name in orphans)),
        remedy="Look at the replacement's conditions and boot log; it is left as it is. Then clear the image."
        if roll.replacement
        else "Look at Karpenter's log and the NodeClaim's events for the launch error.",
    )


def bake_failed(roll: Roll, cause: Hold) -> Alert:
    """Something spoke against the image while it was being watched."""
    return Alert(
        code=ReasonCode.BAKE_FAILED,
        message=f"While {roll.image or 'the new image'} was being watched in {roll.pool}: {cause.message}",
        objects=cause.objects,
        remedy="No further node rolls onto this image until it is cleared or another one is chosen.",
    )


def _minutes(span: timedelta) -> int:
    return max(0, int(span.total_seconds() // 60))
