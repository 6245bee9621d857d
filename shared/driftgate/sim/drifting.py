"""Marking NodeClaims Drifted: their image is not the one that their class resolves to.

Only AMIDrift is found here; other reasons are put on by hand (`SimCluster.mark_drifted`) and stay.
Source: karpenter v1.14.1, pkg/controllers/nodeclaim/disruption/drift.go.
"""

from __future__ import annotations

from driftgate.domain.jsonvalue import child, items, mapping, text
from driftgate.domain.nodes import NODEPOOL_LABEL
from driftgate.sim.kinds import NODE_CLASSES, NODECLAIMS, NODEPOOLS
from driftgate.sim.objects import condition_is_true, condition_of, is_deleting, remove_condition, set_condition
from driftgate.sim.store import Change, Stored
from driftgate.sim.world import World
from driftgate.sim.writes import CONTROLLER

AMI_DRIFT = "AMIDrift"


class Drifting:
    """Checks all NodeClaims shortly after a class, a pool or a launch changed, and every five minutes."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._is_planned = False
        world.store.listeners.append(self._heard)
        world.agenda.after(world.timings.drift_recheck_s, self._recheck)

    def _heard(self, change: Change) -> None:
        relevant = change.kind in (NODE_CLASSES, NODEPOOLS) or (change.kind is NODECLAIMS and change.type == "ADDED")
        if relevant and not self._is_planned:
            self._is_planned = True
            self._world.agenda.after(self._world.timings.drift_check_s, self._check)

    def _recheck(self) -> None:
        self._check()
        self._world.agenda.after(self._world.timings.drift_recheck_s, self._recheck)

    def _check(self) -> None:
        self._is_planned = False
        for claim in self._world.store.all_of(NODECLAIMS):
            if condition_is_true(claim.obj, "Launched") and not is_deleting(claim.obj):
                self._check_claim(claim)

    def _check_claim(self, claim: Stored) -> None:
        wanted = self._images(claim)
        before = condition_of(claim.obj, "Drifted")
        if not wanted or (before is not None and before.get("reason") != AMI_DRIFT):
            return
        is_drifted = child(claim.obj, "status").get("imageID") != wanted[0]
        if is_drifted == (before is not None):
            return
        now = self._world.now()
        self._world.writes.change(
            NODECLAIMS,
            claim.key,
            lambda obj: (
                set_condition(obj, "Drifted", "True", now, AMI_DRIFT)
                if is_drifted
                else remove_condition(obj, "Drifted")
            ),
            CONTROLLER,
            subresource="status",
        )

    def _images(self, claim: Stored) -> list[str]:
        """What the class of the claim's NodePool resolves to for its architecture; empty: keep what is known."""
        pool = self._world.store.get(NODEPOOLS, claim.labels.get(NODEPOOL_LABEL, ""))
        ref = child(pool.obj, "spec", "template", "spec", "nodeClassRef") if pool is not None else {}
        found = self._world.store.get(NODE_CLASSES, text(ref.get("name")) or "")
        amis = items(child(found.obj, "status").get("amis")) if found is not None else ()
        arch = claim.labels.get("kubernetes.io/arch", "amd64")
        return [str(mapping(ami).get("id")) for ami in amis if _fits(ami, arch)]


def _fits(ami: object, arch: str) -> bool:
    for entry in items(mapping(ami).get("requirements")):
        requirement = mapping(entry)
        if requirement.get("key") == "kubernetes.io/arch":
            return arch in items(requirement.get("values"))
    return True
