"""Whether a gate of ours stands open in a pool and must not: then closing is the action, whatever the verdict."""

from __future__ import annotations

from driftgate.domain.gate_duty import decide_closing, has_leftovers, stands_open_for_others
from driftgate.domain.plan import Action, ActionKind, Alert, Hold
from driftgate.domain.pool_case import PoolCase
from driftgate.domain.reasons import REASONS, ReasonCode
from driftgate.domain.roll_annotation import LiveRoll, from_text


def closing_action(case: PoolCase) -> tuple[Action, tuple[Alert, ...]] | None:
    """CLOSE where a gate of ours stands that must not, with the exact patch; None where none does."""
    pool, own = case.facts.pool, case.own_step
    if own is not None and own[1].close:
        roll, reason = own[0], own[1].reason
    elif own is None and has_leftovers(pool) and stands_open_for_others(pool, case.known_rolls, case.facts.now) is None:
        roll, reason = None, ReasonCode.GATE_LEFT_OPEN
    else:
        return None
    decision = decide_closing(pool, roll, case.deployment)
    told = decision.alert(pool.name)
    alerts = () if told is None else (told,)
    if roll is None and (told is None or told.code is not ReasonCode.GATE_LEFT_OPEN):
        alerts = (_left_open(case, pool.name), *alerts)
    hold = Hold(code=reason, message=REASONS[reason].meaning, objects=(f"nodepool/{pool.name}",))
    return Action(kind=ActionKind.CLOSE, reasons=(hold,), patch=decision.patch), alerts


def _left_open(case: PoolCase, pool: str) -> Alert:
    live = from_text(case.facts.pool.roll_annotation)
    since = ""
    if isinstance(live, LiveRoll):
        minutes = max(0, int((case.facts.now - live.opened_at).total_seconds() // 60))
        since = (
            f" for {minutes} min, {max(0, int((case.facts.now - live.revert_by).total_seconds() // 60))} past its time"
        )
    return Alert(
        code=ReasonCode.GATE_LEFT_OPEN,
        message=f"An opening of {pool} stands{since} and the ledger has no roll for it. It is closed first.",
        objects=(f"nodepool/{pool}",),
        remedy="Nothing to do for the gate. Find out why the ledger lost the roll, and what went meanwhile.",
    )
