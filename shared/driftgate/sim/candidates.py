"""Which nodes Karpenter may take now, and in which order.

Source: karpenter v1.14.1, pkg/controllers/disruption/{types,drift,emptiness}.go and
pkg/controllers/state/statenode.go (ValidateNodeDisruptable, ValidatePodsDisruptable).
Written from those, not from the product's own rules: the two judge each other.
"""

from __future__ import annotations

from datetime import timedelta

from driftgate.domain.duration import parse_duration
from driftgate.domain.jsonvalue import child, instant, text
from driftgate.domain.nodes import DO_NOT_DISRUPT
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.members import Member
from driftgate.sim.objects import annotations_of, created_at
from driftgate.sim.pods import forbids_disruption, is_evictable, needs_room
from driftgate.sim.world import World


def why_not(world: World, member: Member, *, eventual: bool) -> str:
    """Why the node is no candidate, "" where it is one.

    `eventual` (drift): what pods say does not count where the NodeClaim has a terminationGracePeriod.
    """
    said = _node_says(world, member)
    if said or (eventual and member.has_grace_period):
        return said
    return _pods_say(world, member)


def _node_says(world: World, member: Member) -> str:
    if member.node is None:
        return "nodeclaim does not have an associated node"
    if not member.is_initialized:
        return "node isn't initialized"
    if member.claim.name in world.marked or member.is_deleting or member.is_terminating:
        return "node is deleting or marked for deletion"
    if world.is_nominated(member.name):
        return "node is nominated for a pending pod"
    if annotations_of(member.node.obj).get(DO_NOT_DISRUPT) == "true":
        return f'disruption is blocked through the "{DO_NOT_DISRUPT}" annotation'
    if world.view.get(NODEPOOLS, member.pool) is None:
        return f"NodePool not found (NodePool={member.pool})"
    return ""


def _pods_say(world: World, member: Member) -> str:
    pods = sorted(world.pods.on(member.name), key=lambda pod: pod.key)
    if any(forbids_disruption(pod.obj, world.now()) for pod in pods):
        return f'pod has "{DO_NOT_DISRUPT}" annotation'
    blocked = (world.pdbs.blocks(pod) for pod in pods if is_evictable(pod.obj))
    return next((reason for reason in blocked if reason), "")


def is_empty(world: World, member: Member) -> bool:
    return not any(needs_room(pod.obj) for pod in world.pods.on(member.name))


def is_static(world: World, pool: str) -> bool:
    stored = world.view.get(NODEPOOLS, pool)
    return stored is not None and child(stored.obj, "spec").get("replicas") is not None


def drifted(world: World, members: list[Member], *, static: bool) -> list[Member]:
    """Drifted nodes in Karpenter's order, blocked ones among them: empty first, then by their Drifted time."""
    found = [
        (since, member)
        for member in members
        if (since := member.drifted_since) and is_static(world, member.pool) == static
    ]
    found.sort(key=lambda pair: (not is_empty(world, pair[1]), pair[0], pair[1].claim.key))
    return [member for _, member in found]


def empty(world: World, members: list[Member]) -> list[Member]:
    """Candidates of Emptiness: empty for as long as the pool's consolidateAfter asks."""
    return [
        member
        for member in members
        if is_empty(world, member)
        and not is_static(world, member.pool)
        and _is_consolidatable(world, member)
        and not why_not(world, member, eventual=False)
    ]


def _is_consolidatable(world: World, member: Member) -> bool:
    stored = world.view.get(NODEPOOLS, member.pool)
    after = text(child(stored.obj, "spec", "disruption").get("consolidateAfter")) if stored is not None else None
    if after is None or after == "Never":
        return False
    quiet_since = instant(child(member.claim.obj, "status").get("lastPodEventTime")) or created_at(member.claim.obj)
    wait = timedelta(0) if after == "0s" else parse_duration(after)
    return world.now() >= quiet_since + wait
