"""What Karpenter writes on NodePools: its hash, counters, and conditions that flicker after a change of the spec.

These writes move the resourceVersion (never the generation), so a precondition on it collides with them.
Watched on Karpenter 1.14.1: Ready is Unknown for some 10 ms, NodeRegistrationHealthy goes back to Unknown.
"""

from __future__ import annotations

import zlib
from fractions import Fraction

from driftgate.domain.jsonvalue import child
from driftgate.domain.nodes import NODEPOOL_LABEL
from driftgate.domain.quantity import parse_quantity
from driftgate.sim.kinds import NODECLAIMS, NODEPOOLS, NODES
from driftgate.sim.objects import JsonDict, section, set_condition
from driftgate.sim.store import Change, encode
from driftgate.sim.world import World
from driftgate.sim.writes import CONTROLLER

HASH = "karpenter.sh/nodepool-hash"


class PoolStatus:
    """Writes the status of every NodePool."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._to_count: set[str] = set()
        world.store.listeners.append(self._heard)

    def _heard(self, change: Change) -> None:
        if change.kind is NODEPOOLS and change.type == "ADDED":
            self._world.agenda.after(self._world.timings.write_s, lambda: self._hash(change.after.name))
        elif change.kind is NODEPOOLS and change.type == "MODIFIED" and change.before is not None:
            before, after = (child(entry.obj, "metadata").get("generation") for entry in (change.before, change.after))
            if before != after:
                self._spec_changed(change.after.name)
        elif change.kind in (NODECLAIMS, NODES) and change.type in ("ADDED", "DELETED"):
            self._count_soon(change.after.labels.get(NODEPOOL_LABEL, ""))

    def _spec_changed(self, pool: str) -> None:
        step = self._world.timings.write_s
        self._world.agenda.after(step, lambda: self._set(pool, "Ready", "Unknown", "ReconcilingDependents"))
        self._world.agenda.after(2 * step, lambda: self._set(pool, "Ready", "True", ""))
        self._world.agenda.after(
            3 * step, lambda: self._set(pool, "NodeRegistrationHealthy", "Unknown", "AwaitingReconciliation")
        )

    def _hash(self, pool: str) -> None:
        """Karpenter's own annotations: a NodePool that it has seen is never without any."""

        def edit(obj: JsonDict) -> None:
            digest = zlib.crc32(encode(child(obj, "spec", "template"), ordered=True))
            section(obj, "metadata", "annotations").update({HASH: str(digest), f"{HASH}-version": "v3"})

        self._world.writes.change(NODEPOOLS, pool, edit, CONTROLLER)

    def _count_soon(self, pool: str) -> None:
        if pool and pool not in self._to_count:
            self._to_count.add(pool)
            self._world.agenda.after(self._world.timings.counter_s, lambda: self._count(pool))

    def _count(self, pool: str) -> None:
        self._to_count.discard(pool)
        claims = [entry for entry in self._world.store.all_of(NODECLAIMS) if entry.labels.get(NODEPOOL_LABEL) == pool]
        cpu = sum((_cpu(entry.obj) for entry in claims), Fraction(0))

        def edit(obj: JsonDict) -> None:
            section(obj, "status").update(nodes=len(claims), resources={"cpu": str(cpu), "nodes": str(len(claims))})

        self._world.writes.change(NODEPOOLS, pool, edit, CONTROLLER, subresource="status")

    def _set(self, pool: str, kind: str, status: str, reason: str) -> None:
        now = self._world.now()
        self._world.writes.change(
            NODEPOOLS, pool, lambda obj: set_condition(obj, kind, status, now, reason), CONTROLLER, subresource="status"
        )


def _cpu(claim: JsonDict) -> Fraction:
    value = child(claim, "status", "capacity").get("cpu")
    return parse_quantity(str(value)) or Fraction(0) if value is not None else Fraction(0)
