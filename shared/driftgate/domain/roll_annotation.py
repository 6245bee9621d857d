"""What `driftgate.dev/roll` on a NodePool says: the opening that stands there, or a short note of the last one.

It is written in the same patch as the budgets, so that a lost ledger loses nothing. Anybody may edit an annotation,
so reading never fails: what cannot be read is a value too, and what can be read is believed only if it fits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, TypeVar

from driftgate.domain.budget import Budget, to_objects
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.fields import Fields
from driftgate.domain.gate import may_be_baseline, opened_list
from driftgate.domain.guard import floor_minute
from driftgate.domain.jsonvalue import rfc3339


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """The last opening is closed. `count` is the number of openings in the window, that one included."""

    deployment: str
    id: str
    window_key: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRoll:
    """An opening that is not closed yet. Times are UTC; `opened` is the list as last written, with its guard."""

    deployment: str
    id: str
    opened_at: datetime
    guard_at: datetime
    revert_by: datetime
    baseline: tuple[Budget, ...]
    opened: tuple[Budget, ...]
    window_key: str
    count: int

    def tombstone(self) -> Tombstone:
        """What is left of this opening once it is closed."""
        return Tombstone(deployment=self.deployment, id=self.id, window_key=self.window_key, count=self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """The annotation is there and says nothing that can be read; `problem` names the place and why."""

    raw: str
    problem: str


RollAnnotation: TypeAlias = LiveRoll | Tombstone | Unreadable
T = TypeVar("T")

_LIVE_KEYS = frozenset({"openedAt", "guardAt", "revertBy", "baseline", "opened"})
_PLACE = "driftgate.dev/roll"


def to_text(annotation: LiveRoll | Tombstone) -> str:
    """Compact JSON, the same bytes for the same value."""
    entry: dict[str, object] = {"deployment": annotation.deployment, "id": annotation.id}
    if isinstance(annotation, LiveRoll):
        entry |= {
            "openedAt": rfc3339(annotation.opened_at),
            "guardAt": rfc3339(annotation.guard_at),
            "revertBy": rfc3339(annotation.revert_by),
            "baseline": to_objects(annotation.baseline),
            "opened": to_objects(annotation.opened),
        }
    entry |= {"windowKey": annotation.window_key, "count": annotation.count}
    return json.dumps(entry, separators=(",", ":"))


def from_text(raw: str | None) -> RollAnnotation | None:
    """What the annotation says; None where there is none. Never raises. Unknown fields are left to newer versions."""
    if raw is None:
        return None
    try:
        return _read(json.loads(raw))
    except InvalidInputError as error:
        return Unreadable(raw=raw, problem=str(error))
    except (ValueError, RecursionError, OverflowError) as error:
        return Unreadable(raw=raw, problem=f"{_PLACE}: {error}")


def is_believable(live: LiveRoll) -> bool:
    """Whether the record, standing alone, may be acted on.

    Its baseline must be one that driftgate could have opened, and its opened list what driftgate makes of it:
    so putting the baseline back shuts Drifted and leaves every other reason as it is.
    """
    return may_be_baseline(live.baseline) and live.opened == opened_list(live.baseline, live.guard_at)


def may_write_tombstone(current: RollAnnotation | None, roll_id: str) -> bool:
    """Whether a closing of this roll may replace the annotation: not if it tells of a newer roll.

    Ids sort by time.
    """
    return not isinstance(current, LiveRoll | Tombstone) or current.id <= roll_id


def _read(entry: object) -> LiveRoll | Tombstone:
    fields = Fields(entry, _PLACE)
    if isinstance(entry, Mapping) and _LIVE_KEYS.isdisjoint(entry):
        return _tombstone(fields)
    return _live(fields)


def _tombstone(fields: Fields) -> Tombstone:
    return Tombstone(
        deployment=fields.text("deployment"),
        id=fields.required_text("id"),
        window_key=fields.required_text("windowKey"),
        count=_required_count(fields),
    )


def _live(fields: Fields) -> LiveRoll:
    return LiveRoll(
        deployment=fields.required_text("deployment"),
        id=fields.required_text("id"),
        opened_at=_required_instant(fields, "openedAt"),
        guard_at=_full_minute(fields, "guardAt"),
        revert_by=_required_instant(fields, "revertBy"),
        baseline=_budgets(fields, "baseline"),
        opened=_budgets(fields, "opened"),
        window_key=fields.required_text("windowKey"),
        count=_required_count(fields),
    )


def _required(fields: Fields, key: str, value: T | None) -> T:
    if value is None:
        raise InvalidInputError(f"{key} is missing", place=fields.place)
    return value


def _required_instant(fields: Fields, key: str) -> datetime:
    return _required(fields, key, fields.instant(key))


def _full_minute(fields: Fields, key: str) -> datetime:
    at = _required_instant(fields, key)
    if at != floor_minute(at):
        raise InvalidInputError("should be a full minute", place=f"{fields.place}.{key}")
    return at


def _required_count(fields: Fields) -> int:
    _required(fields, "count", fields.integer("count"))
    return fields.count("count", 0)


def _budgets(fields: Fields, key: str) -> tuple[Budget, ...]:
    entries = _required(fields, key, fields.entries(key))
    return tuple(Budget.from_object(item, place=place) for item, place in entries)
