"""Plays one schedule and says which promises were broken; a failure prints itself as a schedule to play again."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.domain.budget import to_objects
from driftgate.domain.message import DomainEvent
from driftgate.domain.roll import Roll
from driftgate.ports import Ledger
from driftgate.sim.clock import ManualClock
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.timings import Timings
from tests.interleaving.rest import at_rest, with_all_alive
from tests.interleaving.schedule import Chance, Happening, Script, Source, Step
from tests.interleaving.setting import CLUSTER, Setting
from tests.interleaving.theatre import Theatre
from tests.interleaving.witness import Opening, budgets


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
        faults = (*theatre.witness.faults, *at_rest(theatre), *(with_all_alive(theatre) if is_clean else ()))
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
