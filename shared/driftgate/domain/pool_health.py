"""Reasons of the nodes themselves not to open: a pool that is a node short must not lose another."""

from __future__ import annotations

from collections.abc import Iterable

from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.members import Member
from driftgate.domain.nodes import NodeClaimSnapshot
from driftgate.domain.plan import Hold
from driftgate.domain.reasons import ReasonCode


def health_holds(members: Iterable[Member]) -> tuple[Hold, ...]:
    """One hold per code, naming every node it is about: not Ready, going, cordoned."""
    counted = [member for member in members if member.is_counted and member.node is not None]
    going = [member for member in counted if member.is_marked]
    sick = [member for member in counted if member.is_consuming and not member.is_marked]
    cordoned = [member for member in counted if not member.is_consuming and _is_cordoned(member)]
    holds = (
        _hold(ReasonCode.NODE_NOT_READY, sick, "not Ready and use up the budget", "Repair or remove them."),
        _hold(
            ReasonCode.NODE_STUCK_DELETING,
            going,
            "on their way out and use up the budget",
            "Wait for their end; look at what keeps them from draining.",
        ),
        _hold(ReasonCode.NODE_CORDONED, cordoned, "cordoned: the pool is short of them", "Uncordon or remove them."),
    )
    return tuple(hold for hold in holds if hold is not None)


def pause_hold(claims: Iterable[NodeClaimSnapshot]) -> Hold | None:
    """Karpenter disrupts nothing in the whole cluster while a NodeClaim has no machine yet.

    Source: sigs.k8s.io/karpenter v1.14.1, pkg/controllers/disruption/controller.go (cluster state synced).
    """
    waiting = sorted(claim.name for claim in claims if not claim.provider_id and not claim.node_name)
    if not waiting:
        return None
    return Hold(
        code=ReasonCode.KARPENTER_PAUSED,
        objects=tuple(f"nodeclaim/{name}" for name in waiting),
        message=f"{listed(waiting)} without a machine yet: meanwhile Karpenter disrupts nothing in this cluster.",
        remedy="Wait for the launch; if it never comes, look at the NodeClaim's conditions and remove it.",
    )


def _hold(code: ReasonCode, members: list[Member], what: str, remedy: str) -> Hold | None:
    if not members:
        return None
    named = sorted(members, key=lambda member: member.name)
    return Hold(
        code=code,
        objects=tuple(f"node/{member.name}" for member in named),
        message=f"{listed([_described(member) for member in named])} {what}.",
        remedy=remedy,
    )


def _described(member: Member) -> str:
    ready = None if member.node is None else member.node.ready
    if ready is None or ready.is_true or ready.since is None:
        return member.name
    return f"{member.name} (Ready {ready.status} since {rfc3339(ready.since)})"


def listed(names: list[str]) -> str:
    """`a1`, `a1, a2 and a3`, or the first three and how many more."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is_cordoned(member: Member) -> bool:
    return member.node is not None and member.node.unschedulable
