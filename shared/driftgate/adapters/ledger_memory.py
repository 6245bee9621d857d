"""A ledger that lives as long as the process: for one run on a laptop, and the model the others are held to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from threading import Lock

from driftgate.adapters.ledger_book import Book, fleet_of, state_of
from driftgate.adapters.ledger_rules import committed, lease_request, leased, released
from driftgate.domain.ledger import LeaseRecord
from driftgate.ports import Clock, LedgerChange, LedgerState


class MemoryLedger:
    """Safe to use from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._book: Book = {}

    def load(self, cluster: str) -> LedgerState:
        return state_of(self._book, cluster, self._clock.now())

    def load_fleet(self) -> Mapping[str, LedgerState]:
        return fleet_of(self._book)

    def commit(self, cluster: str, *changes: LedgerChange) -> None:
        with self._lock:
            self._book = committed(self._book, cluster, changes)

    def acquire_lease(self, cluster: str, holder: str, now: datetime, ttl: timedelta) -> LeaseRecord:
        with self._lock:
            self._book, lease = leased(self._book, lease_request(cluster, holder, now, ttl), now)
        return lease

    def release_lease(self, lease: LeaseRecord) -> None:
        with self._lock:
            self._book = released(self._book, lease)
