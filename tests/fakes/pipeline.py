"""A pipeline of fakes: memory ledger, quiet AWS, a publisher and queues that remember."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.app.pipeline import Pipeline
from driftgate.domain.errors import AwsForbiddenError, DriftgateError, ParameterExistsError
from driftgate.domain.location import HOME, Location
from driftgate.domain.message import DomainEvent
from driftgate.domain.observation import (
    AlarmObservation,
    CalendarObservation,
    ImageObservation,
    ParameterObservation,
)
from driftgate.domain.policy import AlarmGuard, ClusterPolicy
from driftgate.ports import Clock, CloseRequest, Cluster, Ledger, ParametersRead, WorkMessage
from tests.fakes.image_history import FakeImageHistory

HOME_REGION = "eu-central-1"


class FakeAlarms:
    """Alarms by name; one that is not there is MISSING. `failure` is raised instead of an answer."""

    def __init__(self, **states: str) -> None:
        self.states = states
        self.failure: DriftgateError | None = None

    def read(self, guards: Sequence[AlarmGuard], history_since: datetime) -> tuple[AlarmObservation, ...]:
        if self.failure is not None:
            raise self.failure
        return tuple(
            AlarmObservation(name=g.name, state=self.states.get(g.name.replace("-", "_"), "MISSING")) for g in guards
        )


class FakeCalendars:
    """Every calendar is open unless the test says otherwise."""

    def __init__(self, **states: str) -> None:
        self.states = states

    def read(self, names: Sequence[str], at: datetime | None = None) -> tuple[CalendarObservation, ...]:
        return tuple(CalendarObservation(name=name, state=self.states.get(name, "OPEN")) for name in names)


class FakeParameters:
    """Parameters by name and region, and the names that were written. `values` are those of the home region.

    `asked` is every reading, `before_read` happens first. `failures` are raised instead of an answer from a region;
    `refused` says of a name why it may not be read; `unwritable` are names that may not be written.
    """

    def __init__(self, **values: str) -> None:
        self.values: dict[str, str] = dict(values)
        self.regions: dict[str, dict[str, str]] = {"": self.values, HOME_REGION: self.values}
        self.modified_at: dict[str, datetime] = {}
        self.refused: dict[str, str] = {}
        self.failures: dict[str, DriftgateError] = {}
        self.unwritable: set[str] = set()
        self.before_read: Callable[[], object] = lambda: None
        self.asked: list[tuple[Location, tuple[str, ...]]] = []
        self.written: list[str] = []

    def read(self, names: Sequence[str], at: Location = HOME) -> ParametersRead:
        self.before_read()
        self.asked.append((at, tuple(names)))
        if at.region in self.failures:
            raise self.failures[at.region]
        here = self.regions.get(at.region, {})
        readable = [name for name in dict.fromkeys(names) if name not in self.refused]
        found = tuple(
            ParameterObservation(name=name, value=here[name], modified_at=self.modified_at.get(name))
            for name in readable
            if name in here
        )
        return ParametersRead(found=found, refused={n: why for n, why in self.refused.items() if n in names})

    def write(self, name: str, value: str, *, overwrite: bool = False) -> None:
        if name in self.unwritable:
            raise AwsForbiddenError(f"ssm:PutParameter on {name} was denied", action="ssm:PutParameter")
        if name in self.values and not overwrite:
            raise ParameterExistsError(f"the parameter {name} is there already; overwriting was not asked")
        self.values[name] = value
        self.written.append(name)


class FakeImages:
    """Knows no image but those it is given, in every region. `failure` is raised instead of an answer."""

    def __init__(self, *known: ImageObservation) -> None:
        self.known = known
        self.failure: DriftgateError | None = None
        self.asked: list[tuple[Location, tuple[str, ...]]] = []

    def describe(self, ids: Sequence[str], at: Location = HOME) -> tuple[ImageObservation, ...]:
        self.asked.append((at, tuple(ids)))
        if self.failure is not None:
            raise self.failure
        return tuple(image for image in self.known if image.id in ids)


@dataclass(slots=True)
class FakePublisher:
    """Remembers what was told. `failure` is raised instead."""

    told: list[DomainEvent] = field(default_factory=list)
    failure: DriftgateError | None = None

    def publish(self, event: DomainEvent) -> None:
        if self.failure is not None:
            raise self.failure
        self.told.append(event)

    @property
    def kinds(self) -> list[str]:
        return [str(event.kind) for event in self.told]


@dataclass(slots=True)
class FakeQueue:
    """Remembers what was sent; a FIFO queue drops a deduplication id that it has seen."""

    sent: list[WorkMessage] = field(default_factory=list)

    def send(self, message: WorkMessage) -> None:
        if message.dedup not in [known.dedup for known in self.sent]:
            self.sent.append(message)


@dataclass(slots=True)
class FakeCloser:
    """Remembers who was asked to close."""

    asked: list[CloseRequest] = field(default_factory=list)

    def invoke(self, request: CloseRequest) -> None:
        self.asked.append(request)


@dataclass(frozen=True, slots=True)
class OneCluster:
    """`ports.Clusters` with the same cluster behind every name."""

    cluster: Cluster

    def connect(self, cluster: str) -> Cluster:
        return self.cluster


@dataclass(slots=True, kw_only=True)
class FakeWorld:
    """The fakes of one pipeline, each at hand for the test."""

    cluster: Cluster
    clock: Clock
    policy: ClusterPolicy
    ledger: Ledger
    alarms: FakeAlarms = field(default_factory=lambda: FakeAlarms(demo_5xx="OK"))
    calendars: FakeCalendars = field(default_factory=FakeCalendars)
    parameters: FakeParameters = field(default_factory=FakeParameters)
    images: FakeImages = field(default_factory=FakeImages)
    history: FakeImageHistory = field(default_factory=FakeImageHistory)
    publisher: FakePublisher = field(default_factory=FakePublisher)
    queue: FakeQueue = field(default_factory=FakeQueue)
    closer: FakeCloser = field(default_factory=FakeCloser)
    config_digest: str = ""

    def pipeline(self, holder: str = "worker-1") -> Pipeline:
        """A worker's pipeline; two holders are two workers over the same world."""
        return Pipeline(
            clock=self.clock,
            ledger=self.ledger,
            clusters=OneCluster(self.cluster),
            alarms=self.alarms,
            calendars=self.calendars,
            parameters=self.parameters,
            images=self.images,
            history=self.history,
            publisher=self.publisher,
            queue=self.queue,
            closer=self.closer,
            policy=lambda _: self.policy,
            cluster_names=(self.policy.cluster,),
            holder=holder,
            config_digest=self.config_digest,
        )


def world(cluster: Cluster, clock: Clock, policy: ClusterPolicy, ledger: Ledger | None = None) -> FakeWorld:
    """A quiet world around this cluster, with an empty ledger in memory unless one is given."""
    return FakeWorld(cluster=cluster, clock=clock, policy=policy, ledger=ledger or MemoryLedger(clock))
