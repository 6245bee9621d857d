"""What the model will do, and when: run step by step in virtual time, or by a thread on a running clock."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from driftgate.sim.clock import ManualClock, WallClock

Do = Callable[[], None]


class Agenda:
    """Events run one at a time, in the order of their times, each under the cluster's lock."""

    def __init__(self, clock: ManualClock | WallClock, lock: threading.RLock) -> None:
        self.clock = clock
        self._lock = lock
        self._due = threading.Condition(threading.Lock())
        self._events: list[tuple[datetime, int, Do]] = []
        self._count = itertools.count()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._failure: BaseException | None = None

    def after(self, seconds: float, do: Do) -> None:
        """Runs it that many simulated seconds from now."""
        self.at(self.clock.now() + timedelta(seconds=seconds), do)

    def at(self, when: datetime, do: Do) -> None:
        with self._due:
            heapq.heappush(self._events, (when, next(self._count), do))
            self._due.notify_all()

    def run_until(self, until: datetime) -> None:
        """Moves a manual clock to the instant, running everything due on the way."""
        if not isinstance(self.clock, ManualClock):
            raise TypeError("only a manual clock can be moved")
        while (event := self._take(until)) is not None:
            self.clock.move_to(event[0])
            self._run(event[2])
        self.clock.move_to(until)

    def next_at(self) -> datetime | None:
        """When the next event is due, None where nothing is planned."""
        with self._due:
            return self._events[0][0] if self._events else None

    def _take(self, until: datetime) -> tuple[datetime, int, Do] | None:
        with self._due:
            if self._events and self._events[0][0] <= until:
                return heapq.heappop(self._events)
            return None

    def _run(self, do: Do) -> None:
        with self._lock:
            do()

    def start(self) -> None:
        """Runs events as they become due, in a thread, on a running clock."""
        if isinstance(self.clock, WallClock) and self._thread is None:
            self._thread = threading.Thread(target=self._loop, args=(self.clock,), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the thread. Raises what an event raised, so that a broken model is never silent."""
        with self._due:
            self._stopping = True
            self._due.notify_all()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _loop(self, clock: WallClock) -> None:
        try:
            while not self._stopping:
                event = self._take(clock.now())
                if event is not None:
                    self._run(event[2])
                else:
                    self._wait(clock)
        except BaseException as error:
            self._failure = error

    def _wait(self, clock: WallClock) -> None:
        with self._due:
            if not self._stopping:
                due = self._events[0][0] if self._events else None
                self._due.wait(None if due is None else clock.real_seconds_until(due))
