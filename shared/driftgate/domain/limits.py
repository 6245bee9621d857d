"""Whether a pool has room for the replacement of one node: `spec.limits`, and the node count of static pools.

Source: sigs.k8s.io/karpenter v1.14.1, pkg/apis/v1/nodepool.go (Limits.ExceededBy),
pkg/controllers/provisioning/provisioner.go, pkg/controllers/disruption/staticdrift.go,
pkg/controllers/state/statenodepool.go (ReserveNodeCount). Whether one instance type fits is not imitated.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction

from driftgate.domain.members import Member
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.plan import Hold
from driftgate.domain.quantity import format_quantity, parse_quantity
from driftgate.domain.reasons import ReasonCode

NODES = "nodes"


def limit_holds(pool: NodePoolSnapshot, members: Iterable[Member]) -> tuple[Hold, ...]:
    """Why no node of the pool can be replaced now: at most one hold, with numbers and the way out.

    A pool exactly at its limits can roll, one node over for a moment: Karpenter leaves the old node out of the
    count. A static pool cannot, and has no other limit than `nodes`.
    """
    found = tuple(members)
    hold = _exceeded(pool, found) if pool.replicas is None else _static(pool, pool.replicas, found)
    return () if hold is None else (hold,)


def usage_of(pool: NodePoolSnapshot, members: Iterable[Member]) -> Mapping[str, Fraction]:
    """What counts against the pool's limits: Karpenter's own sum, else that of the nodes that are not going."""
    if pool.usage:
        return _numbers(pool.usage)
    staying = [member for member in members if not member.is_marked]
    capacities = Counter(
        (name, text) for m in staying if m.node for name, text in m.node.capacity.items() if name in pool.limits
    )
    used: dict[str, Fraction] = defaultdict(Fraction, {NODES: Fraction(len(staying))})
    for (name, text), count in capacities.items():
        used[name] += count * (parse_quantity(text) or 0)
    return used


def _exceeded(pool: NodePoolSnapshot, members: Iterable[Member]) -> Hold | None:
    limits = _numbers(pool.limits)
    usage = usage_of(pool, members) if limits else {}
    over = [name for name in sorted(limits) if usage.get(name, Fraction(0)) > limits[name]]
    if not over:
        return None
    shown = ", ".join(f"{name} {format_quantity(usage[name])} of {pool.limits[name]}" for name in over)
    return Hold(
        code=ReasonCode.LIMIT_EXCEEDED,
        objects=(f"nodepool/{pool.name}",),
        message=f"{pool.name} is above its limits ({shown}), so Karpenter launches no replacement.",
        remedy=f"Raise spec.limits of {pool.name} to what is in use, or use less.",
    )


def _static(pool: NodePoolSnapshot, replicas: int, members: tuple[Member, ...]) -> Hold | None:
    running = sum(member.claim.deleted_at is None for member in members)
    if running > replicas:
        return Hold(
            code=ReasonCode.STATIC_SCALING_DOWN,
            objects=(f"nodepool/{pool.name}",),
            message=f"{pool.name} has {running} nodes for {replicas} replicas: Karpenter rolls none until it is down.",
            remedy="Wait until the pool has as many nodes as replicas.",
        )
    limit = parse_quantity(pool.limits.get(NODES, ""))
    if limit is None or limit > len(members):
        return None
    return Hold(
        code=ReasonCode.STATIC_NO_HEADROOM,
        objects=(f"nodepool/{pool.name}",),
        message=f"{pool.name} has {len(members)} nodes and limits.nodes {pool.limits[NODES]}: no room for one more.",
        remedy=f"Set limits.nodes of {pool.name} to at least {max(replicas, len(members)) + 1}.",
    )


def _numbers(quantities: Mapping[str, str]) -> dict[str, Fraction]:
    parsed = ((name, parse_quantity(text)) for name, text in quantities.items())
    return {name: value for name, value in parsed if value is not None}
