"""How to tell that Karpenter took a node.

A sign is a NodeClaim that was there, untouched, when the gate opened, and now shows `DisruptionReason`, carries
the disrupted taint on its Node, has a deletionTimestamp, or is gone; whatever the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from driftgate.domain.nodes import NodeClaimSnapshot, NodeSnapshot

TAINTED = "tainted"
DELETING = "deleting"
GONE = "gone"
DRIFT_SIGNS = frozenset({"Drifted", TAINTED, GONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One node that is going. `kind` is Karpenter's reason, or tainted, deleting, gone where it gave none."""

    claim: str
    node: str = ""
    kind: str = ""

    @property
    def may_be_drift(self) -> bool:
        """Whether the node may have gone because of drift: only then does it say anything of the image."""
        return self.kind in DRIFT_SIGNS


def sign_of(claim: NodeClaimSnapshot, node: NodeSnapshot | None) -> Sign | None:
    """The sign that this NodeClaim and its Node show, the most telling first."""
    kind = claim.disruption_reason
    if not kind and node is not None and node.is_tainted_disrupted and claim.deleted_at is None:
        kind = TAINTED
    if not kind and (claim.deleted_at is not None or (node is not None and node.deleted_at is not None)):
        kind = DELETING
    return Sign(claim=claim.name, node=claim.node_name, kind=kind) if kind else None


def nodes_of_claims(claims: Iterable[NodeClaimSnapshot], nodes: Iterable[NodeSnapshot]) -> dict[str, NodeSnapshot]:
    """Node by NodeClaim name, matched by provider id, else by node name."""
    by_provider = {node.provider_id: node for node in nodes if node.provider_id}
    by_name = {node.name: node for node in nodes}
    found = {c.name: by_provider.get(c.provider_id) or by_name.get(c.node_name) for c in claims}
    return {name: node for name, node in found.items() if node is not None}


def unsigned_claims(claims: Iterable[NodeClaimSnapshot], nodes: Mapping[str, NodeSnapshot]) -> tuple[str, ...]:
    """Names of the claims that show no sign: what a roll writes down when it opens."""
    return tuple(sorted(c.name for c in claims if sign_of(c, nodes.get(c.name)) is None))


def find_signs(
    at_open: Iterable[str], claims: Mapping[str, NodeClaimSnapshot], nodes: Mapping[str, NodeSnapshot]
) -> tuple[Sign, ...]:
    """Every sign among the claims that were there at the opening, drift first, then by name."""
    found = (_sign_among(name, claims, nodes) for name in at_open)
    return tuple(sorted((s for s in found if s is not None), key=lambda s: (not s.may_be_drift, s.claim)))


def _sign_among(name: str, claims: Mapping[str, NodeClaimSnapshot], nodes: Mapping[str, NodeSnapshot]) -> Sign | None:
    claim = claims.get(name)
    return Sign(claim=name, kind=GONE) if claim is None else sign_of(claim, nodes.get(name))
