"""Durations as Go writes them: `3h`, `1h30m`, `4h0m0s`. Kubernetes, Karpenter and driftgate.yaml use them.

Read as Go reads them, overflow included: a budget whose duration Go cannot hold keeps Karpenter from decoding
the whole NodePool.
"""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache

from driftgate.domain.errors import InvalidInputError

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LIMIT = 2**63
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^.0-9]+)")


@lru_cache(maxsize=256)
def parse_duration(text: str) -> timedelta:
    """The length that the text means, cut to whole microseconds.

    Source: Go 1.26, src/time/format.go, ParseDuration.

    Raises:
        InvalidInputError: not a Go duration, or beyond what Go can hold (about 292 years).
    """
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return timedelta(0)
    nanoseconds = _sum_of_parts(rest, text)
    if nanoseconds > _LIMIT - (sign == 1):
        raise _too_long(text)
    return sign * timedelta(microseconds=nanoseconds // 1_000)


def format_duration(length: timedelta) -> str:
    """The shortest text that `parse_duration` reads as this length: `3h`, `1h30m`, `90s` as `1m30s`, `0s`."""
    if length < timedelta(0):
        return f"-{format_duration(-length)}"
    minutes, seconds = divmod(length, timedelta(minutes=1))
    parts = [(minutes // 60, "h"), (minutes % 60, "m")]
    shown = "".join(f"{count}{unit}" for count, unit in parts if count)
    if seconds or not shown:
        shown += f"{seconds.total_seconds():.6f}".rstrip("0").rstrip(".") + "s"
    return shown


def _sum_of_parts(rest: str, text: str) -> int:
    total, position = 0, 0
    while position < len(rest) or not rest:
        part = _PART.match(rest, position)
        if part is None or not (part[1] or part[2]) or part[3] not in _NANOSECONDS:
            raise InvalidInputError(
                f"{text!r} is not a duration", remedy="Write hours and minutes, such as 3h or 1h30m."
            )
        total += _nanoseconds(part[1], part[2] or "", part[3])
        if total > _LIMIT:
            raise _too_long(text)
        position = part.end()
    return total


def _nanoseconds(whole: str, fraction: str, unit: str) -> int:
    size = _NANOSECONDS[unit]
    digits = whole.lstrip("0")
    if len(digits) > len(str(_LIMIT)):
        return _LIMIT + 1
    exact = int(digits or "0") * size
    if fraction:
        exact += int(int(fraction[:18]) * (size / 10 ** len(fraction[:18])))
    return exact


def _too_long(text: str) -> InvalidInputError:
    shown = text if len(text) <= 24 else f"{text[:20]}…"
    return InvalidInputError(f"{shown!r} is longer than Go can hold (about 2562047h)", remedy="Write 8736h or less.")
