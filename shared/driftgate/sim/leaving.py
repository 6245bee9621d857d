"""Nodes that leave without asking any budget: expired, or interrupted."""

from __future__ import annotations

from driftgate.domain.duration import parse_duration
from driftgate.domain.jsonvalue import child, text
from driftgate.sim.kinds import NODECLAIMS
from driftgate.sim.objects import created_at, is_deleting
from driftgate.sim.store import Change
from driftgate.sim.termination import Termination
from driftgate.sim.world import World
from driftgate.sim.writes import CONTROLLER


class Leaving:
    """Deletes NodeClaims when their `expireAfter` is over, and at once on request."""

    def __init__(self, world: World, termination: Termination) -> None:
        self._world = world
        self._termination = termination
        world.store.listeners.append(self._heard)

    def _heard(self, change: Change) -> None:
        if change.kind is not NODECLAIMS or change.type != "ADDED":
            return
        after, name = text(child(change.after.obj, "spec").get("expireAfter")), change.after.name
        if after is not None and after != "Never":
            expires = created_at(change.after.obj) + parse_duration(after)
            self._world.agenda.at(max(expires, self._world.now()), lambda: self.leave(name, "Expired"))

    def leave(self, claim: str, reason: str) -> None:
        """The NodeClaim is deleted, whatever the budgets say."""
        stored = self._world.claim(claim)
        if stored is not None and not is_deleting(stored.obj):
            self._termination.reasons[claim] = reason
            self._world.writes.delete(NODECLAIMS, claim, CONTROLLER)
