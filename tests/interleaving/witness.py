"""Judges every write of ours to a NodePool and every commit, as it happens, by what the design promises.

It knows the world as it is and none of the product's records, so it cannot be fooled by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from driftgate.domain.allowance import allowed
from driftgate.domain.budget import Budget, DisruptionReason, from_objects
from driftgate.domain.gate import shuts_drifted
from driftgate.domain.jsonvalue import child, text
from driftgate.domain.ledger import Stop, StopCause
from driftgate.domain.marks import is_mark, is_open_mark
from driftgate.domain.nodepool import ROLL_ANNOTATION
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.roll_annotation import LiveRoll, Tombstone, from_text
from driftgate.ports import LedgerChange, LedgerState, PutLook, PutRoll, PutStop
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.store import Change, Stored
from driftgate.sim.witness import budgets_of
from tests.gate_policy import refusals

OURS = "driftgate"
NODES = 10
DRIFTED = DisruptionReason.DRIFTED
GUARD = timedelta(seconds=90)


@dataclass(slots=True)
class Opening:
    """An opening as it stood in the cluster. `nodes` are those that Karpenter took on it."""

    id: str
    pool: str
    window_key: str
    at: datetime
    last_write: datetime
    guard_at: datetime
    nodes: list[str] = field(default_factory=list)
    shut_at: datetime | None = None

    @property
    def shut(self) -> datetime:
        """When the mark left the list. Raises AssertionError where it still stands."""
        assert self.shut_at is not None, f"{self.id} was never shut"
        return self.shut_at

    @property
    def seconds_open(self) -> float:
        return (self.shut - self.at).total_seconds()


@dataclass(slots=True)
class GateWitness:
    """What really happened to the gates. `faults` are broken promises, in plain words."""

    sim: SimCluster
    window_end: datetime
    lag: timedelta
    """How old the view may be on which the simulated Karpenter takes a node."""
    last_guard: Callable[[str], datetime | None]
    """The guard that the ledger knows of a roll; None: the ledger does not know the roll."""
    faults: list[str] = field(default_factory=list)
    openings: list[Opening] = field(default_factory=list)
    edited: set[str] = field(default_factory=set)
    by_hand: list[str] = field(default_factory=list)
    """Nodes that went while a person had the gate open."""
    looks: list[datetime] = field(default_factory=list)
    intents: dict[str, datetime] = field(default_factory=dict)
    stopped: list[tuple[Stop, datetime]] = field(default_factory=list)
    _counted: int = 0

    def __post_init__(self) -> None:
        self.sim.store.listeners.append(self._heard)

    def _fault(self, text: str) -> None:
        if text not in self.faults:
            self.faults.append(text)

    def _heard(self, change: Change) -> None:
        if change.kind is not NODEPOOLS or change.before is None:
            return
        before, after = budgets(change.before), budgets(change.after)
        if change.manager != OURS:
            if before != after:
                self.edited.add(change.after.name)
            self._shut(change.after.name, after, change.at)
            return
        self._judge_write(change, before, after)

    def _judge_write(self, change: Change, before: tuple[Budget, ...], after: tuple[Budget, ...]) -> None:
        assert change.before is not None
        was, stands = annotation(change.before), annotation(change.after)
        name = change.after.name
        for refusal in refusals(before, after):
            self._fault(f"I5/I6: a write to {name}: {refusal}")
        if isinstance(was, LiveRoll | Tombstone) and isinstance(stands, LiveRoll | Tombstone) and stands.id < was.id:
            self._fault(f"P2: {stands.id} replaces the newer {was.id}")
        if before != after and not any(map(is_mark, before)) and not isinstance(was, LiveRoll):
            if not any(map(is_open_mark, after)):
                self._fault(f"P7: the budgets of {name} were written although nothing of ours stood there")
            if not shuts_drifted(before):
                self._fault(f"P7: {name} was opened although a person had it open")
        if isinstance(was, Tombstone) and isinstance(stands, LiveRoll) and stands.id <= was.id:
            self._fault(f"P1: the opening {stands.id} landed after its closing")
        if any(map(is_open_mark, after)):
            self._judge_open(name, stands, after, change.at)
        self._shut(name, after, change.at)

    def _judge_open(self, name: str, stands: object, after: tuple[Budget, ...], at: datetime) -> None:
        if not isinstance(stands, LiveRoll):
            self._fault(f"{name} stands open without a record")
            return
        for seconds in range(0, 600, 15):
            moment = at + timedelta(seconds=seconds)
            if allowed(after, NODES, moment, DRIFTED) and (moment >= at + GUARD or moment >= self.window_end):
                self._fault(f"I4: {name} would stand open {seconds} s after the last write")
        self._note(name, stands, at)
        both = [pool.name for pool in self.sim.store.all_of(NODEPOOLS) if self.is_open(pool)]
        if len(both) > 1:
            self._fault(f"I2: {' and '.join(both)} stand open at once")

    def _note(self, pool: str, stands: LiveRoll, at: datetime) -> None:
        known = next((o for o in self.openings if o.id == stands.id), None)
        if known is not None:
            known.last_write, known.guard_at = at, stands.guard_at
        else:
            earlier = [o for o in self.openings if o.pool == pool and o.guard_at > at]
            if earlier and self.last_guard(earlier[-1].id) is not None:
                self._fault(f"P5: {stands.id} opened before the guard of {earlier[-1].id} had passed")
            self.openings.append(Opening(stands.id, pool, stands.window_key, at, at, stands.guard_at))
        known_guard = self.last_guard(stands.id)
        if known_guard is not None and stands.guard_at > known_guard:
            self._fault(f"P4: the guard of {stands.id} moved before the ledger knew")

    def is_open(self, pool: Stored) -> bool:
        """Whether our mark lets a node go now."""
        found = budgets(pool)
        return any(map(is_open_mark, found)) and allowed(found, NODES, self.sim.clock.now(), DRIFTED) != 0

    def _shut(self, pool: str, after: Sequence[Budget], at: datetime) -> None:
        if not any(map(is_open_mark, after)):
            for opening in self.openings:
                if opening.pool == pool and opening.shut_at is None:
                    opening.shut_at = at

    def count(self) -> None:
        """Takes in what Karpenter took since."""
        for disruption in self.sim.witness.disruptions[self._counted :]:
            self._counted += 1
            if disruption.reason != "Drifted":
                continue
            seen = from_objects(list(disruption.seen_budgets))
            mine = [opening for opening in self.openings if opening.pool == disruption.pool]
            shut_at = mine[-1].shut_at if mine else None
            is_late = shut_at is not None and disruption.at <= shut_at + self.lag and shuts_drifted(seen)
            was_open = any(map(is_open_mark, seen)) or is_late
            if not was_open or not mine:
                self.by_hand.append(disruption.node)
                continue
            mine[-1].nodes.append(disruption.node)
            if disruption.at > mine[-1].last_write + GUARD + self.lag:
                self._fault(f"I4: {disruption.node} was taken after the guard's minute")

    def committed(self, before: LedgerState, changes: Sequence[LedgerChange], now: datetime) -> None:
        """Judges a commit that went through."""
        for change in changes:
            if isinstance(change, PutRoll) and change.roll.state is RollState.PLANNED:
                self.intents[change.roll.id] = now
            if isinstance(change, PutRoll) and change.roll.state in (RollState.PLANNED, RollState.OPENING):
                against = [s for s in before.stops if _forbids(s, change.roll, before.rolls, now)]
                if against:
                    self._fault(f"I1: {change.roll.id} is {change.roll.state} against the stop {against[0].key}")
            if isinstance(change, PutLook):
                self.looks.append(change.at)
            if isinstance(change, PutStop):
                self.stopped.append((change.stop, now))


def _forbids(stop: Stop, roll: Roll, rolls: Sequence[Roll], now: datetime) -> bool:
    """Whether the stop forbids the roll; one that was written for a roll that has ended says nothing."""
    is_over = stop.cause is StopCause.ROLL and any(r.id == stop.ref and r.is_finished for r in rolls)
    return stop.covers(roll.cluster, roll.pool) and stop.is_active(now) and not is_over


def budgets(pool: Stored) -> tuple[Budget, ...]:
    return from_objects(list(budgets_of(pool.obj)))


def annotation(pool: Stored) -> object:
    return from_text(text(child(pool.obj, "metadata", "annotations").get(ROLL_ANNOTATION)))
