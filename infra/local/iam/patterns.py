"""IAM's wildcards: `*` is any text, `?` one character, nothing else is special."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_PARTS_OF_AN_ARN = 6


def matches(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    """Whether the whole text fits the pattern."""
    return _compiled(pattern, ignore_case).fullmatch(text) is not None


def matches_any(patterns: Iterable[str], text: str, *, ignore_case: bool = False) -> bool:
    return any(matches(pattern, text, ignore_case=ignore_case) for pattern in patterns)


def matches_arn(pattern: str, arn: str) -> bool:
    """As `ArnLike` has it: each of the six parts for itself, so that a wildcard ends with its part."""
    wanted, found = pattern.split(":", _PARTS_OF_AN_ARN - 1), arn.split(":", _PARTS_OF_AN_ARN - 1)
    return len(wanted) == len(found) and all(map(matches, wanted, found))


@cache
def _compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    special = {"*": ".*", "?": "."}
    expression = "".join(special.get(character) or re.escape(character) for character in pattern)
    return re.compile(expression, re.DOTALL | (re.IGNORECASE if ignore_case else 0))
