"""A ledger's book as one JSON document: the form of the ledger file.

`schemaVersion` changes with every change of the form, also with a new field: a document of another version is refused,
never half understood. Must not open a file.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from driftgate.adapters.ledger_book import Book, ClusterRecords
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.fields import Entry, Fields
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.records import (
    counter_from_object,
    counter_to_object,
    image_verdict_from_object,
    image_verdict_to_object,
    lease_from_object,
    lease_to_object,
    read_record,
    roll_from_object,
    roll_to_object,
    stop_from_object,
    stop_to_object,
)
from driftgate.ports import PutLook, Told

SCHEMA_VERSION = 1
T = TypeVar("T")


def book_to_document(book: Book) -> dict[str, object]:
    return {
        "schemaVersion": SCHEMA_VERSION,
        "clusters": [{"cluster": name} | _records_to_object(book[name]) for name in sorted(book)],
    }


def _records_to_object(records: ClusterRecords) -> dict[str, object]:
    return {
        "rolls": [roll_to_object(roll) for _, roll in sorted(records.rolls.items())],
        "counters": [counter_to_object(counter) for _, counter in sorted(records.counters.items())],
        "imageVerdicts": [image_verdict_to_object(verdict) for verdict in records.image_verdicts.values()],
        "told": [told_to_object(told) for _, told in sorted(records.told.items())],
        "stops": [stop_to_object(stop) for _, stop in sorted(records.stops.items())],
        "stopsRevision": records.stops_revision,
        "leases": [] if records.lease is None else [lease_to_object(records.lease)],
        "lastToken": records.last_token,
        "looks": [] if records.look is None else [look_to_object(records.look)],
    }


def book_from_document(document: object) -> Book:
    """The book. Raises InvalidInputError with the field's place where the document is not of this version."""
    fields = Fields(document, "ledger")
    version = fields.integer("schemaVersion")
    if version != SCHEMA_VERSION:
        raise InvalidInputError(
            f"schemaVersion is {version}, this driftgate knows {SCHEMA_VERSION}",
            place="ledger",
            remedy="Use the version of driftgate that wrote it, or another file.",
        )
    entries = _required_entries(fields, "clusters")
    fields.refuse_unknown()
    return dict(read_record(_cluster, entry, place, strict=True) for entry, place in entries)


def _cluster(fields: Fields) -> tuple[str, ClusterRecords]:
    rolls = _each(fields, "rolls", roll_from_object)
    counters = _each(fields, "counters", counter_from_object)
    verdicts = _each(fields, "imageVerdicts", image_verdict_from_object)
    told = _each(fields, "told", told_from_object)
    stops = _each(fields, "stops", stop_from_object)
    leases = _each(fields, "leases", lease_from_object)
    looks = _each(fields, "looks", look_from_object)
    return fields.required_text("cluster"), ClusterRecords(
        rolls={roll.id: roll for roll in rolls},
        counters={counter.window_key: counter for counter in counters},
        image_verdicts={(verdict.image, verdict.pool): verdict for verdict in verdicts},
        told={entry.key: entry for entry in told},
        stops={stop.key: stop for stop in stops},
        stops_revision=fields.count("stopsRevision", 0),
        lease=leases[0] if leases else None,
        last_token=fields.count("lastToken", 0),
        look=looks[0] if looks else None,
    )


def _each(fields: Fields, key: str, read: Callable[..., T]) -> list[T]:
    return [read(entry, place, strict=True) for entry, place in _required_entries(fields, key)]


def _required_entries(fields: Fields, key: str) -> tuple[Entry, ...]:
    """The items of a list that must be there: without it nobody could say that there is nothing."""
    entries = fields.entries(key)
    if entries is None:
        fields.refuse_missing(key)
    return entries or ()


def look_to_object(look: PutLook) -> dict[str, object]:
    return {
        "at": rfc3339(look.at),
        "parameters": list(look.parameters),
        "dueAt": rfc3339(look.due_at),
        "config": look.config,
    }


def look_from_object(entry: object, place: str = "look", *, strict: bool = False) -> PutLook:
    """When a cluster was looked at, and what was seen there. Raises InvalidInputError with the field's place."""
    return read_record(_look, entry, place, strict=strict)


def _look(fields: Fields) -> PutLook:
    return PutLook(_at(fields), fields.texts("parameters"), fields.instant("dueAt"), fields.text("config"))


def told_to_object(told: Told) -> dict[str, object]:
    return {"key": told.key, "fingerprint": told.fingerprint, "at": rfc3339(told.at)}


def told_from_object(entry: object, place: str = "told", *, strict: bool = False) -> Told:
    """What was told. Raises InvalidInputError with the field's place."""
    return read_record(_told, entry, place, strict=strict)


def _told(fields: Fields) -> Told:
    return Told(key=fields.required_text("key"), fingerprint=fields.text("fingerprint"), at=_at(fields))


def _at(fields: Fields) -> datetime:
    at = fields.instant("at")
    if at is None:
        raise InvalidInputError("at is missing", place=fields.place, remedy="Add at, the time of it.")
    return at
