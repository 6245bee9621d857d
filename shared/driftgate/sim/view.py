"""What Karpenter's informers have seen: the API as it was a moment ago.

The disruption loop reads budgets and nodes from here and never from the API, so that it can act on an older
view, as the real one does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import timedelta

from driftgate.sim.clock import SimClock
from driftgate.sim.kinds import KINDS, Kind
from driftgate.sim.store import Change, Store, Stored


class View:
    """Objects as seen `lag_s` ago; `lag_of` makes single kinds slower. `sync` catches up."""

    def __init__(self, store: Store, clock: SimClock, lag_s: float) -> None:
        self.lag_s = lag_s
        self.lag_of: dict[Kind, float] = {}
        self._clock = clock
        self._pending: dict[Kind, deque[Change]] = {kind: deque() for kind in KINDS}
        self._objects: dict[Kind, dict[str, Stored]] = {
            kind: {entry.key: entry for entry in store.all_of(kind)} for kind in KINDS
        }
        store.listeners.append(self._heard)

    def sync(self) -> None:
        """Takes in everything that is older than the lag."""
        for kind, pending in self._pending.items():
            seen_until = self._clock.now() - timedelta(seconds=self.lag_of.get(kind, self.lag_s))
            while pending and pending[0].at <= seen_until:
                self._apply(pending.popleft())

    def all_of(self, kind: Kind) -> Iterable[Stored]:
        return self._objects[kind].values()

    def get(self, kind: Kind, key: str) -> Stored | None:
        return self._objects[kind].get(key)

    def see(self, stored: Stored) -> None:
        """Karpenter puts what it creates itself into its own state at once."""
        self._objects[stored.kind][stored.key] = stored

    def _heard(self, change: Change) -> None:
        self._pending[change.kind].append(change)

    def _apply(self, change: Change) -> None:
        if change.type == "DELETED":
            self._objects[change.kind].pop(change.after.key, None)
        else:
            self._objects[change.kind][change.after.key] = change.after
