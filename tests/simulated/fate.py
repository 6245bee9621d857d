"""What becomes of one worker: at a chosen outside call, or at a chosen moment, it dies or freezes.

Every port that the worker is given goes through here, so nothing it does escapes its fate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from driftgate.app.pipeline import Pipeline
from driftgate.ports import Clock, Cluster


class Killed(BaseException):
    """The worker is gone: whatever it still tries does not happen."""


class End(StrEnum):
    """What happens at the chosen call."""

    DIES_BEFORE = "dies before it"
    DIES_AFTER = "dies after it"
    SLEEPS = "sleeps before it"


@dataclass(slots=True, kw_only=True)
class Fate:
    """`at_call` counts from 1; `at` is the first moment at which the worker no longer lives. None: never."""

    clock: Clock
    at_call: int | None = None
    at: datetime | None = None
    end: End = End.DIES_BEFORE
    seconds: float = 0.0
    calls: list[str] = field(default_factory=list)
    met_at: datetime | None = None
    is_dead: bool = False
    on_met: Callable[[], None] = lambda: None

    def meet(self, name: str, do: Callable[[], Any]) -> Any:
        """One outside call. Raises Killed where the worker does not live to see its answer."""
        self._must_live()
        self.calls.append(name)
        is_chosen = len(self.calls) == self.at_call
        if is_chosen:
            self.met_at = self.clock.now()
            self.on_met()
        if is_chosen and self.end is End.SLEEPS:
            self.clock.sleep(self.seconds)
        if is_chosen and self.end is End.DIES_BEFORE:
            self._die()
        answer = do()
        if is_chosen and self.end is End.DIES_AFTER:
            self._die()
        return answer

    def _must_live(self) -> None:
        if not self.is_dead and self.at is not None and self.clock.now() >= self.at:
            self.met_at = self.clock.now()
            self.is_dead = True
            self.on_met()
        if self.is_dead:
            raise Killed

    def _die(self) -> None:
        self.is_dead = True
        raise Killed


class Fated:
    """A port whose every call meets its caller's fate; of a watch, every change counts as a call."""

    def __init__(self, port: Any, fate: Fate) -> None:
        self._port = port
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            return self._fate.meet(name, lambda: getattr(self._port, name)(*args, **named))

        return call

    def watch_pool(self, *args: Any) -> Iterator[Any]:
        changes = iter(self._port.watch_pool(*args))
        while (change := self._fate.meet("watch_pool", lambda: next(changes, None))) is not None:
            yield change


@dataclass(frozen=True, slots=True)
class FatedClusters:
    """`ports.Clusters`, with the same fate in every cluster."""

    cluster: Cluster
    fate: Fate

    def connect(self, cluster: str) -> Any:
        return Fated(self.cluster, self.fate)


def fated(pipeline: Pipeline, fate: Fate) -> Pipeline:
    """The pipeline of a worker with this fate. Its clock is nobody's port: time passes for the dead, too."""
    names = ("ledger", "alarms", "calendars", "parameters", "images", "history", "publisher", "queue", "closer")
    ports = {name: Fated(getattr(pipeline, name), fate) for name in names}
    return replace(pipeline, clusters=FatedClusters(pipeline.clusters.connect(""), fate), **ports)  # type: ignore[arg-type]
