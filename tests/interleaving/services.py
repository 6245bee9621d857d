"""What all actors of a world share: the ledger, which can be lost, the FIFO queue, and whoever invokes closers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from driftgate.domain.ledger import LeaseRecord
from driftgate.ports import CloseRequest, Ledger, LedgerChange, LedgerState, WorkMessage
from tests.interleaving.stage import Actor, Stage

VISIBILITY_S = 120.0


class LedgerOfRecord:
    """The ledger that all share. It can be lost, and tells the witness what was committed."""

    def __init__(
        self, make: Callable[[], Ledger], heard: Callable[[LedgerState, Sequence[LedgerChange]], None]
    ) -> None:
        self._make = make
        self._heard = heard
        self.inner = make()

    def lose(self) -> None:
        self.inner = self._make()

    def load(self, cluster: str) -> LedgerState:
        return self.inner.load(cluster)

    def load_fleet(self) -> Mapping[str, LedgerState]:
        return self.inner.load_fleet()

    def commit(self, cluster: str, *changes: LedgerChange) -> None:
        before = self.inner.load(cluster)
        self.inner.commit(cluster, *changes)
        self._heard(before, changes)

    def acquire_lease(self, cluster: str, holder: str, now: datetime, ttl: timedelta) -> LeaseRecord:
        return self.inner.acquire_lease(cluster, holder, now, ttl)

    def release_lease(self, lease: LeaseRecord) -> None:
        self.inner.release_lease(lease)


class FifoQueue:
    """One group: the next message is delivered when the last is done, or when its worker was silent for 2 minutes."""

    def __init__(self, stage: Stage, work: Callable[[WorkMessage, Callable[[Actor], None]], None]) -> None:
        self._stage = stage
        self._work = work
        self._waiting: list[WorkMessage] = []
        self._seen: dict[str, datetime] = {}
        self._receipt = 0

    def send(self, message: WorkMessage) -> None:
        now = self._stage.now()
        last = self._seen.get(message.dedup)
        if last is not None and now - last < timedelta(minutes=5):
            return
        self._seen[message.dedup] = now
        self._waiting.append(message)
        if len(self._waiting) == 1:
            self._stage.after(0.1, self._deliver)

    @property
    def is_idle(self) -> bool:
        return not self._waiting

    def _deliver(self) -> None:
        if not self._waiting:
            return
        self._receipt += 1
        receipt = self._receipt
        self._work(self._waiting[0], lambda actor: self._ended(actor, receipt))
        self._stage.after(VISIBILITY_S, lambda: self._deliver() if receipt == self._receipt else None)

    def _ended(self, actor: Actor, receipt: int) -> None:
        """A worker that failed or died leaves its message to be seen again."""
        if receipt != self._receipt or actor.is_dead or actor.failure is not None:
            return
        self._receipt += 1
        self._waiting.pop(0)
        self._deliver()


class AsyncCloser:
    """Invokes closers without waiting."""

    def __init__(self, close: Callable[[CloseRequest], None]) -> None:
        self._close = close

    def invoke(self, request: CloseRequest) -> None:
        self._close(request)
