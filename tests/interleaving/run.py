"""Plays one schedule and says which promises were broken; a failure prints itself as a schedule to play again."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.domain.advance import STRAGGLERS
from driftgate.domain.allowance import allowed
from driftgate.domain.budget import to_objects
from driftgate.domain.marks import is_mark
from driftgate.domain.message import DomainEvent
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.roll_annotation import Tombstone
from driftgate.domain.roll_counts import count_openings
from driftgate.ports import Ledger
from driftgate.sim.clock import ManualClock
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.timings import Timings
from tests.interleaving.schedule import Chance, Happening, Script, Source, Step
from tests.interleaving.theatre import CLUSTER, Setting, Theatre, wanted
from tests.interleaving.witness import DRIFTED, GUARD, NODES, Opening, annotation, budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of a schedule."""

    setting: Setting
    steps: tuple[Step, ...]
    happenings: tuple[Happening, ...]
    faults: tuple[str, ...]
    openings: tuple[Opening, ...]
    rolls: tuple[Roll, ...]
    told: tuple[DomainEvent, ...] = field(repr=False)
    budgets: Mapping[str, object] = field(repr=False)
    log: tuple[str, ...] = field(repr=False)

    def __str__(self) -> str:
        """Short and to be played again: the faults, then the schedule as a call."""
        entries = [*map(str, self.happenings), *map(str, self.steps), f"setting={self.setting}"]
        return "\n".join([*self.faults, "play(", *(f"    {entry}," for entry in entries), ")"])


def play(
    *happenings_and_steps: Happening | Step,
    setting: Setting | None = None,
    seconds: float = 420.0,
    source: Source | None = None,
    make_ledger: Callable[[ManualClock], Ledger] = MemoryLedger,
    is_clean: bool = False,
) -> Played:
    """The run of a schedule, judged at every step and at its end."""
    steps = tuple(entry for entry in happenings_and_steps if isinstance(entry, Step))
    happenings = tuple(entry for entry in happenings_and_steps if isinstance(entry, Happening))
    setting = setting or Setting()
    theatre = Theatre(setting, source or Script(steps), make_ledger)
    try:
        theatre.play(happenings, seconds)
        theatre.come_to_rest()
        faults = (*theatre.witness.faults, *at_rest(theatre), *(_clean(theatre) if is_clean else ()))
    finally:
        theatre.end()
    taken = tuple(source.taken) if isinstance(source, Chance) else steps
    return Played(
        setting=setting,
        steps=taken,
        happenings=happenings,
        faults=faults,
        openings=tuple(theatre.witness.openings),
        rolls=theatre.ledger.load(CLUSTER).rolls,
        told=tuple(theatre.publisher.told),
        budgets={pool.name: to_objects(budgets(pool)) for pool in theatre.sim.store.all_of(NODEPOOLS)},
        log=tuple(theatre.stage.log),
    )


WORLD = ("alarm", "alarm", "alarm_ok", "lose_ledger", "worker", "pause", "resume", "restart_karpenter")
PEOPLE = ("note", "add", "zero", "blackout", "baseline", "open", "nothing", "annotation", "close")


def by_chance(seed: int, *, most: int = 3, is_clean: bool = False) -> Played:
    """The schedule of a seed. A clean one has short waits only, and nobody edits a NodePool."""
    chance = random.Random(f"setting {seed}")
    setting = Setting(
        pools=chance.choice((("app",), ("app",), ("app", "db"))),
        nodes=chance.randint(3, 6),
        empty=chance.randint(0, 3),
        per_window=chance.choice((1, 1, 2)),
        open_timeout=timedelta(minutes=chance.choice((2, 4, 10))),
        beat_at_s=float(chance.randint(1, 59)),
        baseline=chance.choice(BASELINES),
        timings=chance.choice((Timings(), SLOW)),
    )
    kinds = ("alarm", "alarm_ok", "worker", "pause", "resume") if is_clean else WORLD + PEOPLE
    happenings = [_happening(chance, kinds, setting) for _ in range(chance.choice((0, 0, 1, 1, 2, 3, 4)))]
    source = Chance(seed=seed, most=0 if chance.random() < 0.1 else most, only_short_waits=is_clean)
    return play(*sorted(happenings, key=lambda h: h.at_s), setting=setting, source=source, is_clean=is_clean)


SLOW = Timings(informer_lag_s=1.5, simulation_s=2.0, idle_s=10.0)
"""A Karpenter of a large cluster: it acts on what it saw a few seconds ago."""

BASELINES = (
    ({"nodes": "0", "reasons": ["Drifted"]},),
    ({"nodes": "20%"}, {"nodes": "0", "reasons": ["Drifted", "Underutilized"]}),
    ({"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "1", "reasons": ["Empty"]}, {"nodes": "0%"})[:2],
)


def _happening(chance: random.Random, kinds: Sequence[str], setting: Setting) -> Happening:
    kind = chance.choice(kinds)
    scoped = kind in PEOPLE
    where = f":{chance.choice(setting.pools)}" if scoped else ""
    return Happening(round(chance.uniform(0, 240), 1), kind + where)


def shrunk(played: Played) -> Played:
    """The same first fault with as few steps and happenings as can be."""
    best = played
    entries: list[Happening | Step] = [*played.happenings, *played.steps]
    index = 0
    while index < len(entries):
        fewer = entries[:index] + entries[index + 1 :]
        again = play(*fewer, setting=played.setting)
        if _kinds(again) & _kinds(played):
            best, entries = again, fewer
        else:
            index += 1
    return best


def _kinds(played: Played) -> set[str]:
    return {fault.partition(":")[0] for fault in played.faults}


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


def _clean(theatre: Theatre) -> list[str]:
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
