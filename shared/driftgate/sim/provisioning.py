"""Karpenter's provisioner, in a few rules: new NodeClaims for pods that fit nowhere, and for static pools."""

from __future__ import annotations

from fractions import Fraction

from driftgate.domain.jsonvalue import child, integer
from driftgate.domain.nodes import NODEPOOL_LABEL
from driftgate.sim.fitting import free_cpu, has_room_for_a_node, takes_pods
from driftgate.sim.kinds import NODECLAIMS, NODEPOOLS, PODS
from driftgate.sim.launching import Launching
from driftgate.sim.objects import condition_is_true, is_deleting
from driftgate.sim.pods import cpu_of, is_active
from driftgate.sim.store import Change
from driftgate.sim.world import World


class Provisioning:
    """Looks a moment after a pod became pending or a NodeClaim of a static pool went away."""

    def __init__(self, world: World, launching: Launching) -> None:
        self._world = world
        self._launching = launching
        self._is_planned = False
        world.store.listeners.append(self._heard)

    def _heard(self, change: Change) -> None:
        pending = change.kind is PODS and change.type != "DELETED"
        gone = change.kind is NODECLAIMS and is_deleting(change.after.obj)
        if (pending or gone or change.kind is NODEPOOLS) and not self._is_planned:
            self._is_planned = True
            self._world.agenda.after(self._world.timings.provision_batch_s, self._provision)

    def _provision(self) -> None:
        self._is_planned = False
        self._world.view.sync()
        for pool in list(self._world.view.all_of(NODEPOOLS)):
            replicas = integer(child(pool.obj, "spec").get("replicas"))
            for _ in range(0 if replicas is None else self._missing(pool.name, replicas)):
                self._launching.create_claim(pool.name)
        self._for_pending_pods()

    def _missing(self, pool: str, replicas: int) -> int:
        return replicas - len(self._alive(pool))

    def _alive(self, pool: str) -> list[str]:
        return [
            claim.name
            for claim in self._world.store.all_of(NODECLAIMS)
            if claim.labels.get(NODEPOOL_LABEL) == pool and not is_deleting(claim.obj)
        ]

    def _for_pending_pods(self) -> None:
        pods = [cpu_of(pod.obj) for pod in self._world.pods.pending() if is_active(pod.obj)]
        if not pods:
            return
        members = self._world.members()
        rooms = [free_cpu(self._world, member) for member in members if takes_pods(self._world, member)]
        size = max((member.cpu for member in members), default=Fraction(4))
        rooms += [size] * len(self._on_their_way())
        for cpu in pods:
            room = next((index for index, free in enumerate(rooms) if free >= cpu), None)
            if room is not None:
                rooms[room] -= cpu
            elif (pool := self._pool_with_room()) and cpu <= size:
                self._launching.create_claim(pool)
                rooms.append(size - cpu)

    def _on_their_way(self) -> list[str]:
        """NodeClaims that will take pods once they are initialized."""
        return [
            claim.name
            for claim in self._world.store.all_of(NODECLAIMS)
            if not is_deleting(claim.obj) and not condition_is_true(claim.obj, "Initialized")
        ]

    def _pool_with_room(self) -> str:
        members = self._world.members()
        pools = sorted(self._world.view.all_of(NODEPOOLS), key=lambda pool: (-_weight(pool.obj), pool.name))
        dynamic = [pool for pool in pools if child(pool.obj, "spec").get("replicas") is None]
        fitting = (pool.name for pool in dynamic if has_room_for_a_node(self._world, members, None, pool.name))
        return next(fitting, "")


def _weight(pool: dict[str, object]) -> int:
    return integer(child(pool, "spec").get("weight")) or 0
