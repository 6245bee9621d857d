"""The nodes of a pool: each NodeClaim with its Node, and how Karpenter counts them against budgets.

Source: sigs.k8s.io/karpenter v1.14.1, pkg/controllers/disruption/helpers.go (BuildDisruptionBudgetMapping).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from driftgate.domain.conditions import is_true
from driftgate.domain.nodes import NodeClaimSnapshot, NodeSnapshot
from driftgate.domain.signs import nodes_of_claims


@dataclass(frozen=True, slots=True)
class Member:
    """A NodeClaim and its Node, None until that registered (or when it is gone already).

    What follows from the two is worked out once, because several rules ask thousands of members for it:
    `name` is what people call it: the Node's name, the NodeClaim's while there is no Node.
    `is_drifted`, `drifted_since`: Karpenter's condition and when it came.
    `is_terminating`: its machine is being ended; from then on it uses up no budget.
    `is_counted`: it is one of the nodes that a percentage is taken of.
    `is_marked`: a command has it, or it is being deleted. The mark itself is in Karpenter's memory; we see its
    traces, the condition DisruptionReason and (the only one before 1.2) the taint.
    `is_leaving`: it cannot come back, so it no longer lags.
    `is_consuming`: it uses up one of the disruptions that the budgets allow.
    """

    claim: NodeClaimSnapshot
    node: NodeSnapshot | None
    name: str = field(init=False)
    is_drifted: bool = field(init=False)
    drifted_since: datetime | None = field(init=False)
    is_initialized: bool = field(init=False)
    is_terminating: bool = field(init=False)
    is_counted: bool = field(init=False)
    is_marked: bool = field(init=False)
    is_leaving: bool = field(init=False)
    is_consuming: bool = field(init=False)

    def __post_init__(self) -> None:
        claim, node = self.claim, self.node
        is_terminating = is_true(claim.conditions, "InstanceTerminating")
        is_initialized = node is not None and node.is_initialized
        is_deleting = claim.deleted_at is not None
        is_marked = is_deleting or (node is not None and node.is_tainted_disrupted) or claim.disruption_reason != ""
        is_counted = is_initialized and not is_terminating
        give = object.__setattr__
        drift = claim.conditions.get("Drifted")
        is_drifted = drift is not None and drift.is_true
        give(self, "name", claim.name if node is None else node.name)
        give(self, "is_drifted", is_drifted)
        give(self, "drifted_since", drift.since if drift is not None and is_drifted else None)
        give(self, "is_initialized", is_initialized)
        give(self, "is_terminating", is_terminating)
        give(self, "is_counted", is_counted)
        give(self, "is_marked", is_marked)
        give(self, "is_leaving", is_deleting or is_terminating)
        give(self, "is_consuming", is_counted and (is_marked or node is None or not node.is_ready))

    @property
    def objects(self) -> tuple[str, ...]:
        """Its Node and NodeClaim as evidence names them."""
        claim = f"nodeclaim/{self.claim.name}"
        return (claim,) if self.node is None else (f"node/{self.node.name}", claim)


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
    return tuple(member for member in members if member.is_drifted and not member.is_leaving)
