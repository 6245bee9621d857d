"""Every port of one actor, with a stop at each call: what the call is named in schedules, and how it can go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from driftgate.domain.errors import (
    AnswerLostError,
    AwsForbiddenError,
    AwsUnavailableError,
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    ClusterUnavailableError,
    DriftgateError,
    LedgerConflictError,
    LedgerUnavailableError,
    NodePoolChangedError,
    PatchRejectedError,
)
from driftgate.domain.ledger import LeaseRecord
from driftgate.domain.message import DomainEvent
from driftgate.domain.nodepool import NodeClassSnapshot, NodePoolSnapshot
from driftgate.domain.nodes import (
    NodeClaimSnapshot,
    NodeSnapshot,
    PodDisruptionBudgetSnapshot,
    PodSnapshot,
    VolumeAttachmentSnapshot,
)
from driftgate.domain.observation import AlarmObservation
from driftgate.domain.patch import JsonPatch
from driftgate.domain.policy import AlarmGuard
from driftgate.ports import (
    Alarms,
    Closer,
    CloseRequest,
    EventPublisher,
    Ledger,
    LedgerChange,
    LedgerState,
    PoolChange,
    PoolMembers,
    Quiet,
    WorkMessage,
    WorkQueue,
)
from tests.fakes.sim_gateway import SimGateway, changes_between
from tests.interleaving.stage import Actor

T = TypeVar("T")
Errors = tuple[Callable[[], DriftgateError], ...]
LOOK_S = 0.5
"""How often a watching worker hears of the cluster."""


def _cluster(kind: type[DriftgateError]) -> Callable[[], DriftgateError]:
    return lambda: kind("as the schedule says")


READ_ERRORS: Errors = tuple(
    _cluster(kind) for kind in (ClusterUnavailableError, ClusterForbiddenError, ClusterUnauthorizedError)
)
PATCH_ERRORS: Errors = (*READ_ERRORS, _cluster(NodePoolChangedError), _cluster(PatchRejectedError))
LEDGER_ERRORS: Errors = (_cluster(LedgerUnavailableError),)
COMMIT_ERRORS: Errors = (*LEDGER_ERRORS, _cluster(LedgerConflictError))
AWS_ERRORS: Errors = (_cluster(AwsUnavailableError), _cluster(AwsForbiddenError))


class SteppedClock:
    """Reading the time is a moment at which a process can be frozen; sleeping lets others go on."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def now(self) -> datetime:
        now = self._actor.stage.now()
        self._actor.look("now")
        return now

    def sleep(self, seconds: float) -> None:
        self._actor.pause(seconds)


class SteppedCluster:
    """`ports.Cluster` of one actor."""

    def __init__(self, actor: Actor, inner: SimGateway, *, is_deaf: bool = False) -> None:
        self._actor = actor
        self._inner = inner
        self._is_deaf = is_deaf

    def _read(self, name: str, do: Callable[[], T]) -> T:
        return self._actor.call(name, do, ClusterUnavailableError, READ_ERRORS)

    def list_nodepools(self) -> tuple[NodePoolSnapshot, ...]:
        return self._read("list_nodepools", self._inner.list_nodepools)

    def get_nodepool(self, name: str) -> NodePoolSnapshot:
        return self._read("get_nodepool", lambda: self._inner.get_nodepool(name))

    def patch_nodepool(self, name: str, patch: JsonPatch, *, dry_run: bool = False) -> NodePoolSnapshot:
        return self._actor.call(
            "patch_nodepool",
            lambda: self._inner.patch_nodepool(name, patch, dry_run=dry_run),
            AnswerLostError,
            PATCH_ERRORS,
            is_write=True,
        )

    def list_node_classes(self) -> tuple[NodeClassSnapshot, ...]:
        return self._read("list_node_classes", self._inner.list_node_classes)

    def list_nodeclaims(self) -> tuple[NodeClaimSnapshot, ...]:
        return self._read("list_nodeclaims", self._inner.list_nodeclaims)

    def list_nodes(self) -> tuple[NodeSnapshot, ...]:
        return self._read("list_nodes", self._inner.list_nodes)

    def list_pods(self, nodes: Sequence[str] | None = None) -> tuple[PodSnapshot, ...]:
        return self._read("list_pods", lambda: self._inner.list_pods(nodes))

    def list_pdbs(self) -> tuple[PodDisruptionBudgetSnapshot, ...]:
        return self._read("list_pdbs", self._inner.list_pdbs)

    def list_volume_attachments(self) -> tuple[VolumeAttachmentSnapshot, ...]:
        return self._read("list_volume_attachments", self._inner.list_volume_attachments)

    def read_pool(self, pool: str) -> PoolMembers:
        return self._read("read_pool", lambda: self._inner.read_pool(pool))

    def watch_pool(self, pool: str, since: PoolMembers, timeout: timedelta) -> Iterator[PoolChange]:
        """Hears twice a second; reads only where anything was written since."""
        clock, store = self._inner.sim.clock, self._inner.sim.store
        end, last, version = clock.now() + timeout, since, -1
        while clock.now() < end:
            self._actor.call("watch", lambda: None, ClusterUnavailableError, READ_ERRORS)
            if store.version != version and not self._is_deaf:
                version, now = store.version, self._inner.read_pool(pool)
                yield from changes_between(last, now)
                last = now
            self._actor.pause(LOOK_S)
            yield Quiet()

    def karpenter_version(self) -> str | None:
        return self._read("karpenter_version", self._inner.karpenter_version)


class SteppedClusters:
    """`ports.Clusters` with one cluster behind every name."""

    def __init__(self, cluster: SteppedCluster) -> None:
        self._cluster = cluster

    def connect(self, cluster: str) -> SteppedCluster:
        return self._cluster


class SteppedLedger:
    """`ports.Ledger` of one actor; `inner` gives the ledger as it is at the call."""

    def __init__(self, actor: Actor, inner: Callable[[], Ledger]) -> None:
        self._actor = actor
        self._inner = inner

    def load(self, cluster: str) -> LedgerState:
        return self._call("load", lambda: self._inner().load(cluster))

    def load_fleet(self) -> Mapping[str, LedgerState]:
        return self._call("load_fleet", lambda: self._inner().load_fleet())

    def commit(self, cluster: str, *changes: LedgerChange) -> None:
        def do() -> None:
            self._inner().commit(cluster, *changes)

        self._actor.call("commit", do, AnswerLostError, COMMIT_ERRORS, is_write=True)

    def acquire_lease(self, cluster: str, holder: str, now: datetime, ttl: timedelta) -> LeaseRecord:
        return self._call("acquire_lease", lambda: self._inner().acquire_lease(cluster, holder, now, ttl))

    def release_lease(self, lease: LeaseRecord) -> None:
        self._call("release_lease", lambda: self._inner().release_lease(lease))

    def _call(self, name: str, do: Callable[[], T]) -> T:
        return self._actor.call(name, do, LedgerUnavailableError, LEDGER_ERRORS)


class SteppedAlarms:
    """`ports.Alarms` of one actor."""

    def __init__(self, actor: Actor, inner: Alarms) -> None:
        self._actor = actor
        self._inner = inner

    def read(self, guards: Sequence[AlarmGuard], history_since: datetime) -> tuple[AlarmObservation, ...]:
        return self._actor.call(
            "alarms", lambda: self._inner.read(guards, history_since), AwsUnavailableError, AWS_ERRORS
        )


class SteppedPublisher:
    """`ports.EventPublisher` of one actor."""

    def __init__(self, actor: Actor, inner: EventPublisher) -> None:
        self._actor = actor
        self._inner = inner

    def publish(self, event: DomainEvent) -> None:
        self._actor.call("publish", lambda: self._inner.publish(event), AwsUnavailableError, AWS_ERRORS)


class SteppedQueue:
    """`ports.WorkQueue` of one actor."""

    def __init__(self, actor: Actor, inner: WorkQueue) -> None:
        self._actor = actor
        self._inner = inner

    def send(self, message: WorkMessage) -> None:
        self._actor.call("send", lambda: self._inner.send(message), AwsUnavailableError, AWS_ERRORS)


class SteppedCloser:
    """`ports.Closer` of one actor."""

    def __init__(self, actor: Actor, inner: Closer) -> None:
        self._actor = actor
        self._inner = inner

    def invoke(self, request: CloseRequest) -> None:
        self._actor.call("invoke", lambda: self._inner.invoke(request), AwsUnavailableError, AWS_ERRORS)
