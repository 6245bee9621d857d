"""Karpenter's scheduling simulation, reduced to cores: do a node's pods fit elsewhere, or is a new node needed?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from driftgate.domain.jsonvalue import child, text
from driftgate.domain.quantity import parse_quantity
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.members import Member
from driftgate.sim.objects import taint_keys
from driftgate.sim.pods import cpu_of, forbids_disruption, needs_room
from driftgate.sim.store import Stored
from driftgate.sim.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """`problem` says why the pods cannot be placed; else so many new nodes are needed (0: none)."""

    new_nodes: int = 0
    problem: str = ""


def place(world: World, members: list[Member], leaving: Member) -> Placement:
    """Where the pods of the leaving node would go."""
    rooms = [free_cpu(world, member) for member in members if takes_pods(world, member) and member != leaving]
    homeless = [cpu for cpu in _cpus_to_place(world, leaving) if not _fit(rooms, cpu)]
    if not homeless:
        return Placement()
    if max(homeless) > leaving.cpu:
        return Placement(problem="no instance type has enough resources")
    if not has_room_for_a_node(world, members, leaving):
        return Placement(problem="all available instance types exceed limits for nodepool")
    fresh: list[Fraction] = []
    for cpu in homeless:
        if not _fit(fresh, cpu):
            fresh.append(leaving.cpu - cpu)
    return Placement(new_nodes=len(fresh))


def _cpus_to_place(world: World, leaving: Member) -> list[Fraction]:
    pods = sorted(world.pods.on(leaving.name), key=lambda pod: pod.key)
    moving = [pod for pod in pods if needs_room(pod.obj)]
    if leaving.has_grace_period:
        moving = [pod for pod in moving if not _is_blocked(world, pod)]
    return [cpu_of(pod.obj) for pod in moving]


def _is_blocked(world: World, pod: Stored) -> bool:
    """Pods that would not leave by themselves; a node with a grace period is drained without them in mind."""
    return forbids_disruption(pod.obj, world.now()) or bool(world.pdbs.blocks(pod))


def takes_pods(world: World, member: Member) -> bool:
    """Whether a pod without tolerations could be put there."""
    if member.node is None or not member.is_initialized or not member.is_ready:
        return False
    if member.is_deleting or member.claim.name in world.marked:
        return False
    return not child(member.node.obj, "spec").get("unschedulable") and not taint_keys(member.node.obj)


def free_cpu(world: World, member: Member) -> Fraction:
    used = sum((cpu_of(pod.obj) for pod in world.pods.on(member.name)), Fraction(0))
    return member.cpu - used


def _fit(rooms: list[Fraction], cpu: Fraction) -> bool:
    for index, room in enumerate(rooms):
        if room >= cpu:
            rooms[index] = room - cpu
            return True
    return False


def has_room_for_a_node(world: World, members: list[Member], leaving: Member | None, pool: str = "") -> bool:
    """Whether the pool's limits have room for one more node, the leaving one left out of the account."""
    pool = leaving.pool if leaving is not None else pool
    stored = world.view.get(NODEPOOLS, pool)
    if stored is None:
        return False
    own = [member for member in members if member.pool == pool and member != leaving]
    cpu = leaving.cpu if leaving is not None else max((member.cpu for member in own), default=Fraction(0))
    most_nodes, most_cpu = _limit(stored, "nodes"), _limit(stored, "cpu")
    used = sum((member.cpu for member in own), Fraction(0))
    return (most_nodes is None or len(own) + 1 <= most_nodes) and (most_cpu is None or used + cpu <= most_cpu)


def _limit(pool: Stored, resource: str) -> Fraction | None:
    limits = child(pool.obj, "spec", "limits")
    value = limits.get(resource)
    return parse_quantity(text(value) or str(value)) if value is not None else None
