"""DynamoDB's read and write units of a call, by the sizes of its items. Pure.

Source: aws docs, amazondynamodb/latest/developerguide/CapacityUnitCalculations and read-write-operations (2026): a
consistent read takes one unit per 4 KB, begun ones included, and one for an item that is not there; a write takes one
per KB, two within a transaction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

READ_BYTES, WRITE_BYTES = 4096, 1024
IN_TRANSACTION = 2
Item = Mapping[str, Mapping[str, Any]]


def item_bytes(item: Item) -> int:
    """Names and values, as UTF-8; driftgate stores text and numbers alone."""
    return sum(len(name.encode()) + len(str(next(iter(value.values()))).encode()) for name, value in item.items())


def query_bytes(items: Iterable[Item]) -> int:
    """What a query reads: its items are added up before they are rounded."""
    return sum(map(item_bytes, items))


def reads(size: float) -> int:
    return max(1, math.ceil(size / READ_BYTES))


def batch_reads(asked: int, found: Iterable[Item]) -> int:
    """Each item is rounded for itself."""
    sizes = [reads(item_bytes(item)) for item in found]
    return sum(sizes) + asked - len(sizes)


def writes(size: float) -> int:
    return max(1, math.ceil(size / WRITE_BYTES))


def transaction_writes(request: Mapping[str, Any]) -> int:
    """Updates, deletions and checks touch small items alone: stops, copies that go, leases."""
    return IN_TRANSACTION * sum(_of_action(action) for action in _actions(request))


def _actions(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for entry in request["TransactItems"]:
        yield from (entry[kind] for kind in entry)


def _of_action(action: Mapping[str, Any]) -> int:
    return writes(item_bytes(action["Item"])) if "Item" in action else 1
