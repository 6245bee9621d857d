"""Reads hand-written or stored records field by field, so that every fault names its place and its remedy.

`jsonvalue` is for what an API server wrote (tolerant); this is for what a person or a ledger wrote (exact).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from driftgate.domain.errors import InvalidInputError
from driftgate.domain.jsonvalue import instant

E = TypeVar("E", bound=StrEnum)


class Fields:
    """One record with its place. Absent and null mean the same: not known.

    Every method raises InvalidInputError, with the field's path, where the value is of another type.
    """

    __slots__ = ("_asked", "_entry", "place")

    def __init__(self, entry: object, place: str) -> None:
        if not isinstance(entry, Mapping):
            raise InvalidInputError(f"should be an object, not {shown(entry)}", place=place)
        self._entry: Mapping[str, object] = entry
        self._asked: dict[str, None] = {}
        self.place = place

    def optional_text(self, key: str) -> str | None:
        value = self._ask(key)
        if value is None or isinstance(value, str):
            return value
        raise self._wrong(key, "text", value, "Put it in quotes.")

    def text(self, key: str) -> str:
        """The text, "" where it is absent."""
        return self.optional_text(key) or ""

    def required_text(self, key: str) -> str:
        value = self.optional_text(key)
        return value if value else self.refuse_missing(key)

    def instant(self, key: str) -> datetime | None:
        """The time as aware UTC; one without a zone is refused, not guessed."""
        value = self._ask(key)
        if value is None:
            return None
        at = instant(value)
        if at is None:
            raise self._wrong(key, "a time with a zone", value, "Write it like 2026-10-17T02:10:00Z.")
        return at

    def integer(self, key: str) -> int | None:
        value = self._ask(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise self._wrong(key, "a whole number", value, "Write it without quotes or fractions.")

    def count(self, key: str, default: int) -> int:
        """A number that cannot be negative."""
        value = self.integer(key)
        if value is not None and value < 0:
            raise self._wrong(key, "0 or more", value, "")
        return default if value is None else value

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._ask(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        raise self._wrong(key, "true or false", value, "")

    def choice(self, key: str, kind: type[E]) -> E | None:
        """The member whose value is written there, in any case of letters."""
        value = self.optional_text(key)
        if value is None:
            return None
        for member in kind:
            if member.value.lower() == value.lower():
                return member
        raise self._wrong(key, "one of " + ", ".join(kind), value, did_you_mean(value, list(kind)))

    def entries(self, key: str) -> tuple[Entry, ...] | None:
        """The items of a list with their places; None where there is no list."""
        value = self._ask(key)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise self._wrong(key, "a list", value, "")
        return tuple((item, f"{self.place}.{key}[{index}]") for index, item in enumerate(value))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty where it is absent."""
        found = []
        for item, place in self.entries(key) or ():
            if not isinstance(item, str):
                raise InvalidInputError(f"should be text, not {shown(item)}", place=place)
            found.append(item)
        return tuple(found)

    def anything(self, key: str) -> object:
        """The value as it stands, for a reader of its own."""
        return self._ask(key)

    def refuse_missing(self, key: str) -> str:
        """Raises InvalidInputError: the record cannot do without this field."""
        raise InvalidInputError(f"{key} is missing", place=self.place, remedy=f"Add {key}.")

    def refuse_unknown(self) -> None:
        """Raises InvalidInputError for the first field that nobody asked for."""
        for key in self._entry:
            if key not in self._asked:
                known = list(self._asked)
                hint = did_you_mean(str(key), known) or "Known here: " + ", ".join(known) + "."
                raise InvalidInputError(f"unknown field {key}", place=self.place, remedy=hint)

    def _ask(self, key: str) -> object:
        self._asked[key] = None
        return self._entry.get(key)

    def _wrong(self, key: str, wanted: str, value: object, remedy: str) -> InvalidInputError:
        message = f"should be {wanted}, not {shown(value)}"
        return InvalidInputError(message, place=f"{self.place}.{key}", remedy=remedy)


Entry = tuple[object, str]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question with the nearest known word, "" where none is near."""
    nearest = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"Did you mean {nearest[0]}?" if nearest else ""


def shown(value: object) -> str:
    """The value as a message can hold it: its kind where it is large."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "a list"
    return "nothing" if value is None else repr(value)[:80]
