"""The DynamoDB ledger's table: which record is which item, and which conditions a change carries.

Keys are `pk` and `sk`, both strings; parts are joined by `#` (a `#` within a part is written %23).

    pk               sk                        written by            read by
    fleet            roll#<cluster>#<id>       every PutRoll         load_fleet   a copy, while the roll is unfinished
    fleet            stops#<cluster>           stops                 both         one item per scope, fleet: stops#*
    fleet            lease#<cluster>           leases                both         stays after release: tokens only grow
    fleet            look#<cluster>            PutLook               both
    cluster#<name>   roll#<id>                 every PutRoll         load         the roll itself, with its version
    cluster#<name>   counter#<window key>      PutCounter            load
    cluster#<name>   verdict#<image>[#<pool>]  PutImageVerdict       load
    cluster#<name>   told#<key>                PutTold               load

So a heartbeat is one Query of the small partition `fleet`, whatever history there is. All stops of one scope are
attributes of one item beside their revision `rev`: a read never sees the one without the other. A record is JSON in
`body`; the other attributes (`version`, `taken`, `unused`, `rev`, `holder`, `token`) exist for conditions. `v` is the
schema version; `ttl` (epoch seconds) is only cleaning: nothing is judged by whether an item is still there.

Must not call AWS.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from driftgate.adapters.ledger_book import KEPT_AFTER_END, Book, ClusterRecords
from driftgate.adapters.ledger_document import look_from_object, told_from_object
from driftgate.domain.errors import InvalidInputError, LedgerCorruptError
from driftgate.domain.ledger import FLEET, LeaseRecord, Stop
from driftgate.domain.records import (
    counter_from_object,
    image_verdict_from_object,
    lease_from_object,
    lease_to_object,
    roll_from_object,
    stop_from_object,
)

SCHEMA_VERSION = 1
FLEET_PARTITION = "fleet"
STOP_PREFIX = "stop:"
KEPT_WITHOUT_END = timedelta(days=400)

Item = dict[str, Any]
T = TypeVar("T")


def key(pk: str, *sk: str) -> Item:
    """The key of an item; the partition is given whole, the parts of the sort key one by one."""
    return {"pk": {"S": pk}, "sk": {"S": joined(*sk)}}


def joined(*parts: str) -> str:
    return "#".join(part.replace("%", "%25").replace("#", "%23") for part in parts)


def partition_of(cluster: str) -> str:
    return joined("cluster", cluster)


def heartbeat_keys(cluster: str) -> list[Item]:
    """What a load reads of the partition `fleet`: the cluster's stops, lease and look, and the fleet's stops."""
    names = [("lease", cluster), ("look", cluster), *(("stops", name) for name in dict.fromkeys((FLEET, cluster)))]
    return [key(FLEET_PARTITION, *name) for name in names]


def item(at: Item, kind: str, cluster: str, body: object, **attributes: Item) -> Item:
    """A whole item. Attributes are in DynamoDB's own form."""
    described = {"v": {"N": str(SCHEMA_VERSION)}, "kind": {"S": kind}, "cluster": {"S": cluster}}
    return at | described | {"body": {"S": as_json(body)}} | attributes


def lease_item(cluster: str, lease: LeaseRecord | None, token: int) -> Item:
    """The lease, or None for one that was given back; the token stays either way."""
    body = None if lease is None else lease_to_object(lease)
    holder = {"S": "" if lease is None else lease.holder}
    at = key(FLEET_PARTITION, "lease", cluster)
    return item(at, "lease", cluster, body, token={"N": str(token)}, holder=holder)


def lease_of(found: Item | None) -> tuple[LeaseRecord | None, int]:
    """The lease in an item and the last token given out. Raises LedgerCorruptError."""
    if found is None:
        return None, 0
    records = book_of([found])[found["cluster"]["S"]]
    return records.lease, records.last_token


def as_json(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, sort_keys=True)


def expires_after_end(ended_at: datetime) -> Item:
    return _epoch(ended_at + KEPT_AFTER_END + timedelta(days=1))


def expires_unused(written_at: datetime) -> Item:
    return _epoch(written_at + KEPT_WITHOUT_END)


def _epoch(at: datetime) -> Item:
    return {"N": str(int(at.timestamp()))}


def book_of(items: Iterable[Item]) -> Book:
    """The records in the items. Raises LedgerCorruptError with the key of the item that cannot be read."""
    grouped: dict[str, dict[str, list[Item]]] = {}
    for found in items:
        _check_version(found)
        kinds = grouped.setdefault(found["cluster"]["S"], {})
        kinds.setdefault(found["kind"]["S"], []).append(found)
    return {cluster: _records(kinds) for cluster, kinds in grouped.items()}


def _check_version(found: Item) -> None:
    try:
        version = int(found["v"]["N"])
        _ = found["cluster"]["S"], found["kind"]["S"]
    except (KeyError, ValueError) as error:
        raise _corrupt(found, "has no v, kind or cluster") from error
    if version > SCHEMA_VERSION:
        raise _corrupt(found, f"has schema version {version}, this driftgate knows {SCHEMA_VERSION}")


def _records(kinds: Mapping[str, list[Item]]) -> ClusterRecords:
    rolls = _each(kinds, "roll", roll_from_object)
    counters = _each(kinds, "counter", counter_from_object)
    verdicts = _each(kinds, "verdict", image_verdict_from_object)
    told = _each(kinds, "told", told_from_object)
    stops = [stop for found in kinds.get("stops", ()) for stop in _stops(found)]
    leases = [found for found in kinds.get("lease", ()) if found.get("holder", {}).get("S")]
    return ClusterRecords(
        rolls={roll.id: roll for roll in rolls},
        counters={counter.window_key: counter for counter in counters},
        image_verdicts={(verdict.image, verdict.pool): verdict for verdict in verdicts},
        told={entry.key: entry for entry in told},
        stops={stop.key: stop for stop in stops},
        stops_revision=sum(number(found, "rev") for found in kinds.get("stops", ())),
        lease=next((_read(found, lease_from_object) for found in leases), None),
        last_token=sum(number(found, "token") for found in kinds.get("lease", ())),
        look=next(iter(_each(kinds, "look", look_from_object)), None),
    )


def _each(kinds: Mapping[str, list[Item]], kind: str, read: Callable[[object, str], T]) -> list[T]:
    return [_read(found, read) for found in kinds.get(kind, ())]


def _read(found: Item, read: Callable[[object, str], T]) -> T:
    try:
        return read(json.loads(found["body"]["S"]), "body")
    except (KeyError, ValueError, InvalidInputError) as error:
        raise _corrupt(found, f"cannot be read: {error}") from error


def _stops(found: Item) -> list[Stop]:
    entries = [found | {"body": value} for name, value in found.items() if name.startswith(STOP_PREFIX)]
    return [_read(entry, stop_from_object) for entry in entries]


def number(found: Item, attribute: str) -> int:
    """A number that the item must have. Raises LedgerCorruptError."""
    try:
        return int(found[attribute]["N"])
    except (KeyError, ValueError) as error:
        raise _corrupt(found, f"has no number {attribute}") from error


def _corrupt(found: Item, why: str) -> LedgerCorruptError:
    place = "/".join(found.get(part, {}).get("S", "?") for part in ("pk", "sk"))
    return LedgerCorruptError(
        f"ledger item {place} {why} · Nothing was overwritten. Use the version of driftgate that wrote it, "
        "or correct the item in the table."
    )
