"""Runs actors one at a time in virtual time; each stops at every outside call and goes on when its turn has come.

An actor is a thread that holds still but for its turn, so a run is the same every time. Nothing here knows driftgate.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from driftgate.domain.errors import DriftgateError
from driftgate.sim.cluster import SimCluster
from tests.interleaving.schedule import Act, Call, Source, Step

T = TypeVar("T")
COST_S = 0.02
"""What a call takes when nothing happens to it."""


class Killed(BaseException):
    """The actor is gone: whatever it still tries does not happen."""


class Stage:
    """The agenda of a run. `after_step` is called whenever anything was done."""

    def __init__(self, sim: SimCluster, source: Source) -> None:
        self.sim = sim
        self.source = source
        self.actors: list[Actor] = []
        self.after_step: Callable[[], None] = lambda: None
        self.log: list[str] = []
        self.in_transit = 0
        """Effects whose callers were told that the answer is lost, and that are still to come."""
        self.start = sim.clock.now()
        self._agenda: list[tuple[datetime, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self.back = threading.Semaphore(0)

    def now(self) -> datetime:
        return self.sim.clock.now()

    def at(self, when: datetime, do: Callable[[], None]) -> None:
        heapq.heappush(self._agenda, (when, next(self._order), do))

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        self.at(self.now() + timedelta(seconds=seconds), do)

    def begin(self, actor: Actor) -> None:
        self.actors.append(actor)
        self.after(COST_S, actor.resume)

    def run(self, until: datetime, *, or_when: Callable[[], bool] = lambda: False) -> None:
        """Does everything that is due until then, in order."""
        while self._agenda and self._agenda[0][0] <= until and not or_when():
            when, _, do = heapq.heappop(self._agenda)
            self._pass_time(when)
            do()
            self.after_step()
        if not or_when():
            self._pass_time(until)
            self.after_step()

    def _pass_time(self, until: datetime) -> None:
        self.sim.advance(max(0.0, (until - self.now()).total_seconds()))

    def say(self, who: str, what: str) -> None:
        """A line of the run's story."""
        self.log.append(f"{(self.now() - self.start).total_seconds():8.2f} {who:<10} {what}")

    def close(self) -> None:
        """Ends every thread that still waits for its turn."""
        for actor in self.actors:
            actor.end()


class Actor:
    """One thread of work, called `name` in schedules. `done` is called when it ended, however it did."""

    def __init__(
        self, stage: Stage, name: str, work: Callable[[Actor], None], done: Callable[[Actor], None] = lambda _: None
    ) -> None:
        self.stage = stage
        self.name = name
        self.is_dead = False
        self.is_over = False
        self.failure: BaseException | None = None
        self._work = work
        self._done = done
        self._nth: Counter[str] = Counter()
        self._go = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def resume(self) -> None:
        """Lets the actor go on until its next stop."""
        if self.is_over:
            return
        if self._thread.ident is None:
            self._thread.start()
        self._go.release()
        self.stage.back.acquire()
        self._tell_end()

    def _tell_end(self) -> None:
        if self.is_over:
            self._done(self)

    def end(self) -> None:
        self.is_dead = True
        self._done = lambda _: None
        if self._thread.ident is not None and not self.is_over:
            self.resume()

    def _run(self) -> None:
        self._go.acquire()
        try:
            if not self.is_dead:
                self._work(self)
        except Killed:
            pass
        except BaseException as error:
            self.failure = error
        self.is_over = True
        self.stage.back.release()

    def pause(self, seconds: float) -> None:
        """Gives way for that long. Raises Killed where the actor does not live to see the end of it."""
        if self.is_dead:
            raise Killed
        self.stage.after(seconds, self.resume)
        self.stage.back.release()
        self._go.acquire()
        if self.is_dead:
            raise Killed

    def look(self, name: str) -> None:
        """A stop at which the actor can only be frozen."""
        if self.is_dead:
            raise Killed
        step = self._choose(Call(self.name, name, self._count(name)))
        if step.act is Act.WAIT:
            self.pause(step.seconds)

    def call(
        self,
        name: str,
        do: Callable[[], T],
        lost: type[DriftgateError] | None = None,
        errors: tuple[Callable[[], DriftgateError], ...] = (),
        *,
        is_write: bool = False,
    ) -> T:
        """One outside call. Raises what became of it."""
        if self.is_dead:
            raise Killed
        call = Call(self.name, name, self._count(name), lost, errors, is_write)
        step = self._choose(call)
        self.pause(COST_S + (step.seconds if step.act is Act.WAIT else 0.0))
        return self._happen(call, step, do)

    def _happen(self, call: Call, step: Step, do: Callable[[], T]) -> T:
        if step.act is Act.DIE_BEFORE:
            raise self._die()
        if step.act is Act.FAIL and call.errors:
            raise call.errors[step.error]()
        if step.act is Act.LATE and call.lost is not None:
            self.stage.in_transit += 1
            self.stage.after(step.seconds, lambda: self._land(call, do))
            raise call.lost("the answer never came")
        answer = do()
        if step.act is Act.DIE_AFTER:
            raise self._die()
        if step.act is Act.LOSE and call.lost is not None:
            raise call.lost("the answer never came")
        return answer

    def _die(self) -> Killed:
        self.is_dead = True
        return Killed()

    def _land(self, call: Call, do: Callable[[], object]) -> None:
        self.stage.in_transit -= 1
        try:
            do()
            self.stage.say(self.name, f"{call.name} #{call.nth} lands late")
        except DriftgateError as error:
            self.stage.say(self.name, f"{call.name} #{call.nth} comes late and is refused: {error}")

    def _count(self, name: str) -> int:
        self._nth[name] += 1
        return self._nth[name]

    def _choose(self, call: Call) -> Step:
        step = self.stage.source.choose(call)
        if step.act is not Act.GO:
            self.stage.say(self.name, f"{call.name} #{call.nth}: {step.act} {step.seconds or ''}")
        return step
