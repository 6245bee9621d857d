"""Two pools of one cluster, their driftgate, and everything that may happen to them, at once or in a while.

What is arranged for later happens also while a worker watches an open gate. Every act keeps the truth of what
speaks against an opening, for the watchman to judge by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.app.close_budgets import close_budgets
from driftgate.domain.errors import AwsUnavailableError
from driftgate.domain.ledger import Approval, ImageVerdict, Stop, StopCause
from driftgate.domain.nodepool import PAUSED_ANNOTATION
from driftgate.domain.policy import Mode, NowRequest
from driftgate.domain.window import current_window, end_of_permission, next_blackout_start, next_window
from driftgate.ports import CloseRequest, PutImageVerdict, PutStop, RemoveStop
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.manifests import NEW_IMAGE, OLD_IMAGE
from driftgate.sim.objects import JsonDict, annotations_of, section
from driftgate.sim.witness import budgets_of
from tests.simulated.deployment import Deployment
from tests.simulated.fate import End, Fate
from tests.simulated.nature import Nature
from tests.simulated.opening import Permission
from tests.simulated.trouble import ApiTrouble, Failure, FlakyLedger
from tests.simulated.two_pools import CALENDAR, GATES, OFTEN, PER_WINDOW, POLICY, SALE, two_pools
from tests.simulated.watchman import Watchman

BUSY_S = 120.0
PAUSE = Stop(cause=StopCause.PAUSE, ref="ada", cluster="demo")


class Life:
    """The cluster `demo` and what happens in it."""

    def __init__(self) -> None:
        self.sim = two_pools()
        self.nature = Nature(self.sim)
        self.deployment = Deployment(self.sim, POLICY)
        self.watchman = Watchman(self.sim, self.permit, PER_WINDOW, lambda: self._slept)
        self.api = ApiTrouble(self.sim.clock, self._trouble)
        self.deployment.gateway.before, self.deployment.gateway.after = self.api.before, self.api.after
        self.ledger = FlakyLedger(MemoryLedger(self.sim.clock), self.sim.clock, self._trouble)
        self.deployment.world.ledger = self.ledger
        self._slept = False
        self._more = 0
        self._after_opening: list[tuple[float, Callable[[], None]]] = []
        self.watchman.on_opened = self._opened

    # --- the truth ---------------------------------------------------------------------------------

    def permit(self, pool: str, at: datetime, is_now: bool = False) -> Permission:
        """What really speaks against an opening at this moment."""
        stored = self.sim.store.get(NODEPOOLS, pool)
        annotations = annotations_of(stored.obj) if stored is not None else {}
        world, window = self.deployment.world, current_window((OFTEN,), at)
        facts = {
            "the mode is observe": world.policy.default.mode is Mode.OBSERVE,
            "no window is open": window is None and not is_now,
            "a blackout": SALE.covers(at),
            "the calendar is closed": world.calendars.states.get(CALENDAR, "OPEN") != "OPEN",
            "a person paused": any(s.cause is StopCause.PAUSE for s in self.ledger.real.load("demo").stops),
            "the pool is paused": PAUSED_ANNOTATION in annotations,
            "the alarm is not good": world.alarms.states.get("demo_5xx") != "OK" or world.alarms.failure is not None,
            "the ledger is down": self.ledger.is_down,
        }
        black = next_blackout_start((SALE,), at)
        return Permission(
            against=tuple(fact for fact, holds in facts.items() if holds),
            window=None if window is None or is_now else window.start,
            end=black if is_now else end_of_permission((OFTEN,), (SALE,), at),
        )

    @property
    def is_healthy(self) -> bool:
        """Whether everything that driftgate asks answers."""
        return self.api.is_over and not self.ledger.is_down and self.deployment.world.alarms.failure is None

    def _trouble(self) -> None:
        self.watchman.disturb()

    # --- time --------------------------------------------------------------------------------------

    def soon(self, seconds: float, act: Callable[[], None]) -> None:
        """It happens so many seconds from now, whoever is at work then."""
        if seconds == 0:
            self._happen(act)
        else:
            self.sim.agenda.after(seconds, lambda: self._happen(act))

    def _happen(self, act: Callable[[], None]) -> None:
        act()
        self.watchman.facts_changed()

    def after_opening(self, seconds: float, act: Callable[[], None]) -> None:
        """It happens so many seconds after the next opening."""
        self._after_opening.append((seconds, act))

    def _opened(self) -> None:
        waiting, self._after_opening = self._after_opening, []
        for seconds, act in waiting:
            self.sim.agenda.after(seconds, partial(self._happen, act))

    def pass_time(self, seconds: float) -> None:
        self._slept = False
        self.deployment.run(seconds)

    def jump(self, seconds: float) -> None:
        """The schedule is silent meanwhile. Karpenter looks as often as ever only in the first two minutes."""
        self.deployment.is_gone = True
        self.watchman.disturb()
        world, usual = self.sim.world, self.sim.world.timings
        self.sim.advance(min(seconds, BUSY_S))
        world.timings = replace(usual, idle_s=300.0)
        self.sim.advance(max(0.0, seconds - BUSY_S))
        world.timings = usual
        self.deployment.is_gone = False

    def until_edge(self) -> float:
        """Seconds until the next beginning or end of a window or of the blackout."""
        now = self.sim.clock.now()
        window = current_window((OFTEN,), now)
        coming = next_window((OFTEN,), now)
        edges = [SALE.start, SALE.end, window.end if window else None, coming.start if coming else None]
        return min((edge - now).total_seconds() for edge in edges if edge is not None and edge > now)

    # --- people ------------------------------------------------------------------------------------

    def alarm(self, state: str, *, told: bool) -> None:
        """The guard's alarm changes; where that is told in good health, the gates are shut at once."""
        self.deployment.alarm(state, told=told)
        if state == "ALARM" and told:
            self._must_be_shut("the alarm")

    def ask_for_now(self) -> None:
        """As `driftgate roll --now`: the first slice here, what follows by the queue."""
        self.deployment.look("now", NowRequest(person="ada", reason="a fix"))

    def pause(self) -> None:
        """As `driftgate pause`: a stop, and a closing."""
        self.ledger.real.commit("demo", PutStop(replace(PAUSE, at=self.sim.clock.now())))
        request = CloseRequest(cluster="demo", cause=StopCause.PAUSE, ref=PAUSE.ref)
        self.deployment.attempt(lambda: close_budgets(self.deployment.pipeline(), request).raise_failures())
        self._must_be_shut("the pause")

    def resume(self) -> None:
        self.ledger.real.commit("demo", RemoveStop(PAUSE))

    def annotate_pause(self, pool: str, *, paused: bool) -> None:
        def edit(obj: JsonDict) -> None:
            annotations = section(obj, "metadata", "annotations")
            annotations.pop(PAUSED_ANNOTATION, None)
            annotations.update({PAUSED_ANNOTATION: "a release"} if paused else {})

        self.sim.writes.change(NODEPOOLS, pool, edit, "kubectl")

    def set_mode(self, mode: Mode) -> None:
        """The owner deploys another configuration."""
        chosen = replace(POLICY.default, mode=mode)
        self.deployment.world.policy = replace(POLICY, default=chosen, pools=tuple((p, chosen) for p in GATES))

    def edit_budgets(self, pool: str, change: Callable[[list[JsonDict], datetime], list[JsonDict]]) -> None:
        """A person edits the list that stands there now, whatever it is."""
        stored = self.sim.store.get(NODEPOOLS, pool)
        if stored is not None:
            self.sim.set_budgets(pool, change(list(budgets_of(stored.obj)), self.sim.clock.now()))

    def clear_image(self) -> None:
        """A person says that the new image is fine."""
        for image in (NEW_IMAGE, OLD_IMAGE):
            verdict = ImageVerdict(image=image, verdict=Approval.CLEARED, at=self.sim.clock.now(), by="ada")
            self.ledger.real.commit("demo", PutImageVerdict(verdict))

    def delete_pool(self, pool: str) -> None:
        if self.sim.store.get(NODEPOOLS, pool) is not None:
            self.sim.writes.delete(NODEPOOLS, pool, "kubectl")

    def create_pool(self, pool: str) -> None:
        if self.sim.store.get(NODEPOOLS, pool) is None:
            self.sim.add_nodepool(pool, GATES[pool], expire_after="720h")

    def _must_be_shut(self, why: str) -> None:
        """I8: closing is always allowed, comes first, and needs nothing but the API server."""
        standing = [o for o in self.watchman.standing() if o.guard_at > self.sim.clock.now()]
        if standing and self.api.is_over:
            self.watchman.broken.append(f"{standing[0].pool} stands open after {why}")

    # --- driftgate ---------------------------------------------------------------------------------

    def recover(self) -> None:
        """Everything answers, nobody objects, every node is well, and one more in each pool is drifted."""
        self.alarm("OK", told=False)
        self.deployment.world.calendars.states[CALENDAR] = "OPEN"
        self.resume()
        self.set_mode(Mode.ACT)
        self.restore()
        self.nature.heal()
        self.nature.set_image(NEW_IMAGE)
        self.clear_image()
        for pool in GATES:
            self.create_pool(pool)
            self.annotate_pause(pool, paused=False)
            if not self.watchman.standing(pool):
                self.sim.set_budgets(pool, GATES[pool])
            self._more += 1
            drifted_since = self.sim.clock.now() - timedelta(days=9)
            self.sim.add_node(pool, f"{pool}-more{self._more}", drifted_since=drifted_since, pods=self._more % 2 * 4)

    def fail_api(self, failure: Failure, method: str, resource: str, seconds: float) -> None:
        self.api.add(failure, method, resource, seconds)

    def fail_ledger(self, seconds: float) -> None:
        self.ledger.down_until = self.sim.clock.now() + timedelta(seconds=seconds)
        self.sim.agenda.after(seconds, self.watchman.facts_changed)

    def lose_ledger(self) -> None:
        """Everything that it knew is gone; what stands on the NodePools is not."""
        self.ledger.real = MemoryLedger(self.sim.clock)
        self.watchman.ledger_lost()

    def fail_alarms(self, *, failing: bool) -> None:
        self.deployment.world.alarms.failure = AwsUnavailableError("throttled") if failing else None

    def fail_publisher(self, *, failing: bool) -> None:
        self.deployment.world.publisher.failure = AwsUnavailableError("no topic") if failing else None

    def restore(self) -> None:
        """Every port answers again."""
        self.deployment.fate = None
        self.api.outages.clear()
        self.ledger.down_until = None
        self.fail_alarms(failing=False)
        self.fail_publisher(failing=False)

    def doom(self, at_call: int, end: End, seconds: float) -> None:
        """The next worker meets this fate."""
        self.deployment.fate = Fate(
            clock=self.sim.clock, at_call=at_call, end=end, seconds=seconds, on_met=self._met_fate
        )

    def doom_in(self, seconds: float) -> None:
        """The next worker is dead so many seconds from now."""
        at = self.sim.clock.now() + timedelta(seconds=seconds)
        self.deployment.fate = Fate(clock=self.sim.clock, at=at, on_met=self._met_fate)

    def _met_fate(self) -> None:
        self._slept = True
        self.watchman.disturb()
