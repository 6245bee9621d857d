"""Moments with which several stories begin, and what they ask in the end."""

from __future__ import annotations

from driftgate.domain.budget import Budget, from_objects
from driftgate.ports import WorkMessage
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.witness import budgets_of
from tests.simulated.life import Life
from tests.simulated.two_pools import GATES


def pause_both(life: Life) -> None:
    for pool in GATES:
        life.annotate_pause(pool, paused=True)


def budgets(life: Life, pool: str) -> tuple[Budget, ...]:
    stored = life.sim.store.get(NODEPOOLS, pool)
    return () if stored is None else from_objects(list(budgets_of(stored.obj)))


def hold_open(life: Life, seconds: float = 300) -> None:
    """One gate opens as soon as time passes, and Karpenter takes nothing for that long."""
    life.nature.nominate(seconds)
    life.deployment.queue.send(WorkMessage(cluster="demo", dedup="open", cause="test"))


def broken(life: Life) -> list[str]:
    """What the watchman has to say."""
    life.watchman.look()
    return life.watchman.broken
