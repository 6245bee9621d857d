"""What to write instead of a schedule that Karpenter's cron refuses.

Only words: nothing here decides whether a schedule is valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

_ZONES = ("TZ=", "CRON_TZ=")
_NO_ZONE = "a schedule takes no time zone (a budget's is always in UTC)"


class Bounds(Protocol):
    """The part of a field's rule that advice needs."""

    @property
    def low(self) -> int: ...

    @property
    def high(self) -> int: ...


def unreadable(field: str, piece: str, part: str) -> str:
    """Why a part is neither number nor name, for what people bring along from other cron dialects."""
    if "#" in piece:
        return f"{piece!r}: Karpenter's cron has no '#' (the nth weekday of a month)"
    if part.upper() in ("L", "W") or (part.upper().endswith(("L", "W")) and part[:-1].isdigit()):
        return f"{piece!r}: Karpenter's cron has no 'L' (last) and no 'W' (nearest working day)"
    if part.startswith(_ZONES):
        return _NO_ZONE
    return f"{part!r} is no {field}"


def known_name(piece: str, part: str, names: Mapping[str, int]) -> str:
    """The piece with a full name shortened (`monday` to `mon`), "" where that is not what is meant."""
    short = part[:3].lower()
    spelled_out = part.isalpha() and len(part) > len(short) and short in names
    return piece.replace(part, short) if spelled_out else ""


def in_bounds(rule: Bounds, low: int, high: int) -> str:
    """The same values without the one just past the end (7 for Sunday, 24 for midnight), where it wraps to 0."""
    if rule.low != 0 or high != rule.high + 1:
        return ""
    return "0" if low == high else f"{_span(low, rule.high)},0"


def split_in_two(rule: Bounds, piece: str, low: int, high: int, step: int) -> str:
    """A range over the end as two ranges (`sat-sun` to `sat,sun`), or as a list where it has a step."""
    if low > rule.high or high < rule.low or step < 1:
        return ""
    if step > 1:
        size = rule.high - rule.low + 1
        return ",".join(str(rule.low + (value - rule.low) % size) for value in range(low, high + size + 1, step))
    first, last = piece.split("/")[0].split("-")
    lowest, highest = (WEEKDAYS[0], WEEKDAYS[-1]) if first.isalpha() else (str(rule.low), str(rule.high))
    if first.isalpha() and rule.high != len(WEEKDAYS) - 1:
        lowest, highest = MONTHS[0], MONTHS[-1]
    upper = first if low == rule.high else f"{first}-{highest}"
    lower = last if high == rule.low else f"{lowest}-{last}"
    return f"{upper},{lower}"


def without_extras(parts: tuple[str, ...]) -> tuple[str, str]:
    """Why there are not five fields, and the five that are probably meant ("" where that is open)."""
    count = f"a schedule has five fields, this has {len(parts)}"
    if parts and parts[0].startswith(_ZONES):
        return _NO_ZONE, " ".join(parts[1:]) if len(parts) == 6 else ""
    if len(parts) == 6 and parts[0] in ("0", "00"):
        return f"{count}: there is no field for seconds", " ".join(parts[1:])
    return count, ""


def macro(text: str, macros: Mapping[str, str]) -> str:
    """The macro that the text begins with, in any case ("" where there is none)."""
    return next((name for name in macros if text.lower().startswith(name)), "")


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"
