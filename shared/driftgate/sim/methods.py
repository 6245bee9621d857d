"""Karpenter's disruption methods: what each would do now, from what Karpenter has seen.

Consolidation is modelled only as far as Emptiness.
Source: karpenter v1.14.1, pkg/controllers/disruption/{emptiness,staticdrift,drift}.go.
"""

from __future__ import annotations

from driftgate.domain.budget import DisruptionReason
from driftgate.domain.jsonvalue import child, integer, text
from driftgate.domain.quantity import parse_quantity
from driftgate.sim import candidates
from driftgate.sim.commands import Command
from driftgate.sim.fitting import place
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.members import Member
from driftgate.sim.slots import remaining
from driftgate.sim.world import World


def drift(world: World) -> list[Command]:
    """At most one command for the whole cluster; blocked and unplaceable nodes are passed over."""
    members = world.members()
    found = candidates.drifted(world, members, static=False)
    left = remaining(world, members, DisruptionReason.DRIFTED) if found else {}
    if world.behaviour.empties_at_once:
        taken = _within(world, left, [member for member in found if candidates.is_empty(world, member)])
        if taken:
            return [_command(world, member, DisruptionReason.DRIFTED) for member in taken]
    for member in found:
        if left.get(member.pool, 0) <= 0 or _is_passed_over(world, member):
            continue
        placement = place(world, members, member)
        if not placement.problem:
            return [_command(world, member, DisruptionReason.DRIFTED, placement.new_nodes)]
    return []


def _is_passed_over(world: World, member: Member) -> bool:
    if world.behaviour.drift_skips_empty and candidates.is_empty(world, member):
        return True
    return bool(candidates.why_not(world, member, eventual=True))


def static_drift(world: World) -> list[Command]:
    """Several nodes of static pools in one pass: up to the budget and the room that `limits.nodes` leaves."""
    members = world.members()
    found = candidates.drifted(world, members, static=True)
    left = remaining(world, members, DisruptionReason.DRIFTED) if found else {}
    for pool in {member.pool for member in found}:
        left[pool] = min(left.get(pool, 0), _headroom(world, members, pool))
    return [_command(world, member, DisruptionReason.DRIFTED, 1) for member in _within(world, left, found)]


def _headroom(world: World, members: list[Member], pool: str) -> int:
    stored = world.view.get(NODEPOOLS, pool)
    spec = child(stored.obj, "spec") if stored is not None else {}
    replicas = integer(spec.get("replicas")) or 0
    own = len([member for member in members if member.pool == pool and not member.is_deleting])
    if own > replicas:
        return 0
    value = child(spec, "limits").get("nodes")
    limit = parse_quantity(text(value) or str(value)) if value is not None else None
    return len(members) if limit is None else max(0, int(limit) - own)


def emptiness(world: World) -> list[Command]:
    """Every empty node that has been quiet long enough, up to each pool's budget for Empty."""
    members = world.members()
    found = candidates.empty(world, members)
    left = remaining(world, members, DisruptionReason.EMPTY) if found else {}
    return [_command(world, member, DisruptionReason.EMPTY) for member in _within(world, left, found)]


def still_holds(world: World, commands: list[Command]) -> bool:
    """Emptiness looks again after its validation time: every node must still be a candidate in budget."""
    again = {command.claim for command in emptiness(world)}
    return all(command.claim in again for command in commands)


def _within(world: World, left: dict[str, int], found: list[Member]) -> list[Member]:
    taken: list[Member] = []
    for member in found:
        if left.get(member.pool, 0) > 0 and not candidates.why_not(world, member, eventual=True):
            left[member.pool] -= 1
            taken.append(member)
    return taken


def _command(world: World, member: Member, reason: DisruptionReason, new_nodes: int = 0) -> Command:
    return Command(member=member, reason=str(reason), new_nodes=new_nodes, started_at=world.now())
