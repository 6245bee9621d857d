"""One world for a schedule: a small simulated cluster, a ledger, an alarm, a queue, and everybody who acts on them.

Heartbeats come every minute, closers and workers when they are asked for, as deployed; people and the world act when
the schedule says so. After the schedule everybody lives, nothing new may open, and all must come to rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.app.close_budgets import close_budgets
from driftgate.app.close_roll import close_persistently, store_closed
from driftgate.app.evaluate_drift import evaluate_drift
from driftgate.app.pipeline import Pipeline
from driftgate.app.reconcile import reconcile
from driftgate.domain.errors import DriftgateError
from driftgate.domain.ledger import Stop, StopCause
from driftgate.domain.marks import is_mark
from driftgate.domain.roll import Roll
from driftgate.domain.roll_annotation import LiveRoll
from driftgate.events import AlarmChanged, Event, Heartbeat, Origin
from driftgate.ports import CloseRequest, Ledger, LedgerChange, LedgerState, PutStop, RemoveStop, WorkMessage
from driftgate.sim.clock import ManualClock
from driftgate.sim.kinds import NODEPOOLS
from tests.fakes.image_history import FakeImageHistory
from tests.fakes.pipeline import FakeAlarms, FakeCalendars, FakeImages, FakeParameters, FakePublisher
from tests.fakes.sim_gateway import SimGateway
from tests.interleaving import stepped
from tests.interleaving.edits import edit
from tests.interleaving.schedule import GO, Call, Happening, Source, Step
from tests.interleaving.services import AsyncCloser, FifoQueue, LedgerOfRecord
from tests.interleaving.setting import ALARM, CLUSTER, WINDOW_END, Setting, lag_of, new_cluster, policy_of
from tests.interleaving.stage import Actor, Stage
from tests.interleaving.witness import GateWitness, annotation, budgets
from tests.sim_clusters import NOW

LAMBDA_RETRY_S = 60.0


class Theatre:
    """The world of one run."""

    def __init__(
        self, setting: Setting, source: Source, make_ledger: Callable[[ManualClock], Ledger] = MemoryLedger
    ) -> None:
        clock = ManualClock(NOW)
        self.setting = setting
        self.sim = new_cluster(setting, clock)
        self.stage = Stage(self.sim, source)
        self.witness = GateWitness(self.sim, WINDOW_END, lag_of(setting.timings), self._guard_of)
        self.stage.after_step = self.witness.count
        self.ledger = LedgerOfRecord(lambda: make_ledger(clock), self._committed)
        self.queue = FifoQueue(self.stage, self.work)
        self.closer = AsyncCloser(self.close)
        self.alarms = FakeAlarms(demo_5xx="OK")
        self.publisher = FakePublisher()
        self.gateway = SimGateway(self.sim)
        self.ledger_was_lost = False
        self.annotation_deleted_at: dict[str, datetime] = {}
        self.opened_by_hand: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._policy = policy_of(setting)
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
            history=FakeImageHistory(),
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
        """A person writes the NodePool, past us; what they answer for from then on is remembered."""
        stored = self.sim.store.get(NODEPOOLS, pool)
        assert stored is not None
        if kind in ("note", "annotation"):
            self.annotation_deleted_at[pool] = self.stage.now()
        is_ours = isinstance(annotation(stored), LiveRoll) or any(map(is_mark, budgets(stored)))
        if (kind in ("open", "nothing") and not is_ours) or (
            kind == "annotation" and not any(map(is_mark, budgets(stored)))
        ):
            self.opened_by_hand.add(pool)
        edit(self.sim, kind, pool, self.setting.baseline)

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

    def _committed(self, before: LedgerState, changes: Sequence[LedgerChange]) -> None:
        self.witness.committed(before, changes, self.stage.now())

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
