"""The nodes of a pool: each NodeClaim with its Node, and how Karpenter counts them against budgets.

Source: sigs.k8s.io/karpenter v1.14.1, pkg/controllers/disruption/helpers.go (BuildDisruptionBudgetMapping).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from driftgate.domain.conditions import is_true
from driftgate.domain.nodes import NodeClaimSnapshot, NodeSnapshot
from driftgate.domain.signs import nodes_of_claims


@dataclass(frozen=True, slots=True)
class Member:
    """A NodeClaim and its Node, None until that registered (or when it is gone already)."""

    claim: NodeClaimSnapshot
    node: NodeSnapshot | None

    @property
    def name(self) -> str:
        """What people call it: the Node's name, the NodeClaim's while there is no Node."""
        return self.claim.name if self.node is None else self.node.name

    @property
    def objects(self) -> tuple[str, ...]:
        claim = f"nodeclaim/{self.claim.name}"
        return (claim,) if self.node is None else (f"node/{self.node.name}", claim)

    @property
    def is_initialized(self) -> bool:
        return self.node is not None and self.node.is_initialized

    @property
    def is_terminating(self) -> bool:
        """Whether its machine is being ended: from then on it no longer uses up a budget."""
        return is_true(self.claim.conditions, "InstanceTerminating")

    @property
    def is_counted(self) -> bool:
        """Whether it is one of the nodes that a percentage is taken of."""
        return self.is_initialized and not self.is_terminating

    @property
    def is_marked(self) -> bool:
        """Whether a command has it, or it is being deleted. The mark itself is in Karpenter's memory: we see its
        traces, the condition DisruptionReason and (the only one before 1.2) the taint."""
        tainted = self.node is not None and self.node.is_tainted_disrupted
        return self.claim.deleted_at is not None or tainted or bool(self.claim.disruption_reason)

    @property
    def is_leaving(self) -> bool:
        """Whether it cannot come back: it is no longer a node that lags."""
        return self.claim.deleted_at is not None or self.is_terminating

    @property
    def is_consuming(self) -> bool:
        """Whether it uses up one of the disruptions that the budgets allow."""
        if not self.is_counted or self.node is None:
            return False
        return not self.node.is_ready or self.is_marked


def members_by_pool(
    claims: Collection[NodeClaimSnapshot], nodes: Iterable[NodeSnapshot]
) -> Mapping[str, tuple[Member, ...]]:
    """Every NodeClaim with its Node, by NodePool; Nodes without a NodeClaim are not Karpenter's."""
    found: dict[str, list[Member]] = defaultdict(list)
    node_of = nodes_of_claims(claims, nodes)
    for claim in claims:
        found[claim.nodepool].append(Member(claim, node_of.get(claim.name)))
    return {pool: tuple(members) for pool, members in found.items()}


def total(members: Iterable[Member]) -> int:
    """Karpenter's number of nodes in the pool, the one that percentages refer to."""
    return sum(member.is_counted for member in members)


def consuming(members: Iterable[Member]) -> int:
    """How many disruptions are used up, whatever the reason: sick, marked and deleting nodes, each once."""
    return sum(member.is_consuming for member in members)


def drifted(members: Iterable[Member]) -> tuple[Member, ...]:
    """Those that Karpenter calls drifted and that are not on their way out."""
    return tuple(member for member in members if member.claim.is_drifted and not member.is_leaving)


def orphans(members: Iterable[Member], known: Collection[str]) -> tuple[Member, ...]:
    """Launched NodeClaims not among the `known` names that never became usable: what a failed roll left behind."""
    return tuple(
        member
        for member in members
        if member.claim.name not in known and not member.is_initialized and not member.is_leaving
    )
