"""What every part of the model shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from driftgate.domain.jsonvalue import child, items, mapping
from driftgate.sim.agenda import Agenda
from driftgate.sim.behaviour import Behaviour
from driftgate.sim.kinds import NODECLAIMS, NODES
from driftgate.sim.members import Member, members_of
from driftgate.sim.pdbs import Pdbs
from driftgate.sim.pods import Pods
from driftgate.sim.store import Store, Stored
from driftgate.sim.timings import Timings
from driftgate.sim.view import View
from driftgate.sim.witness import Witness
from driftgate.sim.writes import Writes


@dataclass(slots=True, kw_only=True)
class World:
    """`marked` are NodeClaims that Karpenter has marked in memory; `nominated` holds Nodes with their until."""

    store: Store
    writes: Writes
    agenda: Agenda
    timings: Timings
    behaviour: Behaviour
    view: View
    pods: Pods
    pdbs: Pdbs
    witness: Witness
    marked: set[str] = field(default_factory=set)
    nominated: dict[str, datetime] = field(default_factory=dict)

    def now(self) -> datetime:
        return self.agenda.clock.now()

    def members(self) -> list[Member]:
        """As Karpenter sees them."""
        return members_of(self.view)

    def nominate(self, node: str) -> None:
        """A pending pod is on its way to the node: it is no candidate for a while."""
        self.nominated[node] = self.now() + timedelta(seconds=self.timings.nomination_s)

    def is_nominated(self, node: str) -> bool:
        return self.nominated.get(node, self.now()) > self.now()

    def claim_of(self, node: str) -> Stored | None:
        """The NodeClaim of the Node, as the API has it now."""
        stored = self.node(node)
        owners = items(child(stored.obj, "metadata").get("ownerReferences")) if stored is not None else ()
        return self.claim(str(mapping(owners[0]).get("name"))) if owners else None

    def claim(self, name: str) -> Stored | None:
        """The NodeClaim as the API has it now."""
        return self.store.get(NODECLAIMS, name)

    def node(self, name: str) -> Stored | None:
        """The Node as the API has it now."""
        return self.store.get(NODES, name)
