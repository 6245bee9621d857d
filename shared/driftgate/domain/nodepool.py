"""NodePools and node classes, as read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from driftgate.domain.budget import Budget
from driftgate.domain.conditions import Condition, Conditions

ROLL_ANNOTATION = "driftgate.dev/roll"
PAUSED_ANNOTATION = "driftgate.dev/paused"
FIELD_MANAGER = "driftgate"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClassRef:
    """Which node class a NodePool uses."""

    group: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One scheduling requirement: of a NodePool's template or of an image."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOwner:
    """One entry of `managedFields`, reduced to what ownership of budgets needs."""

    manager: str
    operation: str = ""
    time: datetime | None = None
    owns_budgets: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolSnapshot:
    """A NodePool at one moment.

    `annotations` None means that the object has no annotations at all: a JSON patch must then add the parent.
    `budgets` is the list as the server stores it (never absent there: the CRD fills in the default).
    `limits` holds quantities as written. `replicas` is set for static pools only.
    """

    name: str
    generation: int = 1
    resource_version: str = ""
    api_version: str = "karpenter.sh/v1"
    uid: str = ""
    annotations: Mapping[str, str] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    budgets: tuple[Budget, ...] = ()
    budgets_given: bool = True
    consolidation_policy: str = "WhenEmptyOrUnderutilized"
    consolidate_after: str = ""
    node_class: NodeClassRef | None = None
    requirements: tuple[Requirement, ...] = ()
    termination_grace_period: str | None = None
    expire_after: str | None = None
    limits: Mapping[str, str] = field(default_factory=dict)
    usage: Mapping[str, str] = field(default_factory=dict)
    replicas: int | None = None
    weight: int | None = None
    owners: tuple[FieldOwner, ...] = ()
    conditions: Conditions = field(default_factory=dict)
    deleted_at: datetime | None = None

    @property
    def roll_annotation(self) -> str | None:
        """The raw value of our annotation, None where there is none."""
        return (self.annotations or {}).get(ROLL_ANNOTATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedImage:
    """One entry of a node class's `status.amis`, in the server's order."""

    id: str
    name: str = ""
    deprecated: bool = False
    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageTerm:
    """One entry of `amiSelectorTerms`; exactly what was written, absent fields empty."""

    alias: str = ""
    id: str = ""
    name: str = ""
    owner: str = ""
    ssm_parameter: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClassSnapshot:
    """A node class at one moment. `images` is None where the kind has no image list (other providers)."""

    group: str
    kind: str
    name: str
    images: tuple[ResolvedImage, ...] | None = None
    terms: tuple[ImageTerm, ...] = ()
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    deleted_at: datetime | None = None
