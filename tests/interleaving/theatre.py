"""One world for a schedule: a small simulated cluster, a ledger, an alarm, a queue, and everybody who acts on them.

Heartbeats come every minute, closers and workers when they are asked for, as deployed; people and the world act when
the schedule says so. After the schedule everybody lives, nothing new may open, and all must come to rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta

from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.app.close_budgets import close_budgets
from driftgate.app.close_roll import close_persistently, store_closed
from driftgate.app.evaluate_drift import evaluate_drift
from driftgate.app.pipeline import Pipeline
from driftgate.app.reconcile import reconcile
from driftgate.domain.budget import Budget, from_objects
from driftgate.domain.errors import DriftgateError
from driftgate.domain.ledger import LeaseRecord, Stop, StopCause
from driftgate.domain.marks import is_mark
from driftgate.domain.nodepool import ROLL_ANNOTATION
from driftgate.domain.policy import AlarmGuard, ClusterPolicy, GuardPolicy, Mode, OpenPolicy, PoolPolicy
from driftgate.domain.roll import Roll
from driftgate.domain.roll_annotation import LiveRoll, Tombstone, to_text
from driftgate.domain.window import MaintenanceWindow
from driftgate.events import AlarmChanged, Event, Heartbeat, Origin
from driftgate.ports import CloseRequest, Ledger, LedgerChange, LedgerState, PutStop, RemoveStop, WorkMessage
from driftgate.sim.clock import ManualClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.objects import JsonDict, section
from driftgate.sim.timings import Timings
from driftgate.sim.witness import budgets_of
from tests.fakes.pipeline import FakeAlarms, FakeCalendars, FakeImages, FakeParameters, FakePublisher
from tests.fakes.sim_gateway import SimGateway
from tests.interleaving import stepped
from tests.interleaving.schedule import GO, Call, Happening, Source, Step
from tests.interleaving.stage import Actor, Stage
from tests.interleaving.witness import GateWitness, annotation, budgets
from tests.sim_clusters import NOW

CLUSTER = "demo"
ALARM = "demo-5xx"
ZERO = {"nodes": "0", "reasons": ["Drifted"]}
WINDOW_END = NOW.replace(hour=5, minute=0)
VISIBILITY_S = 120.0
LAMBDA_RETRY_S = 60.0
Budgets = tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Setting:
    """What the world is like at the start. `empty` nodes of each pool have no pod."""

    pools: tuple[str, ...] = ("app",)
    nodes: int = 4
    empty: int = 2
    baseline: Budgets = (ZERO,)
    per_window: int = 1
    open_timeout: timedelta = timedelta(minutes=4)
    timings: Timings = field(default_factory=Timings)
    beat_at_s: float = 7.0
    pause_between: timedelta = timedelta(minutes=1)
    bake: timedelta = timedelta(minutes=1)
    cpu_m: int = 1000
    """What a pod asks for, of the 4000 of a node: two of more than half do not fit on one."""
    is_watch_deaf: bool = False
    """Whether watches break off unnoticed: they stay open and tell nothing."""

    def __repr__(self) -> str:
        """Only what differs from the usual."""
        usual = Setting()
        pairs = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return f"Setting({', '.join(f'{name}={value!r}' for name, value in pairs if value != getattr(usual, name))})"


class LedgerOfRecord:
    """The ledger that all share. It can be lost, and tells the witness what was committed."""

    def __init__(self, theatre: Theatre, make: Callable[[], Ledger]) -> None:
        self._theatre = theatre
        self._make = make
        self.inner = make()

    def lose(self) -> None:
        self.inner = self._make()

    def load(self, cluster: str) -> LedgerState:
        return self.inner.load(cluster)

    def load_fleet(self) -> Mapping[str, LedgerState]:
        return self.inner.load_fleet()

    def commit(self, cluster: str, *changes: LedgerChange) -> None:
        before = self.inner.load(cluster)
        self.inner.commit(cluster, *changes)
        self._theatre.witness.committed(before, changes, self._theatre.stage.now())

    def acquire_lease(self, cluster: str, holder: str, now: datetime, ttl: timedelta) -> LeaseRecord:
        return self.inner.acquire_lease(cluster, holder, now, ttl)

    def release_lease(self, lease: LeaseRecord) -> None:
        self.inner.release_lease(lease)


class FifoQueue:
    """One group: the next message is delivered when the last is done, or when its worker was silent for 2 minutes."""

    def __init__(self, theatre: Theatre) -> None:
        self._theatre = theatre
        self._waiting: list[WorkMessage] = []
        self._seen: dict[str, datetime] = {}
        self._receipt = 0

    def send(self, message: WorkMessage) -> None:
        now = self._theatre.stage.now()
        last = self._seen.get(message.dedup)
        if last is not None and now - last < timedelta(minutes=5):
            return
        self._seen[message.dedup] = now
        self._waiting.append(message)
        if len(self._waiting) == 1:
            self._theatre.stage.after(0.1, self._deliver)

    @property
    def is_idle(self) -> bool:
        return not self._waiting

    def _deliver(self) -> None:
        if not self._waiting:
            return
        self._receipt += 1
        receipt = self._receipt
        self._theatre.work(self._waiting[0], lambda actor: self._ended(actor, receipt))
        self._theatre.stage.after(VISIBILITY_S, lambda: self._deliver() if receipt == self._receipt else None)

    def _ended(self, actor: Actor, receipt: int) -> None:
        """A worker that failed or died leaves its message to be seen again."""
        if receipt != self._receipt or actor.is_dead or actor.failure is not None:
            return
        self._receipt += 1
        self._waiting.pop(0)
        self._deliver()


class AsyncCloser:
    """Invokes closers; a failed one is invoked twice more, as Lambda does."""

    def __init__(self, theatre: Theatre) -> None:
        self._theatre = theatre

    def invoke(self, request: CloseRequest) -> None:
        self._theatre.close(request)


class Theatre:
    """The world of one run."""

    def __init__(
        self, setting: Setting, source: Source, make_ledger: Callable[[ManualClock], Ledger] = MemoryLedger
    ) -> None:
        clock = ManualClock(NOW)
        self.setting = setting
        self.sim = _cluster(setting, clock)
        self.stage = Stage(self.sim, source)
        self.witness = GateWitness(self.sim, WINDOW_END, _lag(setting.timings), self._guard_of)
        self.stage.after_step = self.witness.count
        self.ledger = LedgerOfRecord(self, lambda: make_ledger(clock))
        self.queue = FifoQueue(self)
        self.closer = AsyncCloser(self)
        self.alarms = FakeAlarms(demo_5xx="OK")
        self.publisher = FakePublisher()
        self.gateway = SimGateway(self.sim)
        self.ledger_was_lost = False
        self.annotation_deleted_at: dict[str, datetime] = {}
        self.opened_by_hand: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._policy = _policy(setting)
        self.stage.after(setting.beat_at_s, self._beat)

    # --- actors ------------------------------------------------------------------------------------

    def pipeline(self, actor: Actor) -> Pipeline:
        """The outside world as this actor has it."""
        return Pipeline(
            clock=stepped.SteppedClock(actor),
            ledger=stepped.SteppedLedger(actor, lambda: self.ledger),
            clusters=stepped.SteppedClusters(
                stepped.SteppedCluster(actor, self.gateway, is_deaf=self.setting.is_watch_deaf)
            ),
            alarms=stepped.SteppedAlarms(actor, self.alarms),
            calendars=FakeCalendars(),
            parameters=FakeParameters(),
            images=FakeImages(),
            publisher=stepped.SteppedPublisher(actor, self.publisher),
            queue=stepped.SteppedQueue(actor, self.queue),
            closer=stepped.SteppedCloser(actor, self.closer),
            policy=lambda _: self._policy,
            cluster_names=(CLUSTER,),
            holder=actor.name,
        )

    def spawn(
        self, kind: str, work: Callable[[Pipeline], object], done: Callable[[Actor], None] | None = None
    ) -> Actor:
        """Somebody begins."""
        self._numbers[kind] = self._numbers.get(kind, 0) + 1
        name = f"{kind}-{self._numbers[kind]}"

        def act(actor: Actor) -> None:
            found = work(self.pipeline(actor))
            self.stage.say(name, f"is done: {_short(found)}")

        actor = Actor(self.stage, name, act, done or self._ended)
        self.stage.begin(actor)
        return actor

    def work(self, message: WorkMessage, done: Callable[[Actor], None]) -> None:
        def ended(actor: Actor) -> None:
            self._ended(actor)
            done(actor)

        self.spawn("worker", lambda pipeline: reconcile(pipeline, message).to_object(), ended)

    def close(self, event: Event, attempt: int = 1) -> None:
        def act(pipeline: Pipeline) -> object:
            report = close_budgets(pipeline, event)
            report.raise_failures()
            return report.to_object()

        def ended(actor: Actor) -> None:
            self._ended(actor)
            if attempt < 3 and (actor.is_dead or actor.failure is not None):
                self.stage.after(LAMBDA_RETRY_S * attempt, lambda: self.close(event, attempt + 1))

        self.spawn("closer", act, ended)

    def evaluate(self, event: Event) -> None:
        kind = "beat" if isinstance(event, Heartbeat) else "hint"
        self.spawn(kind, lambda pipeline: evaluate_drift(pipeline, event).to_object())

    def _ended(self, actor: Actor) -> None:
        if actor.failure is not None and not isinstance(actor.failure, DriftgateError):
            raise actor.failure
        if actor.failure is not None:
            self.stage.say(actor.name, f"ends with {type(actor.failure).__name__}: {actor.failure}")

    def _beat(self) -> None:
        minute = self.stage.now().replace(second=0, microsecond=0)
        self.evaluate(Heartbeat(scheduled_at=minute))
        self.stage.after(60.0, self._beat)

    # --- the world and people ----------------------------------------------------------------------

    def happen(self, what: str) -> None:
        """One of the things that a schedule may name."""
        self.stage.say("world", what)
        kind, _, pool = what.partition(":")
        happenings: dict[str, Callable[[str], None]] = {
            "alarm": lambda _: self._alarm("ALARM"),
            "alarm_ok": lambda _: self._alarm("OK"),
            "lose_ledger": self._lose_ledger,
            "worker": lambda _: self.work(WorkMessage(cluster=CLUSTER, dedup="x", cause="laptop"), lambda _: None),
            "pause": self._pause,
            "resume": self._resume,
            "close": self._close_by_person,
            "restart_karpenter": lambda _: self.sim.karpenter.restart(),
        }
        if kind in happenings:
            happenings[kind](pool)
        else:
            self._edit(kind, pool)

    def _alarm(self, state: str) -> None:
        self.alarms.states["demo_5xx"] = state
        origin = Origin(id=f"{state}-{self.stage.now().isoformat()}", at=self.stage.now())
        event = AlarmChanged(origin=origin, name=ALARM, state=state)
        self.close(event)
        self.evaluate(event)

    def _lose_ledger(self, _: str) -> None:
        self.ledger_was_lost = True
        self.ledger.lose()

    def _pause(self, pool: str) -> None:
        stop = self._stop(pool)

        def act(pipeline: Pipeline) -> object:
            pipeline.ledger.commit(CLUSTER, PutStop(stop))
            request = CloseRequest(cluster=CLUSTER, cause=StopCause.PAUSE, ref=stop.ref, pool=stop.pool)
            return close_budgets(pipeline, request).to_object()

        self.spawn("person", act)

    def _resume(self, pool: str) -> None:
        stop = self._stop(pool)
        self.spawn("person", lambda pipeline: pipeline.ledger.commit(CLUSTER, RemoveStop(stop)))

    def _stop(self, pool: str) -> Stop:
        at = self.stage.now()
        return Stop(cause=StopCause.PAUSE, ref="ada", cluster=CLUSTER, pool=pool or None, at=at, reason="look first")

    def _close_by_person(self, pool: str) -> None:
        """As `driftgate close`."""

        def act(pipeline: Pipeline) -> object:
            rolls = pipeline.ledger.load(CLUSTER).rolls
            roll = next((r for r in rolls if r.pool == pool and not r.is_finished), None)
            cluster = pipeline.clusters.connect(CLUSTER)
            closed = close_persistently(cluster, pipeline.clock, pool, roll, self._policy.deployment)
            if roll is not None:
                now, restored = pipeline.clock.now(), closed.is_baseline_back
                store_closed(pipeline.ledger, CLUSTER, roll, now, pipeline.holder, is_restored=restored)
            return closed.wrote

        self.spawn("person", act)

    def _edit(self, kind: str, pool: str) -> None:
        stored = self.sim.store.get(NODEPOOLS, pool)
        assert stored is not None
        found = budgets_of(stored.obj)
        edits: dict[str, Budgets] = {
            "add": (*found, {"nodes": "3", "reasons": ["Empty"]}),
            "zero": (*found, ZERO),
            "blackout": (*found, ZERO | {"schedule": "0 2 * * *", "duration": "24h"}),
            "baseline": self.setting.baseline,
            "open": ({"nodes": "1", "reasons": ["Drifted"]},),
            "nothing": (),
        }
        if kind == "note":
            self.annotation_deleted_at[pool] = self.stage.now()
            self.sim.writes.change(NODEPOOLS, pool, _with_note_of_the_future, "kubectl")
            return
        if kind == "annotation":
            self.annotation_deleted_at[pool] = self.stage.now()
            self.opened_by_hand |= set() if any(map(is_mark, budgets(stored))) else {pool}
            self.sim.writes.change(NODEPOOLS, pool, _without_annotation, "kubectl")
            return
        if kind in ("open", "nothing"):
            ours = isinstance(annotation(stored), LiveRoll) or self.witness.is_open(stored)
            self.opened_by_hand |= set() if ours else {pool}
        self.sim.set_budgets(pool, [dict(entry) for entry in edits[kind]])

    # --- a run -------------------------------------------------------------------------------------

    def play(self, happenings: Iterable[Happening], seconds: float) -> None:
        """The schedule's own time."""
        for happening in happenings:
            self.stage.after(happening.at_s, lambda what=happening.what: self.happen(what))  # type: ignore[misc]
        self.stage.run(self.stage.now() + timedelta(seconds=seconds))

    def come_to_rest(self) -> None:
        """Everybody lives and nothing new may open; at most two hours of virtual time."""
        self.stage.source = _Quiet()
        self.alarms.states["demo_5xx"] = "OK"
        self.ledger.commit(CLUSTER, PutStop(Stop(cause=StopCause.PAUSE, ref="the end", at=self.stage.now())))
        self.stage.run(self.stage.now() + timedelta(seconds=100))
        self.stage.run(self.stage.now() + timedelta(hours=2), or_when=self._is_at_rest)

    def _is_at_rest(self) -> bool:
        waiting = [a for a in self.stage.actors if not a.is_over and not a.is_dead]
        stops = [stop for stop in self.ledger.load(CLUSTER).stops if stop.cause is not StopCause.PAUSE]
        return (
            not (waiting or stops or self.unfinished or self._stands() or self.stage.in_transit) and self.queue.is_idle
        )

    @property
    def unfinished(self) -> list[Roll]:
        return [roll for roll in self.ledger.load(CLUSTER).rolls if not roll.is_finished]

    def _stands(self) -> list[str]:
        return [p.name for p in self.sim.store.all_of(NODEPOOLS) if any(map(is_mark, budgets(p)))]

    def _guard_of(self, roll_id: str) -> datetime | None:
        return next((r.guard_at for r in self.ledger.load(CLUSTER).rolls if r.id == roll_id), None)

    def end(self) -> None:
        self.stage.close()


class _Quiet:
    def choose(self, call: Call) -> Step:
        return GO


def _short(found: object) -> object:
    if not isinstance(found, dict):
        return found
    return {key: value for key, value in found.items() if value and key not in ("cluster", "verdicts")}


def _without_annotation(obj: JsonDict) -> None:
    section(obj, "metadata", "annotations").pop(ROLL_ANNOTATION, None)


def _with_note_of_the_future(obj: JsonDict) -> None:
    note = Tombstone(deployment="driftgate", id="20991231T000000000Z-app", window_key="app/x", count=1)
    section(obj, "metadata", "annotations")[ROLL_ANNOTATION] = to_text(note)


def _cluster(setting: Setting, clock: ManualClock) -> SimCluster:
    sim = SimCluster(clock, karpenter="1.14.1", timings=setting.timings)
    sim.add_node_class()
    for pool in setting.pools:
        sim.add_nodepool(pool, setting.baseline)
        for number in range(setting.nodes):
            since = NOW - timedelta(hours=100 - number)
            node = sim.add_node(pool, f"{pool}{number}", drifted_since=since)
            if number % 2 == 1 or number >= 2 * setting.empty:
                sim.add_pod(node, cpu_m=setting.cpu_m)
    sim.advance(1)
    return sim


def _lag(timings: Timings) -> timedelta:
    return timedelta(seconds=1 + timings.informer_lag_s + timings.simulation_s)


def _policy(setting: Setting) -> ClusterPolicy:
    window = MaintenanceWindow(name="night", timezone="UTC", cron="0 2 * * *", duration=timedelta(hours=3))
    opening = OpenPolicy(
        per_window=setting.per_window, open_timeout=setting.open_timeout, pause_between=setting.pause_between
    )
    guards = GuardPolicy(alarms=(AlarmGuard(name=ALARM),), bake=setting.bake)
    pool = PoolPolicy(mode=Mode.ACT, windows=(window,), open=opening, guards=guards)
    return ClusterPolicy(cluster=CLUSTER, default=pool)


def wanted(setting: Setting) -> tuple[Budget, ...]:
    """The baseline as the product reads it."""
    return from_objects([dict(entry) for entry in setting.baseline])
