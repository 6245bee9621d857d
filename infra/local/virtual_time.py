"""One clock, moved by hand, for several agendas: a cluster's and the account's."""

from __future__ import annotations

from datetime import datetime, timedelta

from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock


class VirtualTime:
    """Whoever sleeps on the clock lets everything of all agendas happen meanwhile, in the order of time."""

    def __init__(self, clock: ManualClock, *agendas: Agenda) -> None:
        self._clock = clock
        self._agendas = agendas
        clock.on_sleep = self.advance

    def advance(self, seconds: float) -> None:
        until = self._clock.now() + timedelta(seconds=seconds)
        while (due := self._next(until)) is not None:
            due[1].run_until(max(due[0], self._clock.now()))
        self._clock.move_to(until)

    def _next(self, until: datetime) -> tuple[datetime, Agenda] | None:
        found = [(at, agenda) for agenda in self._agendas if (at := agenda.next_at()) is not None and at <= until]
        return min(found, key=lambda each: each[0], default=None)
