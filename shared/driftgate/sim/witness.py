"""What really happened: an account kept by the model itself, for tests to judge the product by.

The product never reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from driftgate.domain.jsonvalue import child, items, mapping
from driftgate.sim.jsonpatch import same
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.objects import JsonDict
from driftgate.sim.store import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Disruption:
    """Karpenter decided to take a node. `budgets` are the API's at that moment, whatever Karpenter had seen."""

    at: datetime
    pool: str
    node: str
    claim: str
    reason: str
    budgets: tuple[JsonDict, ...]
    seen_budgets: tuple[JsonDict, ...]
    replacements: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What became of it: the NodeClaim is gone, or the command was taken back."""

    at: datetime
    pool: str
    node: str
    claim: str
    reason: str
    kind: Literal["gone", "rolled_back"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetsChange:
    """Somebody wrote a NodePool's budgets."""

    at: datetime
    pool: str
    manager: str
    before: tuple[JsonDict, ...]
    after: tuple[JsonDict, ...]


@dataclass(slots=True)
class Witness:
    """Everything, in the order of time. `departures` are nodes that left for another reason than a command."""

    disruptions: list[Disruption] = field(default_factory=list)
    departures: list[Disruption] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    budgets: list[BudgetsChange] = field(default_factory=list)
    _taken: dict[str, Disruption] = field(default_factory=dict)
    _under_way: dict[str, int] = field(default_factory=dict)
    _most: dict[str, int] = field(default_factory=dict)

    def started(self, disruption: Disruption) -> None:
        """A command began."""
        self.disruptions.append(disruption)
        self._taken[disruption.claim] = disruption
        self._count(disruption.pool, 1)

    def left(self, departure: Disruption) -> None:
        """A node began to leave without a command."""
        self.departures.append(departure)

    def taken(self, claim: str) -> Disruption | None:
        """The command that is taking this NodeClaim, None where there is none."""
        return self._taken.get(claim)

    def ended(self, ending: Ending) -> None:
        """A NodeClaim is gone, or its command was taken back."""
        self.endings.append(ending)
        if self._taken.pop(ending.claim, None) is not None:
            self._count(ending.pool, -1)

    def rolled(self, reason: str = "Drifted", pool: str | None = None) -> int:
        """How many disruptions of that reason were started and not taken back."""
        back = Counter(ending.claim for ending in self.endings if ending.kind == "rolled_back")
        chosen = [entry for entry in self.disruptions if entry.reason == reason and pool in (None, entry.pool)]
        return sum((Counter(entry.claim for entry in chosen) - back).values())

    def nodes(self, reason: str = "Drifted") -> list[str]:
        """The nodes taken for that reason, in order."""
        return [entry.node for entry in self.disruptions if entry.reason == reason]

    def most_at_once(self, pool: str) -> int:
        """The greatest number of commands under way in the pool at one time."""
        return self._most.get(pool, 0)

    def between(self, start: datetime, end: datetime) -> list[Disruption]:
        """Disruptions started in [start, end)."""
        return [entry for entry in self.disruptions if start <= entry.at < end]

    def heard(self, change: Change) -> None:
        """Writes down a change of budgets."""
        if change.kind is not NODEPOOLS or change.before is None or change.type == "DELETED":
            return
        before, after = budgets_of(change.before.obj), budgets_of(change.after.obj)
        if not same(list(before), list(after)):
            entry = BudgetsChange(
                at=change.at, pool=change.after.name, manager=change.manager, before=before, after=after
            )
            self.budgets.append(entry)

    def _count(self, pool: str, by: int) -> None:
        self._under_way[pool] = self._under_way.get(pool, 0) + by
        self._most[pool] = max(self._most.get(pool, 0), self._under_way[pool])


def budgets_of(pool: JsonDict) -> tuple[JsonDict, ...]:
    entries: Sequence[object] = items(child(pool, "spec", "disruption").get("budgets"))
    return tuple(dict(mapping(entry)) for entry in entries)
