"""Disruption budgets as Karpenter understands them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class DisruptionReason(StrEnum):
    """Karpenter's reasons for voluntary disruption, in its own spelling."""

    DRIFTED = "Drifted"
    EMPTY = "Empty"
    UNDERUTILIZED = "Underutilized"


KNOWN_FIELDS = ("nodes", "reasons", "schedule", "duration")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One entry of `spec.disruption.budgets`, exactly as stored.

    `reasons` None means absent (applies to every reason); an empty tuple applies to none.
    `unknown` keeps fields that this version does not know, so that closing never loses one.
    """

    nodes: str = "10%"
    reasons: tuple[str, ...] | None = None
    schedule: str | None = None
    duration: str | None = None
    unknown: tuple[tuple[str, object], ...] = ()

    @classmethod
    def from_object(cls, entry: Mapping[str, object]) -> Budget: ...

    def to_object(self) -> dict[str, object]: ...
