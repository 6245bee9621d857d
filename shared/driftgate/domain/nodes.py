"""NodeClaims, Nodes and what runs on them, as read and reduced to what the judgement needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from driftgate.domain.conditions import Condition, Conditions, is_true

NODEPOOL_LABEL = "karpenter.sh/nodepool"
INITIALIZED_LABEL = "karpenter.sh/initialized"
DISRUPTED_TAINT = "karpenter.sh/disrupted"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
DO_NOT_DRIFT = "karpenter.sh/do-not-drift"
DO_NOT_ROLL = "driftgate.dev/do-not-roll"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClaimSnapshot:
    """A NodeClaim at one moment. `node_name` is empty until the Node registered."""

    name: str
    nodepool: str
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None
    deleted_at: datetime | None = None
    image_id: str = ""
    provider_id: str = ""
    node_name: str = ""
    conditions: Conditions = field(default_factory=dict)
    termination_grace_period: str | None = None
    expire_after: str | None = None

    @property
    def is_drifted(self) -> bool:
        return is_true(self.conditions, "Drifted")

    @property
    def drifted_since(self) -> datetime | None:
        return self.conditions["Drifted"].since if self.is_drifted else None

    @property
    def drift_reason(self) -> str:
        return self.conditions["Drifted"].reason if self.is_drifted else ""

    @property
    def disruption_reason(self) -> str:
        """Why Karpenter is taking this node, "" where it is not (or is older than 1.2)."""
        found: Condition | None = self.conditions.get("DisruptionReason")
        return found.reason if found is not None and found.is_true else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSnapshot:
    """A Node at one moment. `taints` are keys; `ready` is the condition, None where it is missing."""

    name: str
    provider_id: str = ""
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None
    deleted_at: datetime | None = None
    taints: tuple[str, ...] = ()
    unschedulable: bool = False
    ready: Condition | None = None
    capacity: Mapping[str, str] = field(default_factory=dict)
    kubelet_version: str = ""

    @property
    def is_initialized(self) -> bool:
        return self.labels.get(INITIALIZED_LABEL) == "true"

    @property
    def is_ready(self) -> bool:
        return self.ready is not None and self.ready.is_true

    @property
    def is_tainted_disrupted(self) -> bool:
        return DISRUPTED_TAINT in self.taints


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSnapshot:
    """A Pod at one moment. `owner_kind` is the controller's kind, "" for a bare pod."""

    namespace: str
    name: str
    node_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    phase: str = ""
    ready: bool = True
    owner_kind: str = ""
    owner_name: str = ""
    deleted_at: datetime | None = None
    started_at: datetime | None = None
    is_mirror: bool = False
    tolerates_disruption: bool = False
    scheduled: bool = True

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectorTerm:
    """One match expression; matchLabels are written as `In` with one value."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodDisruptionBudgetSnapshot:
    """A PDB at one moment. `selector` None selects nothing; an empty tuple selects every pod of the namespace."""

    namespace: str
    name: str
    selector: tuple[SelectorTerm, ...] | None = None
    min_available: str | None = None
    max_unavailable: str | None = None
    disruptions_allowed: int = 0
    expected_pods: int | None = None
    current_healthy: int | None = None
    desired_healthy: int | None = None
    unhealthy_pod_eviction_policy: str = ""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeAttachmentSnapshot:
    """A VolumeAttachment at one moment."""

    name: str
    node_name: str
    attached: bool = False
    deleted_at: datetime | None = None
    error: str = ""
