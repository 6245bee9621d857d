"""Typed access to JSON-like objects, so that nothing below the edge needs `Any`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
JsonObject: TypeAlias = Mapping[str, object]


def mapping(value: object) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def child(value: object, *keys: str) -> JsonObject:
    """The object found by following keys, or an empty one."""
    for key in keys:
        value = mapping(value).get(key)
    return mapping(value)


def items(value: object) -> Sequence[object]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def text(value: object) -> str | None:
    """The value if it is a string, else None."""
    return value if isinstance(value, str) else None


def integer(value: object) -> int | None:
    """The value if it is a whole number (not a bool), else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def strings(value: object) -> dict[str, str]:
    """The string entries of an object of strings (labels, annotations)."""
    return {str(key): entry for key, entry in mapping(value).items() if isinstance(entry, str)}


def instant(value: object) -> datetime | None:
    """An RFC 3339 time as an aware UTC datetime; None where there is none or it has no zone."""
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else None
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value)
        return parsed.astimezone(UTC) if parsed.tzinfo else None
    except (ValueError, OverflowError):
        return None


def rfc3339(at: datetime | None) -> str | None:
    """The instant as Kubernetes writes it (UTC, `Z`, fractions only where there are any)."""
    if at is None:
        return None
    at = at.astimezone(UTC)
    shown = at.isoformat(timespec="milliseconds" if at.microsecond else "seconds")
    return shown.replace("+00:00", "Z")


def compact(value: object) -> str:
    """The value as JSON on one line, for a sentence that quotes it."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
