"""A NodeClaim and its Node side by side, as Karpenter's cluster state keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Protocol

from driftgate.domain.jsonvalue import child, instant, text
from driftgate.domain.nodes import INITIALIZED_LABEL, NODEPOOL_LABEL
from driftgate.domain.quantity import parse_quantity
from driftgate.sim.kinds import NODECLAIMS, NODES, Kind
from driftgate.sim.objects import condition_is_true, condition_of, is_deleting
from driftgate.sim.store import Stored


class Source(Protocol):
    """Objects by kind: the store, or Karpenter's view of it."""

    def all_of(self, kind: Kind) -> Iterable[Stored]: ...


@dataclass(frozen=True, slots=True)
class Member:
    """One machine. `node` None: not registered (yet)."""

    claim: Stored
    node: Stored | None

    @property
    def name(self) -> str:
        """The Node's name, "" before it registered."""
        return self.node.name if self.node is not None else ""

    @property
    def pool(self) -> str:
        return self.claim.labels.get(NODEPOOL_LABEL, "")

    @property
    def is_initialized(self) -> bool:
        return self.node is not None and self.node.labels.get(INITIALIZED_LABEL) == "true"

    @property
    def is_ready(self) -> bool:
        return self.node is not None and condition_is_true(self.node.obj, "Ready")

    @property
    def is_deleting(self) -> bool:
        return is_deleting(self.claim.obj)

    @property
    def is_terminating(self) -> bool:
        """Its instance is being terminated: it uses up no budget any more."""
        return condition_is_true(self.claim.obj, "InstanceTerminating")

    @property
    def drifted_since(self) -> datetime | None:
        found = condition_of(self.claim.obj, "Drifted")
        return instant(found.get("lastTransitionTime")) if found and found.get("status") == "True" else None

    @property
    def has_provider_id(self) -> bool:
        return bool(child(self.claim.obj, "status").get("providerID"))

    @property
    def has_grace_period(self) -> bool:
        return child(self.claim.obj, "spec").get("terminationGracePeriod") is not None

    @property
    def cpu(self) -> Fraction:
        """Allocatable cores."""
        allocatable = child((self.node or self.claim).obj, "status", "allocatable")
        return parse_quantity(text(allocatable.get("cpu")) or "0") or Fraction(0)


def members_of(source: Source) -> list[Member]:
    """Every NodeClaim that is there, with its Node, by name."""
    by_id = {_provider_id(node): node for node in source.all_of(NODES)}
    claims = sorted(source.all_of(NODECLAIMS), key=lambda claim: claim.key)
    return [Member(claim, by_id.get(_provider_id_of_claim(claim))) for claim in claims]


def _provider_id(node: Stored) -> str:
    return text(child(node.obj, "spec").get("providerID")) or node.name


def _provider_id_of_claim(claim: Stored) -> str:
    return text(child(claim.obj, "status").get("providerID")) or ""
