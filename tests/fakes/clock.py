"""A clock that stands still until it is told to move; sleeping moves it."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.factories import NOW


class FakeClock:
    """Starts at the moment of the common case."""

    def __init__(self, now: datetime = NOW) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def advance(self, by: timedelta) -> None:
        self._now += by
