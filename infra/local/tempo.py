"""When things happen, and who does them: by threads on a running clock, or step by step in virtual time."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from driftgate.ports import Clock
from driftgate.sim.agenda import Agenda

Do = Callable[[], None]


class Tempo:
    """`after` waits in the cluster's time; `hand` is work that may take long, one at a time for each name.

    With `is_threaded` every name has a thread of its own, and the agenda must have been started; without it, work is
    done at once by whoever moves the clock. What breaks is kept in `faults`: nothing ends in silence.
    """

    def __init__(self, agenda: Agenda, *, is_threaded: bool) -> None:
        self._agenda = agenda
        self._hands: dict[str, ThreadPoolExecutor] | None = {} if is_threaded else None
        self._lock = threading.Lock()
        self._stopping = False
        self.faults: list[str] = []

    @property
    def clock(self) -> Clock:
        return self._agenda.clock

    def after(self, seconds: float, do: Do) -> None:
        """Runs it that many seconds of the cluster's time from now; it must not take long."""
        self._agenda.after(seconds, lambda: self._guarded(do))

    def hand(self, name: str, work: Do) -> None:
        if self._hands is None:
            self._guarded(work)
            return
        with self._lock:
            if name not in self._hands:
                self._hands[name] = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
            self._hands[name].submit(self._guarded, work)

    def stop(self) -> None:
        """Nothing new is begun; waits for what is under way."""
        self._stopping = True
        for hand in (self._hands or {}).values():
            hand.shutdown(wait=True, cancel_futures=True)

    def _guarded(self, do: Do) -> None:
        if self._stopping:
            return
        try:
            do()
        except Exception:
            self.faults.append(traceback.format_exc())
