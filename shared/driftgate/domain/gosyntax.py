"""How Go reads text where Karpenter's meaning hangs on it: numbers and white space.

Python's own `int` and `str.split` accept more and less than Go's, and a difference would let us call an entry
valid that shuts the whole pool, or the other way round.
"""

from __future__ import annotations

import re

_INTEGER = re.compile(r"([+-]?)0*([0-9]*)")
_INT64_MAX = 2**63 - 1
_INT64_DIGITS = 19

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What unicode.IsSpace accepts. Source: Go 1.26, src/unicode/graphic.go."""

_WORD = re.compile(f"[^{re.escape(WHITE_SPACE)}]+")


def atoi(text: str) -> int | None:
    """The number as strconv.Atoi reads it, None where it gives an error.

    Decimal ASCII digits with one optional sign, within 64 bits. Source: Go 1.26, src/strconv/atoi.go.
    """
    found = _INTEGER.fullmatch(text)
    if found is None or not text[-1:].isdigit() or len(found[2]) > _INT64_DIGITS:
        return None
    value = int(f"{found[1]}{found[2] or '0'}")
    return value if -_INT64_MAX - 1 <= value <= _INT64_MAX else None


def words(text: str) -> tuple[tuple[int, str], ...]:
    """The parts between white space, each with its position, as strings.Fields splits them."""
    return tuple((found.start(), found[0]) for found in _WORD.finditer(text))


def trimmed(text: str) -> tuple[int, str]:
    """The text without white space around it, as strings.TrimSpace leaves it, and where it began."""
    left = text.lstrip(WHITE_SPACE)
    return len(text) - len(left), left.rstrip(WHITE_SPACE)
