"""What a commit and a lease mean, once for every kind of ledger.

A change gives a new book or raises, so a commit that fails leaves nothing behind. Must not know where a book is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from driftgate.adapters.ledger_book import KEPT_AFTER_END, Book, counts_of, heartbeat_state_of, is_kept, records_of
from driftgate.domain.errors import InvariantError, LeaseHeldError, LedgerConflictError
from driftgate.domain.ledger import LeaseRecord, Stop
from driftgate.ports import (
    ExpectLease,
    ExpectStops,
    LedgerChange,
    PutCounter,
    PutImageVerdict,
    PutLook,
    PutRoll,
    PutStop,
    PutTold,
    RemoveStop,
)


def last_word(changes: Iterable[LedgerChange]) -> tuple[LedgerChange, ...]:
    """The changes with one per record: the last of those without a condition.

    Raises InvariantError for two conditional changes of one record: one of them would judge the other.
    """
    found: dict[object, LedgerChange] = {}
    for change in changes:
        subject = _subject(change)
        if subject in found and isinstance(change, PutRoll | PutCounter | ExpectStops | ExpectLease):
            raise InvariantError(f"one commit says two things of {subject}")
        found[subject] = change
    return tuple(found.values())


def _subject(change: LedgerChange) -> object:
    """What a change is about: two changes of one subject exclude each other."""
    match change:
        case PutRoll(roll):
            return ("roll", roll.id)
        case PutCounter(counter):
            return ("counter", counter.window_key)
        case PutStop(stop) | RemoveStop(stop):
            return ("stop", stop.key)
        case PutImageVerdict(verdict):
            return ("image verdict", verdict.image, verdict.pool)
        case PutTold(told):
            return ("told", told.key)
        case ExpectStops() | ExpectLease() | PutLook():
            return type(change).__name__
    assert_never(change)


def committed(book: Book, cluster: str, changes: Iterable[LedgerChange]) -> Book:
    """The book after the commit.

    Raises LedgerConflictError where a condition does not hold for the book as it was.
    """
    changes = last_word(changes)
    for change in changes:
        _check(book, cluster, change)
    for change in changes:
        book = _applied(book, cluster, change)
    return _with_counted_stops(book, {c.stop.cluster for c in changes if isinstance(c, PutStop | RemoveStop)})


def _check(book: Book, cluster: str, change: LedgerChange) -> None:
    records = records_of(book, cluster)
    match change:
        case PutRoll(roll):
            stored = records.rolls.get(roll.id)
            _expect(f"roll {roll.id}", "version", stored.version if stored else 0, roll.version)
        case PutCounter(counter, expected):
            _expect(f"counter {counter.window_key}", "stored", records.counters.get(counter.window_key), expected)
        case ExpectStops(wanted):
            current = heartbeat_state_of(book, cluster).stops_revision
            _expect(f"stops of {cluster}", "revision", counts_of(current), counts_of(wanted))
        case ExpectLease(holder, token):
            lease = records.lease
            _expect(f"lease of {cluster}", "holder", lease and (lease.holder, lease.token), (holder, token))


def _expect(subject: str, what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise LedgerConflictError(f"{subject}: {what} is {found}, not {wanted}; load again and decide again")


def _applied(book: Book, cluster: str, change: LedgerChange) -> Book:
    records = records_of(book, cluster)
    match change:
        case PutRoll(roll):
            stored = replace(roll, version=roll.version + 1)
            return {**book, cluster: replace(records, rolls={**records.rolls, roll.id: stored})}
        case PutCounter(counter):
            counters = {**records.counters, counter.window_key: counter}
            return {**book, cluster: replace(records, counters=counters)}
        case PutImageVerdict(verdict):
            verdicts = {**records.image_verdicts, (verdict.image, verdict.pool): verdict}
            return {**book, cluster: replace(records, image_verdicts=verdicts)}
        case PutLook():
            return {**book, cluster: replace(records, look=change)}
        case PutTold(told):
            return {**book, cluster: replace(records, told={**records.told, told.key: told})}
        case PutStop(stop) | RemoveStop(stop):
            return _with_stop(book, stop, is_removed=isinstance(change, RemoveStop))
        case ExpectStops() | ExpectLease():
            return book
    assert_never(change)


def _with_stop(book: Book, stop: Stop, *, is_removed: bool) -> Book:
    records = records_of(book, stop.cluster)
    stops = {key: other for key, other in records.stops.items() if key != stop.key}
    if not is_removed:
        stops[stop.key] = stop
    return {**book, stop.cluster: replace(records, stops=stops)}


def _with_counted_stops(book: Book, clusters: Iterable[str]) -> Book:
    counted = dict(book)
    for cluster in clusters:
        records = records_of(book, cluster)
        counted[cluster] = replace(records, stops_revision=records.stops_revision + 1)
    return counted


def cleaned(book: Book, now: datetime) -> Book:
    """The book without rolls that no load has shown for another 90 days."""
    return {
        name: replace(
            records, rolls={id_: roll for id_, roll in records.rolls.items() if is_kept(roll, now - KEPT_AFTER_END)}
        )
        for name, records in book.items()
    }


def next_lease(held: LeaseRecord | None, last_token: int, request: LeaseRecord, now: datetime) -> LeaseRecord:
    """The lease that the request gets: our own renewed (same token), a free or expired one with a new token.

    A holder's name must be one worker's alone: the same name is the same worker.

    Raises LeaseHeldError.
    """
    if held is not None and held.holder == request.holder:
        return replace(held, expires_at=request.expires_at)
    if held is not None and now < held.expires_at:
        raise LeaseHeldError(held.cluster, held.holder, held.acquired_at)
    return replace(request, token=last_token + 1)


def lease_request(cluster: str, holder: str, now: datetime, ttl: timedelta) -> LeaseRecord:
    """A lease as asked for; its token is not known yet."""
    return LeaseRecord(cluster=cluster, holder=holder, token=0, acquired_at=now, expires_at=now + ttl)


def leased(book: Book, request: LeaseRecord, now: datetime) -> tuple[Book, LeaseRecord]:
    """The book with the lease taken or renewed. Raises LeaseHeldError."""
    records = records_of(book, request.cluster)
    lease = next_lease(records.lease, records.last_token, request, now)
    return {**book, request.cluster: replace(records, lease=lease, last_token=lease.token)}, lease


def released(book: Book, lease: LeaseRecord) -> Book:
    """The book without the lease, if it is still the one that stands there; its token stays used."""
    records = records_of(book, lease.cluster)
    current = records.lease
    if current is None or (current.holder, current.token) != (lease.holder, lease.token):
        return book
    return {**book, lease.cluster: replace(records, lease=None)}
