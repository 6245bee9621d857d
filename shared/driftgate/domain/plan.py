"""What was decided, and why: the object that a command prints, a Lambda logs and the report draws.

Keys and order are a contract (docs/plan.md); the same input gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from driftgate.domain.budget import DisruptionReason
from driftgate.domain.findings import Finding, Severity
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.patch import JsonPatch
from driftgate.domain.reasons import REASONS, ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.window import Interval


class Verdict(StrEnum):
    """What a pool is; the first that fits."""

    UNKNOWN = "UNKNOWN"
    UNSUPPORTED = "UNSUPPORTED"
    INVALID = "INVALID"
    FROZEN = "FROZEN"
    UNGATED = "UNGATED"
    OPEN = "OPEN"
    TRAPPED = "TRAPPED"
    CLEAN = "CLEAN"


class ActionKind(StrEnum):
    """What this run does with a pool."""

    NONE = "NONE"
    HOLD = "HOLD"
    OPEN = "OPEN"
    CLOSE = "CLOSE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """One reason not to open (or to close), with its evidence and the one change that would lift it."""

    code: ReasonCode
    message: str
    objects: tuple[str, ...] = ()
    until: datetime | None = None
    remedy: str = ""
    needs_person: bool | None = None

    @property
    def is_for_a_person(self) -> bool:
        return REASONS[self.code].needs_person if self.needs_person is None else self.needs_person

    def to_object(self) -> dict[str, object]:
        return {
            "code": str(self.code),
            "objects": list(self.objects),
            "message": self.message,
            "until": rfc3339(self.until),
            "remedy": self.remedy or REASONS[self.code].lifted_by,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something a person should know; it holds nothing back."""

    code: ReasonCode
    message: str
    objects: tuple[str, ...] = ()
    remedy: str = ""

    def to_object(self) -> dict[str, object]:
        return {
            "code": str(self.code),
            "objects": list(self.objects),
            "message": self.message,
            "remedy": self.remedy or REASONS[self.code].lifted_by,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What this run does. `patch` is exact for OPEN and CLOSE; `roll` is the record to write before it."""

    kind: ActionKind
    reasons: tuple[Hold, ...] = ()
    patch: JsonPatch | None = None
    roll: Roll | None = None

    def to_object(self) -> dict[str, object]:
        return {
            "kind": str(self.kind),
            "reasons": [hold.to_object() for hold in self.reasons],
            "patch": None if self.patch is None else [operation.to_object() for operation in self.patch],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RollOutlook:
    """Where the pool's unfinished roll stands and goes next."""

    id: str
    state: RollState
    next: RollState
    reason: ReasonCode

    def to_object(self) -> dict[str, object]:
        return {"id": self.id, "state": str(self.state), "next": str(self.next), "reason": str(self.reason)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageLine:
    """Nodes that run one image while another is right for them. Days are whole days, None where not known."""

    image: str
    right: str
    nodes: tuple[str, ...]
    days_behind: int | None = None
    release_distance_days: int | None = None

    def to_object(self) -> dict[str, object]:
        return {
            "image": self.image,
            "right": self.right,
            "nodes": list(self.nodes),
            "daysBehind": self.days_behind,
            "releaseDistanceDays": self.release_distance_days,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedNode:
    """A drifted node that Karpenter would not take now, and why."""

    node: str
    reasons: tuple[Hold, ...]

    def to_object(self) -> dict[str, object]:
        shown = [{"code": str(r.code), "objects": list(r.objects), "message": r.message} for r in self.reasons]
        return {"node": self.node, "reasons": shown}


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlan:
    """One pool, judged. Counts are None where they could not be read; a limit None is no limit."""

    name: str
    verdict: Verdict
    nodes: int | None = None
    drifted: int | None = None
    lagging: int | None = None
    rollback: int | None = None
    since: datetime | None = None
    allowed: Mapping[DisruptionReason, int | None] = field(default_factory=dict)
    consuming: int | None = None
    effective: Mapping[DisruptionReason, int | None] = field(default_factory=dict)
    binding: tuple[int, ...] = ()
    next_native_change: datetime | None = None
    next_native_opening: datetime | None = None
    current_window: Interval | None = None
    next_window: Interval | None = None
    images: tuple[ImageLine, ...] = ()
    findings: tuple[Finding, ...] = ()
    eligible: tuple[str, ...] = ()
    next_node: str | None = None
    blocked: tuple[BlockedNode, ...] = ()
    roll: RollOutlook | None = None
    action: Action
    alerts: tuple[Alert, ...] = ()

    @property
    def needs_person(self) -> bool:
        """Whether an error finding or a hold waits for somebody to change something."""
        errors = any(finding.severity is Severity.ERROR for finding in self.findings)
        return errors or any(hold.is_for_a_person for hold in self.action.reasons)

    @property
    def is_unknown(self) -> bool:
        """Whether something that the answer needs could not be read."""
        codes = {hold.code for hold in self.action.reasons}
        return self.verdict is Verdict.UNKNOWN or ReasonCode.UNKNOWN in codes

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is drifted and nothing is to be done."""
        return self.action.kind is ActionKind.NONE and self.verdict is Verdict.CLEAN

    @property
    def is_held(self) -> bool:
        """Whether a stated reason keeps the gate from opening."""
        return self.action.kind is ActionKind.HOLD and bool(self.action.reasons)

    def to_object(self) -> dict[str, object]:
        return {
            "name": self.name,
            "verdict": str(self.verdict),
            "nodes": self.nodes,
            "drifted": self.drifted,
            "lagging": self.lagging,
            "rollback": self.rollback,
            "since": rfc3339(self.since),
            "allowed": _limits(self.allowed),
            "consuming": self.consuming,
            "effective": _limits(self.effective),
            "binding": {"Drifted": list(self.binding)},
            "nextNativeChange": rfc3339(self.next_native_change),
            "nextNativeOpening": rfc3339(self.next_native_opening),
            "currentWindow": _window(self.current_window),
            "nextWindow": _window(self.next_window),
            "images": [line.to_object() for line in self.images],
            "findings": [finding.to_object() for finding in self.findings],
            "eligible": list(self.eligible),
            "nextNode": self.next_node,
            "blocked": [blocked.to_object() for blocked in self.blocked],
            "roll": None if self.roll is None else self.roll.to_object(),
            "action": self.action.to_object(),
            "alerts": [alert.to_object() for alert in self.alerts],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """Every covered pool of one cluster at one moment."""

    at: datetime
    cluster: str
    pools: tuple[PoolPlan, ...]

    def of(self, pool: str) -> PoolPlan | None:
        return next((plan for plan in self.pools if plan.name == pool), None)

    def to_object(self) -> dict[str, object]:
        return {
            "at": rfc3339(self.at),
            "cluster": self.cluster,
            "pools": [pool.to_object() for pool in self.pools],
        }


def _limits(limits: Mapping[DisruptionReason, int | None]) -> dict[str, int | None]:
    return {str(reason): limit for reason, limit in limits.items()}


def _window(interval: Interval | None) -> dict[str, object] | None:
    if interval is None:
        return None
    return {"name": interval.name, "start": rfc3339(interval.start), "end": rfc3339(interval.end)}
