"""driftgate as deployed, over a simulated cluster in virtual time: scheduler, queue, workers, closers.

While a worker waits, time passes and everything else happens: heartbeats, alarms, closings from outside. One
worker at a time has the cluster's group of the queue; after a death the message comes back in two minutes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from driftgate.app.close_budgets import close_budgets
from driftgate.app.evaluate_drift import evaluate_drift
from driftgate.app.pipeline import Pipeline
from driftgate.app.reconcile import reconcile
from driftgate.app.run_report import RunReport
from driftgate.domain.errors import DriftgateError
from driftgate.domain.policy import ClusterPolicy, NowRequest
from driftgate.events import AlarmChanged, Event, Heartbeat, Origin
from driftgate.ports import CloseRequest, WorkMessage
from driftgate.sim.cluster import SimCluster
from tests.fakes.pipeline import FakeWorld, world
from tests.fakes.sim_gateway import SimGateway
from tests.simulated.fate import Fate, Killed, fated

VISIBILITY = timedelta(minutes=2)
SAME_MESSAGE = timedelta(minutes=5)
T = TypeVar("T")


@dataclass(slots=True)
class FifoQueue:
    """One group of a FIFO queue: a message that nobody finished comes back, and until then nothing else comes."""

    clock: Callable[[], datetime]
    waiting: deque[WorkMessage] = field(default_factory=deque)
    locked_until: datetime | None = None
    _seen: dict[str, datetime] = field(default_factory=dict)

    def send(self, message: WorkMessage) -> None:
        now = self.clock()
        if message.dedup in self._seen and now - self._seen[message.dedup] < SAME_MESSAGE:
            return
        self._seen[message.dedup] = now
        self.waiting.append(message)

    def has_work(self) -> bool:
        return bool(self.waiting) and (self.locked_until is None or self.clock() >= self.locked_until)


class Deployment:
    """Everything of driftgate that runs. `is_gone`: nothing of it is left, no heartbeat and no closer either."""

    def __init__(self, sim: SimCluster, policy: ClusterPolicy) -> None:
        self.sim = sim
        self.gateway = SimGateway(sim)
        self.world: FakeWorld = world(self.gateway, sim.clock, policy)
        self.queue = FifoQueue(sim.clock.now)
        self.fate: Fate | None = None
        self.is_gone = False
        self.reports: list[RunReport] = []
        self.failures: list[str] = []
        self.is_working = False
        self._workers = 0
        self._next_beat()

    def pipeline(self, fate: Fate | None = None) -> Pipeline:
        """The ports of one more process."""
        self._workers += 1
        whole = self.world.pipeline(f"worker-{self._workers}")
        ports = Pipeline(
            **{name: getattr(whole, name) for name in Pipeline.__slots__} | {"queue": self.queue, "closer": self}
        )
        return ports if fate is None else fated(ports, fate)

    def run(self, seconds: float) -> None:
        """Lets time pass; whatever is queued on the way is worked on."""
        end = self.sim.clock.now() + timedelta(seconds=seconds)
        while self.sim.clock.now() < end:
            self.work()
            left = (end - self.sim.clock.now()).total_seconds()
            self.sim.advance_until(self.queue.has_work, max(0.0, left))
        self.work()

    def work(self) -> None:
        """One worker after the other takes what is queued now."""
        while self.queue.has_work() and not self.is_gone:
            self._take(self.queue.waiting.popleft())

    def look(self, cause: str = "test", request: NowRequest | None = None) -> RunReport | None:
        """One look at the cluster, whatever is queued; None where it failed."""
        message = WorkMessage(cluster=self.world.policy.cluster, dedup=cause, cause=cause)
        return self._reconcile(message, request=request)

    def beat(self) -> None:
        """A heartbeat, now."""
        self.hear(Heartbeat(scheduled_at=self.sim.clock.now()))

    def hear(self, event: Event) -> None:
        """`evaluate_drift` gets the event."""
        self.attempt(lambda: evaluate_drift(self.pipeline(), event))

    def alarm(self, state: str, *, told: bool = True) -> None:
        """The guarding alarm changes its state; `told` False: its event is lost."""
        self.world.alarms.states["demo_5xx"] = state
        if told:
            at = self.sim.clock.now()
            event = AlarmChanged(origin=Origin(id=f"alarm-{at.isoformat()}", at=at), name="demo-5xx", state=state)
            self.attempt(lambda: close_budgets(self.pipeline(), event).raise_failures())
            self.hear(event)

    def invoke(self, request: CloseRequest) -> None:
        """`ports.Closer`: `close_budgets` runs at once."""
        self.attempt(lambda: close_budgets(self.pipeline(), request).raise_failures())

    def _take(self, message: WorkMessage) -> None:
        fate, self.fate = self.fate, None
        try:
            self._reconcile(message, fate)
        except Killed:
            self.queue.locked_until = self.sim.clock.now() + VISIBILITY
            self.queue.waiting.appendleft(message)

    def _reconcile(
        self, message: WorkMessage, fate: Fate | None = None, request: NowRequest | None = None
    ) -> RunReport | None:
        self.is_working = True
        try:
            report = self.attempt(lambda: reconcile(self.pipeline(fate), message, request))
        finally:
            self.is_working = False
        if report is not None:
            self.reports.append(report)
        return report

    def attempt(self, act: Callable[[], T]) -> T | None:
        """What it gives; a function that raises is logged by its platform, and called again another time."""
        if self.is_gone:
            return None
        try:
            return act()
        except DriftgateError as error:
            self.failures.append(f"{type(error).__name__}: {error}")
            return None

    def _next_beat(self) -> None:
        now = self.sim.clock.now()
        minute = now.replace(second=0, microsecond=0) + timedelta(minutes=1, seconds=5)
        self.sim.agenda.at(minute, self._minute)

    def _minute(self) -> None:
        if not self.is_gone:
            self.hear(Heartbeat(scheduled_at=self.sim.clock.now().replace(second=0, microsecond=0)))
        self._next_beat()
