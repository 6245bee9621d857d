"""Everything one decision is made from, read once.

None means *not known*; an empty tuple means that it was read and there is nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftgate.domain.ledger import CounterRecord, ImageVerdict, LeaseRecord, Stop
    from driftgate.domain.nodepool import NodeClassSnapshot, NodePoolSnapshot
    from driftgate.domain.nodes import (
        NodeClaimSnapshot,
        NodeSnapshot,
        PodDisruptionBudgetSnapshot,
        PodSnapshot,
        VolumeAttachmentSnapshot,
    )
    from driftgate.domain.roll import Roll


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmTransition:
    """One state change from the alarm's history."""

    at: datetime
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmObservation:
    """A CloudWatch alarm. `state` is OK, ALARM or INSUFFICIENT_DATA; "MISSING" where CloudWatch has no such alarm."""

    name: str
    state: str
    since: datetime | None = None
    actions_enabled: bool = True
    muted: bool = False
    last_datapoint_at: datetime | None = None
    history: tuple[AlarmTransition, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarObservation:
    """A Systems Manager Change Calendar: OPEN or CLOSED, until `next_transition`."""

    name: str
    state: str
    next_transition: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterObservation:
    """An SSM parameter as read."""

    name: str
    value: str
    version: int | None = None
    modified_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageObservation:
    """What is known of an image beside its id."""

    id: str
    name: str = ""
    created_at: datetime | None = None
    deprecated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadError:
    """Something that could not be read: the plural resource (or alarms, calendars, parameters, ledger), and why.

    `status` is the HTTP status, 0 where there was no answer. `name` narrows it to one object.
    """

    resource: str
    status: int = 0
    message: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One cluster at one moment. Lists of Kubernetes kinds count as read unless `errors` names their resource."""

    at: datetime
    karpenter_version: str | None = None
    nodepools: tuple[NodePoolSnapshot, ...] = ()
    node_classes: tuple[NodeClassSnapshot, ...] = ()
    nodeclaims: tuple[NodeClaimSnapshot, ...] = ()
    nodes: tuple[NodeSnapshot, ...] = ()
    pods: tuple[PodSnapshot, ...] = ()
    pdbs: tuple[PodDisruptionBudgetSnapshot, ...] = ()
    volume_attachments: tuple[VolumeAttachmentSnapshot, ...] = ()
    alarms: tuple[AlarmObservation, ...] | None = None
    calendars: tuple[CalendarObservation, ...] | None = None
    parameters: tuple[ParameterObservation, ...] | None = None
    images: tuple[ImageObservation, ...] | None = None
    rolls: tuple[Roll, ...] | None = None
    leases: tuple[LeaseRecord, ...] | None = None
    stops: tuple[Stop, ...] | None = None
    counters: tuple[CounterRecord, ...] | None = None
    image_verdicts: tuple[ImageVerdict, ...] | None = None
    errors: tuple[ReadError, ...] = ()
