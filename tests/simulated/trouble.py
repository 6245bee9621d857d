"""Answers that do not come: from the API server, from the ledger, for as long as the test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from driftgate.domain.errors import (
    AnswerLostError,
    ClusterForbiddenError,
    ClusterUnavailableError,
    LedgerUnavailableError,
)
from driftgate.ports import Clock

TIMEOUT_S = 10.0


class Failure(StrEnum):
    """How a request goes wrong."""

    FORBIDDEN = "403"
    UNAVAILABLE = "503"
    TIMEOUT = "timeout"
    ANSWER_LOST = "the answer is lost"
    """It happened, and nobody is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """Requests of that method whose path ends so fail until then; `resource` "" means every path."""

    failure: Failure
    method: str
    resource: str
    until: datetime

    def hits(self, method: str, path: str, now: datetime) -> bool:
        is_it = not self.resource or f"/{self.resource}" in path
        return now < self.until and method == self.method and is_it


class ApiTrouble:
    """The hooks of a gateway. `noticed` is called whenever a request of ours went wrong."""

    def __init__(self, clock: Clock, noticed: Callable[[], None]) -> None:
        self.clock = clock
        self.noticed = noticed
        self.outages: list[Outage] = []

    def add(self, failure: Failure, method: str, resource: str, seconds: float) -> None:
        until = self.clock.now() + timedelta(seconds=seconds)
        self.outages.append(Outage(failure=failure, method=method, resource=resource, until=until))

    @property
    def is_over(self) -> bool:
        return all(outage.until <= self.clock.now() for outage in self.outages)

    def before(self, method: str, path: str) -> None:
        hit = self._hit(method, path)
        if hit is None or hit.failure is Failure.ANSWER_LOST:
            return
        self.noticed()
        if hit.failure is Failure.FORBIDDEN:
            raise ClusterForbiddenError(f"driftgate cannot {method} {path}")
        if hit.failure is Failure.TIMEOUT:
            self.clock.sleep(TIMEOUT_S)
        raise ClusterUnavailableError(f"{hit.failure} at {method} {path}")

    def after(self, method: str, path: str) -> None:
        hit = self._hit(method, path)
        if hit is None or hit.failure is not Failure.ANSWER_LOST:
            return
        self.noticed()
        self.clock.sleep(TIMEOUT_S)
        raise (AnswerLostError if method == "PATCH" else ClusterUnavailableError)(f"no answer to {method} {path}")

    def _hit(self, method: str, path: str) -> Outage | None:
        now = self.clock.now()
        return next((outage for outage in self.outages if outage.hits(method, path, now)), None)


class FlakyLedger:
    """A ledger that does not answer until `down_until`; a person's own changes go around it, to `real`."""

    def __init__(self, real: Any, clock: Clock, noticed: Callable[[], None]) -> None:
        self.real = real
        self.down_until: datetime | None = None
        self._clock = clock
        self._noticed = noticed

    @property
    def is_down(self) -> bool:
        return self.down_until is not None and self._clock.now() < self.down_until

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            if self.is_down:
                self._noticed()
                raise LedgerUnavailableError(f"the ledger does not answer ({name})")
            return getattr(self.real, name)(*args, **named)

        return call
