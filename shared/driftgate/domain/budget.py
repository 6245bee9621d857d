"""Disruption budgets as values: exactly what `spec.disruption.budgets` holds, and what one entry is.

What an entry means at a moment is in `allowance`, over time in `horizon`. Nothing here reads a schedule, so
closing a gate never depends on one that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from driftgate.domain.errors import InvalidInputError
from driftgate.domain.gosyntax import atoi


class DisruptionReason(StrEnum):
    """Karpenter's reasons for voluntary disruption, in its own spelling."""

    DRIFTED = "Drifted"
    EMPTY = "Empty"
    UNDERUTILIZED = "Underutilized"


KNOWN_FIELDS = ("nodes", "reasons", "schedule", "duration")
MAX_ENTRIES = 50
"""More entries are refused by the API server (`maxItems` of the CRD)."""

NO_LIMIT = 2**31 - 1
"""Karpenter's number for "no limit", and the largest count that it reads as written."""

_ZERO = re.compile(r"0+%?")
_DIGITS = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One entry of `spec.disruption.budgets`, exactly as stored.

    `reasons` None means absent (applies to every reason); an empty tuple applies to none.
    `unknown` keeps fields that this version does not know, so that closing never loses one.
    """

    nodes: str = "10%"
    reasons: tuple[str, ...] | None = None
    schedule: str | None = None
    duration: str | None = None
    unknown: tuple[tuple[str, object], ...] = ()

    @classmethod
    def from_object(cls, entry: object, *, place: str = "") -> Budget:
        """The entry as the API server gives it. Without `nodes` it is 10%, the CRD's default.

        Raises:
            InvalidInputError: a value has a type that the API server would not store; `place` names the field.
        """
        if not isinstance(entry, Mapping):
            raise _wrong_type(place, "an object", entry)
        prefix = f"{place}." if place else ""
        nodes = _text(entry, "nodes", prefix)
        return cls(
            nodes="10%" if nodes is None else nodes,
            reasons=_reasons(entry, prefix),
            schedule=_text(entry, "schedule", prefix),
            duration=_text(entry, "duration", prefix),
            unknown=tuple((str(key), value) for key, value in entry.items() if key not in KNOWN_FIELDS),
        )

    def to_object(self) -> dict[str, object]:
        """The entry as it is written: absent fields stay absent, empty lists stay empty."""
        shown: dict[str, object] = {"nodes": self.nodes}
        if self.reasons is not None:
            shown["reasons"] = list(self.reasons)
        if self.schedule is not None:
            shown["schedule"] = self.schedule
        if self.duration is not None:
            shown["duration"] = self.duration
        return shown | dict(self.unknown)


def from_objects(entries: object, *, place: str = "budgets") -> tuple[Budget, ...]:
    """The whole list as the API server gives it, in its order.

    Raises:
        InvalidInputError: it is not a list, or an entry has a value of a wrong type; names the entry and field.
    """
    if not isinstance(entries, list | tuple):
        raise _wrong_type(place, "a list", entries)
    return tuple(Budget.from_object(entry, place=f"{place}[{index}]") for index, entry in enumerate(entries))


def to_objects(budgets: Iterable[Budget]) -> list[dict[str, object]]:
    """The whole list as it is written, in its order."""
    return [budget.to_object() for budget in budgets]


def applies_to(budget: Budget, reason: DisruptionReason) -> bool:
    """Whether the entry counts for the reason: absent reasons count for all, an empty list for none."""
    return budget.reasons is None or reason in budget.reasons


def is_always_on(budget: Budget) -> bool:
    """Whether the entry counts at every moment because it has neither schedule nor duration."""
    return budget.schedule is None and budget.duration is None


def is_always_on_zero(budget: Budget) -> bool:
    """Whether the entry shuts its reasons at every moment and for every pool size.

    Zero by its spelling (`0`, `00`, `0%`), not because a percentage comes to 0 for a pool without nodes.
    """
    return is_always_on(budget) and _ZERO.fullmatch(budget.nodes) is not None


def is_usable_number(budget: Budget) -> bool:
    """Whether Karpenter reads the number as it is written: above 2147483647 it wraps around or fails."""
    if _DIGITS.fullmatch(budget.nodes) is None:
        return True
    count = atoi(budget.nodes)
    return count is not None and abs(count) <= NO_LIMIT


def _text(entry: Mapping[object, object], field: str, prefix: str) -> str | None:
    value = entry.get(field)
    if field not in entry or isinstance(value, str):
        return value if isinstance(value, str) else None
    raise _wrong_type(f"{prefix}{field}", f"a string, such as {field}: {_EXAMPLES[field]}", value)


def _reasons(entry: Mapping[object, object], prefix: str) -> tuple[str, ...] | None:
    if "reasons" not in entry:
        return None
    value = entry["reasons"]
    if not isinstance(value, list | tuple):
        raise _wrong_type(f"{prefix}reasons", "a list, such as reasons: [Drifted]", value)
    for index, reason in enumerate(value):
        if not isinstance(reason, str):
            raise _wrong_type(f"{prefix}reasons[{index}]", "a string, such as Drifted", reason)
    return tuple(value)


_EXAMPLES = {"nodes": '"1"', "schedule": '"0 2 * * sat"', "duration": "3h"}

_KINDS = {"NoneType": "null", "bool": "a boolean", "int": "a number", "float": "a number", "str": "a string"}


def _wrong_type(place: str, wanted: str, value: object) -> InvalidInputError:
    kind = _KINDS.get(type(value).__name__, "an object" if isinstance(value, Mapping) else "a list")
    return InvalidInputError(f"this is {kind}", place=place, remedy=f"Write {wanted}.")
