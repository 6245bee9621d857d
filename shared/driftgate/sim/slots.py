"""How many nodes of a pool may still be disrupted for a reason, as Karpenter counts.

Source: karpenter v1.14.1, pkg/controllers/disruption/helpers.go, BuildDisruptionBudgetMapping.
"""

from __future__ import annotations

from driftgate.domain.allowance import allowed
from driftgate.domain.budget import DisruptionReason, from_objects
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.members import Member
from driftgate.sim.witness import budgets_of
from driftgate.sim.world import World

UNLIMITED = 2**31 - 1


def remaining(world: World, members: list[Member], reason: DisruptionReason) -> dict[str, int]:
    """By pool: what its budgets allow now, less the nodes that are NotReady, marked or on their way out."""
    counted = [member for member in members if member.is_initialized and not member.is_terminating]
    left: dict[str, int] = {}
    for stored in world.view.all_of(NODEPOOLS):
        own = [member for member in counted if member.pool == stored.name]
        using = [member for member in own if is_using_a_slot(world, member)]
        limit = allowed(from_objects(list(budgets_of(stored.obj))), len(own), world.now(), reason)
        left[stored.name] = max(0, (UNLIMITED if limit is None else limit) - len(using))
    return left


def is_using_a_slot(world: World, member: Member) -> bool:
    """Once, however many of the reasons hold."""
    return not member.is_ready or member.is_deleting or member.claim.name in world.marked
