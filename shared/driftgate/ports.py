"""What the use cases need of the outside world.

Each port has one contract suite in `tests/contract`, which every adapter and every fake passes. The values of the
domain are named here and not loaded: a function that needs one port need not pay for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from driftgate.domain.location import HOME, Location

if TYPE_CHECKING:
    from driftgate.domain.chat_turn import Thread
    from driftgate.domain.ledger import CounterRecord, ImageVerdict, LeaseRecord, Stop
    from driftgate.domain.message import DomainEvent
    from driftgate.domain.nodepool import NodeClassSnapshot, NodePoolSnapshot
    from driftgate.domain.nodes import (
        NodeClaimSnapshot,
        NodeSnapshot,
        PodDisruptionBudgetSnapshot,
        PodSnapshot,
        VolumeAttachmentSnapshot,
    )
    from driftgate.domain.observation import (
        AlarmObservation,
        CalendarObservation,
        ImageObservation,
        ParameterObservation,
    )
    from driftgate.domain.patch import JsonPatch
    from driftgate.domain.policy import AlarmGuard
    from driftgate.domain.roll import Roll
    from driftgate.domain.seen_images import Key, SeenParameter
    from driftgate.domain.slack_message import SlackMessage


class Clock(Protocol):
    """The only source of time. `now` is aware UTC; `sleep` may be virtual in tests."""

    def now(self) -> datetime: ...

    def sleep(self, seconds: float) -> None: ...


# --- the cluster -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimChanged:
    """A NodeClaim of the pool was added, changed, or (`deleted`) is gone."""

    claim: NodeClaimSnapshot
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class NodeChanged:
    """A Node of the pool was added, changed, or (`deleted`) is gone."""

    node: NodeSnapshot
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Relisted:
    """The watch had to start again (expired, broken off): the whole present state of the pool."""

    claims: tuple[NodeClaimSnapshot, ...]
    nodes: tuple[NodeSnapshot, ...]


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nothing changed for a moment (at most a second): a chance to look at the clock."""


PoolChange = ClaimChanged | NodeChanged | Relisted | Quiet


@dataclass(frozen=True, slots=True)
class PoolMembers:
    """NodeClaims and Nodes of one pool, read directly, with the positions to watch from."""

    claims: tuple[NodeClaimSnapshot, ...]
    nodes: tuple[NodeSnapshot, ...]
    claims_version: str = ""
    nodes_version: str = ""


class Cluster(Protocol):
    """One Kubernetes cluster. Every read goes to the API server, never to a cache.

    Raises (all methods): ClusterUnavailableError, ClusterUnauthorizedError, ClusterForbiddenError.
    """

    def list_nodepools(self) -> tuple[NodePoolSnapshot, ...]: ...

    def get_nodepool(self, name: str) -> NodePoolSnapshot:
        """Raises NodePoolNotFoundError."""
        ...

    def patch_nodepool(self, name: str, patch: JsonPatch, *, dry_run: bool = False) -> NodePoolSnapshot:
        """The NodePool as stored afterwards.

        Raises NodePoolChangedError (a test failed), PatchRejectedError (refused by validation or admission),
        NodePoolNotFoundError, AnswerLostError (sent, but the answer never came).
        """
        ...

    def list_node_classes(self) -> tuple[NodeClassSnapshot, ...]: ...

    def list_nodeclaims(self) -> tuple[NodeClaimSnapshot, ...]: ...

    def list_nodes(self) -> tuple[NodeSnapshot, ...]: ...

    def list_pods(self, nodes: Sequence[str] | None = None) -> tuple[PodSnapshot, ...]:
        """Pods on the given Nodes (one request each), or all pods, by page."""
        ...

    def list_pdbs(self) -> tuple[PodDisruptionBudgetSnapshot, ...]: ...

    def list_volume_attachments(self) -> tuple[VolumeAttachmentSnapshot, ...]: ...

    def read_pool(self, pool: str) -> PoolMembers: ...

    def watch_pool(self, pool: str, since: PoolMembers, timeout: timedelta) -> Iterator[PoolChange]:
        """Changes from `since` on until the timeout; resumes by itself, and yields `Relisted` where it cannot."""
        ...

    def karpenter_version(self) -> str | None:
        """The version of the running Karpenter, None where it cannot be told."""
        ...


class ApiServer(Protocol):
    """What one API server says of us and of itself.

    Raises (all methods): ClusterUnavailableError, ClusterUnauthorizedError.
    """

    def may(self, verb: str, group: str, resource: str) -> bool:
        """Whether this identity has the right in the whole cluster; `group` is "" for the core API."""
        ...

    def server_time(self) -> datetime | None:
        """The server's clock in whole seconds, None where it does not tell."""
        ...


class Clusters(Protocol):
    """How to reach a cluster by name."""

    def connect(self, cluster: str) -> Cluster: ...


# --- the ledger ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """What was last said on a subject, so that it is not said again."""

    key: str
    fingerprint: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerState:
    """All records of one cluster, read consistently.

    `rolls` holds every unfinished roll and the finished ones of the last 90 days. `stops` includes those of the
    fleet, expired ones too. `stops_revision` changes with every change of a stop that covers the cluster.
    `due_at` and `config` are those of the last look (`PutLook`).
    """

    cluster: str
    rolls: tuple[Roll, ...] = ()
    stops: tuple[Stop, ...] = ()
    stops_revision: str = ""
    counters: tuple[CounterRecord, ...] = ()
    image_verdicts: tuple[ImageVerdict, ...] = ()
    lease: LeaseRecord | None = None
    looked_at: datetime | None = None
    parameters: tuple[str, ...] = ()
    due_at: datetime | None = None
    config: str = ""
    told: Mapping[str, Told] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PutRoll:
    """Stores the roll with version + 1, if the stored version is `roll.version` (0: there must be none)."""

    roll: Roll


@dataclass(frozen=True, slots=True)
class PutCounter:
    """Stores the counter if the stored one equals `expected` (None: there must be none)."""

    counter: CounterRecord
    expected: CounterRecord | None


@dataclass(frozen=True, slots=True)
class PutStop:
    """Stores the stop, replacing one of the same key."""

    stop: Stop


@dataclass(frozen=True, slots=True)
class RemoveStop:
    """Removes the stop; nothing happens where there is none."""

    stop: Stop


@dataclass(frozen=True, slots=True)
class ExpectStops:
    """Condition: no stop that covers the cluster was written or removed since `revision` was loaded.

    Writing a stop as it stands, and removing one that is not there, count as changes too.
    """

    revision: str


@dataclass(frozen=True, slots=True)
class ExpectLease:
    """Condition: the cluster's lease still has this holder and token (its expiry is not looked at)."""

    holder: str
    token: int


@dataclass(frozen=True, slots=True)
class PutImageVerdict:
    """Stores the last word on an image (per image and pool)."""

    verdict: ImageVerdict


@dataclass(frozen=True, slots=True)
class PutLook:
    """Stores when the cluster was last looked at in full, and which image parameters its node classes follow.

    `due_at` is when the next look is due at the latest by the configuration of that look, whose digest is `config`.
    None or "": not known, so the configuration must be asked.
    """

    at: datetime
    parameters: tuple[str, ...] = ()
    due_at: datetime | None = None
    config: str = ""


@dataclass(frozen=True, slots=True)
class PutTold:
    """Stores what was said on a subject."""

    told: Told


LedgerChange = (
    PutRoll | PutCounter | PutStop | RemoveStop | ExpectStops | ExpectLease | PutImageVerdict | PutLook | PutTold
)


class Ledger(Protocol):
    """Records that outlive a run. Reads are consistent; a commit happens whole or not at all.

    Raises (all methods): LedgerUnavailableError, LedgerCorruptError; a commit whose answer never came
    raises AnswerLostError.
    """

    def load(self, cluster: str) -> LedgerState: ...

    def load_fleet(self) -> Mapping[str, LedgerState]:
        """What a heartbeat needs, by one query: unfinished rolls, stops, leases and looks of every cluster with one.

        Stops of the fleet stand under `*` (always there) and with every cluster. Finished rolls, counters, image
        verdicts and what was told are left out: `load` has them.
        """
        ...

    def commit(self, cluster: str, *changes: LedgerChange) -> None:
        """Raises LedgerConflictError, and then nothing was written. Stops may carry any cluster of their own.

        Conditions are judged on what was stored before the commit. Of two changes of one stop, look, verdict or
        subject the last counts; two changes of one roll or counter raise InvariantError.
        """
        ...

    def acquire_lease(self, cluster: str, holder: str, now: datetime, ttl: timedelta) -> LeaseRecord:
        """A lease with a token greater than any before; an expired one is taken over, our own is renewed.

        Raises LeaseHeldError with the holder and since when.
        """
        ...

    def release_lease(self, lease: LeaseRecord) -> None:
        """Gives the lease back if it is still ours; else nothing happens."""
        ...


# --- AWS and people --------------------------------------------------------------------------------


class Alarms(Protocol):
    """CloudWatch alarms. Raises AwsForbiddenError, AwsUnavailableError."""

    def read(self, guards: Sequence[AlarmGuard], history_since: datetime) -> tuple[AlarmObservation, ...]:
        """One entry per guard, in order; state MISSING where CloudWatch has no such alarm."""
        ...


class Calendars(Protocol):
    """Systems Manager Change Calendars. Raises AwsForbiddenError, AwsUnavailableError."""

    def read(self, names: Sequence[str], at: datetime | None = None) -> tuple[CalendarObservation, ...]:
        """One entry per name, in order, as they stand now or at `at`; state MISSING where there is no such calendar."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ParametersRead:
    """An answer about parameters. A name that is in neither does not exist.

    `found` has each under the name that was asked for, in the order of asking. `refused` says why a name could not be
    asked for: it is denied, or no parameter can be called so.
    """

    found: tuple[ParameterObservation, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


class Parameters(Protocol):
    """SSM parameters of any region. Raises AwsForbiddenError, AwsUnavailableError."""

    def read(self, names: Sequence[str], at: Location = HOME) -> ParametersRead:
        """The parameters of these names or ARNs, in tens per call; one that is refused spoils no other.

        Raises AwsForbiddenError where nothing at all may be read there.
        """
        ...

    def write(self, name: str, value: str, *, overwrite: bool = False) -> None:
        """Stores the value at home.

        Raises ParameterExistsError where there is one already and `overwrite` was not said.
        """
        ...


class Images(Protocol):
    """EC2 images of any region. Raises AwsForbiddenError, AwsUnavailableError."""

    def describe(self, ids: Sequence[str], at: Location = HOME) -> tuple[ImageObservation, ...]:
        """Those that exist; deregistered ones are left out."""
        ...


class ImageHistory(Protocol):
    """What image parameters have named, as the poll of them saw it. Reads are consistent.

    Raises (all methods): LedgerUnavailableError, LedgerCorruptError, AwsForbiddenError.
    """

    def load(self, keys: Sequence[Key]) -> Mapping[Key, SeenParameter]:
        """What is known of these parameters, by `SeenParameter.key`; those never seen are left out."""
        ...

    def save(self, seen: SeenParameter) -> None:
        """Stores it with version + 1, if the stored version is `seen.version` (0: there must be none).

        Raises LedgerConflictError, and then nothing was written, and AnswerLostError.
        """
        ...


class EventPublisher(Protocol):
    """Tells people. Raises AwsUnavailableError, AwsForbiddenError: a caller never lets that stop a closing."""

    def publish(self, event: DomainEvent) -> None: ...


class SlackChannel(Protocol):
    """One channel where people read. Raises ChatUnavailableError, ChatRefusedError."""

    def post(self, message: SlackMessage, root: str = "") -> str:
        """The `ts` under which the message stands, "" where the way in does not tell.

        It is a reply to the message `root` where one is given and the way in knows threads.
        """
        ...


class SlackThreads(Protocol):
    """What was said in which thread. Reads are consistent. Raises LedgerUnavailableError, AwsForbiddenError."""

    def read(self, name: str) -> Thread:
        """The thread; one that nobody knows has version 0."""
        ...

    def write(self, thread: Thread) -> Thread:
        """The thread as stored, with version + 1, if the stored one has `thread.version` (0: there must be none).

        Raises LedgerConflictError (nothing was written) and AnswerLostError.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkMessage:
    """Asks for one look at one cluster. `dedup` is the deduplication id: the same one within 5 minutes is one message.

    There is no delay: a FIFO queue takes none per message. What must happen later is the heartbeat's work.
    """

    cluster: str
    dedup: str
    cause: str
    roll_id: str = ""


class WorkQueue(Protocol):
    """The FIFO queue of a placement, one group per cluster."""

    def send(self, message: WorkMessage) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseRequest:
    """Asks for gates to be closed now. `alarm` closes every roll it guards; `roll_id` one roll."""

    cluster: str
    cause: str
    ref: str
    pool: str | None = None


class Closer(Protocol):
    """Invokes the placement's `close_budgets` without waiting."""

    def invoke(self, request: CloseRequest) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StackRequest:
    """What CloudFormation asks of a resource of ours (`kind`: Create, Update or Delete), and where it waits.

    `physical_id` is the name that the resource gave itself, "" before it was asked to.
    """

    kind: str
    stack: str
    request: str
    resource: str
    physical_id: str
    answer_to: str


class StackAnswers(Protocol):
    """How CloudFormation is answered: without an answer it waits until its patience is over, and then fails."""

    def answer(self, request: StackRequest, problem: str = "") -> None:
        """Done; or not done, and why. Raises AwsUnavailableError."""
        ...
