"""What must be true of the world once everything came to rest, whatever happened before.

Judged by what the witness saw and by what stands in the cluster and in the ledger.
"""

from __future__ import annotations

from datetime import timedelta

from driftgate.domain.advance import STRAGGLERS
from driftgate.domain.allowance import allowed
from driftgate.domain.marks import is_mark
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import RollState
from driftgate.domain.roll_annotation import Tombstone
from driftgate.domain.roll_counts import count_openings
from driftgate.sim.kinds import NODEPOOLS
from tests.interleaving.setting import CLUSTER, wanted
from tests.interleaving.theatre import Theatre
from tests.interleaving.witness import DRIFTED, GUARD, NODES, annotation, budgets


def at_rest(theatre: Theatre) -> tuple[str, ...]:
    """What is wrong with the world after everything came to rest."""
    return (*_pools(theatre), *_ledger(theatre), *_counts(theatre), *_told(theatre))


def _pools(theatre: Theatre) -> list[str]:
    faults, witness = [], theatre.witness
    for pool in theatre.sim.store.all_of(NODEPOOLS):
        found, note = budgets(pool), annotation(pool)
        mine = [opening for opening in witness.openings if opening.pool == pool.name]
        if any(map(is_mark, found)):
            faults.append(f"I3: a mark of ours is left in {pool.name}")
        is_forgotten = theatre.ledger_was_lost and pool.name in theatre.annotation_deleted_at
        if pool.name not in witness.edited and not is_forgotten and found != wanted(theatre.setting):
            faults.append(f"I3: {pool.name} does not have its baseline")
        if pool.name not in theatre.opened_by_hand and allowed(found, NODES, theatre.stage.now(), DRIFTED) != 0:
            faults.append(f"I3: {pool.name} is left open")
        deleted_at = theatre.annotation_deleted_at.get(pool.name)
        is_gone = bool(mine and deleted_at and mine[-1].shut_at and deleted_at > mine[-1].shut_at)
        if mine and not (is_gone or is_forgotten) and not (isinstance(note, Tombstone) and note.id >= mine[-1].id):
            faults.append(f"I3: {pool.name} has no tombstone of {mine[-1].id}")
    return faults


def _ledger(theatre: Theatre) -> list[str]:
    state = theatre.ledger.load(CLUSTER)
    faults = [f"liveness: {roll.id} is still {roll.state}" for roll in theatre.unfinished]
    faults += [f"liveness: the stop {stop.key} is never lifted" for stop in state.stops if stop.cause != "pause"]
    faults += [f"liveness: {a.name} never ended" for a in theatre.stage.actors if not a.is_over and not a.is_dead]
    return faults


def _counts(theatre: Theatre) -> list[str]:
    faults = []
    state, openings = theatre.ledger.load(CLUSTER), theatre.witness.openings
    for roll in state.rolls:
        nodes = [node for opening in openings if opening.id == roll.id for node in opening.nodes]
        if roll.state is RollState.CLOSED_UNUSED and nodes:
            faults.append(f"P3: {roll.id} is closed_unused although {', '.join(nodes)} went")
        opened = any(opening.id == roll.id for opening in openings)
        if opened and roll.is_finished and not roll.baseline_restored and roll.pool not in theatre.witness.edited:
            faults.append(f"restored: {roll.id} does not know that its baseline is back")
        if roll.is_finished and roll.state is not RollState.CLOSED_UNUSED and not nodes and not theatre.witness.by_hand:
            faults.append(f"count: {roll.id} is {roll.state} although nothing went")
    for key in {opening.window_key for opening in openings}:
        used = [o for o in openings if o.window_key == key and o.nodes]
        if len(used) > theatre.setting.per_window and not theatre.annotation_deleted_at:
            faults.append(f"I2: {len(used)} openings of {key} took a node")
        counter = next((c.taken for c in state.counters if c.window_key == key), 0)
        kept = [r for r in state.rolls if r.window_key == key and r.state is not RollState.CLOSED_UNUSED]
        if not theatre.ledger_was_lost and counter != len(kept):
            faults.append(f"count: the counter of {key} says {counter}, and {len(kept)} rolls have a slot")
        said = count_openings(key, state.rolls, state.counters, _annotated(theatre, key)).taken
        if not theatre.ledger_was_lost and said != len(kept):
            faults.append(f"P11: {said} openings of {key} are counted, and {len(kept)} rolls have a slot")
    return faults


def _annotated(theatre: Theatre, key: str) -> int:
    notes = [annotation(pool) for pool in theatre.sim.store.all_of(NODEPOOLS)]
    return max((n.count for n in notes if isinstance(n, Tombstone) and n.window_key == key), default=0)


def with_all_alive(theatre: Theatre) -> list[str]:
    """What must hold besides where nobody died, was frozen for long, or edited anything."""
    faults = []
    for opening in theatre.witness.openings:
        if len(opening.nodes) > 1:
            faults.append(f"I2: {len(opening.nodes)} nodes went in {opening.id}")
        for stop, at in theatre.witness.stopped:
            began = max(at, opening.at)
            covers = stop.covers(CLUSTER, opening.pool) and stop.is_active(began)
            is_later = theatre.witness.intents[opening.id] < at < (opening.shut_at or at)
            if covers and is_later and opening.shut_at and opening.shut_at > began + PROMPT:
                faults.append(f"stop: {opening.id} stood open for {opening.shut_at - began} against {stop.key}")
    return faults


PROMPT = timedelta(seconds=8)
"""Several short waits and a closer's own calls."""


def _told(theatre: Theatre) -> list[str]:
    faults = []
    told = [event for event in theatre.publisher.told if event.code == ReasonCode.GATE_LEFT_OPEN]
    left = [event for event in theatre.publisher.told if event.code in (ReasonCode.GATE_LEFT_OPEN, "ABANDONED")]
    for opening in theatre.witness.openings:
        if opening.shut_at and opening.shut_at - opening.last_write > timedelta(seconds=100) and not left:
            faults.append(f"told: {opening.id} was left alone until {opening.shut_at}, and nobody was told")
        in_time = (opening.shut_at or opening.at, opening.last_write + GUARD + STRAGGLERS)
        looked = any(in_time[0] <= at <= in_time[1] for at in theatre.witness.looks)
        known = looked and any(roll.id == opening.id for roll in theatre.ledger.load(CLUSTER).rolls)
        if len(opening.nodes) > 1 and known and not any(event.pool == opening.pool for event in told):
            faults.append(f"told: {len(opening.nodes)} nodes went in {opening.id}, and nobody was told")
    return faults
