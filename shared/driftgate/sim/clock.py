"""The time of a simulated cluster: real, faster than real, or moved by hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


class SimClock(Protocol):
    """Aware UTC time of the cluster. It fits `driftgate.ports.Clock`."""

    def now(self) -> datetime: ...

    def sleep(self, seconds: float) -> None: ...


class WallClock:
    """Runs by itself, `speed` simulated seconds per real one, from `start` (default: the real time)."""

    def __init__(self, *, start: datetime | None = None, speed: float = 1.0) -> None:
        self._start = start or datetime.now(UTC)
        self._began = time.monotonic()
        self.speed = speed

    def now(self) -> datetime:
        return self._start + timedelta(seconds=(time.monotonic() - self._began) * self.speed)

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds) / self.speed)

    def real_seconds_until(self, at: datetime) -> float:
        """How long to wait, in real seconds, until the simulated instant."""
        return max(0.0, (at - self.now()).total_seconds() / self.speed)


class ManualClock:
    """Stands still until somebody moves it; `sleep` moves the whole cluster (see `SimCluster.advance`)."""

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)
        self.on_sleep: Callable[[float], None] = self._move_by

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.on_sleep(seconds)

    def move_to(self, at: datetime) -> None:
        """Sets the time; it never goes back."""
        self._now = max(self._now, at)

    def _move_by(self, seconds: float) -> None:
        self.move_to(self._now + timedelta(seconds=seconds))
