"""Event patterns within what EventBridge takes: long lists of names are split over several, at last by prefix. Pure.

Source: aws docs, eventbridge/latest/userguide/eb-quota (2026): 2,048 characters a pattern, 300 rules a bus.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

MOST_CHARACTERS = 2048
Matcher = str | dict[str, object]
LIVE: dict[str, object] = {"replay-name": [{"exists": False}]}
"""What every pattern of ours asks for: a replayed event would roll nodes for what happened long ago."""


def length(value: object) -> int:
    """The characters of a pattern or a part of it, as it is stored."""
    return len(json.dumps(value, separators=(",", ":")))


def split(names: Sequence[str], room: int, most: int) -> list[list[Matcher]]:
    """The names in lists of at most `room` characters each, in their order.

    Where they need more than `most` lists, names are cut to prefixes, as long as will do: a rule may then let more
    events through than are meant, which only costs an invocation.
    """
    longest = _longest(names, lambda cut: len(list(_filled(cut, room))) <= most)
    return list(_filled(_cut(names, longest), room))


def fitted(names: Sequence[str], room: int, each: int) -> list[str]:
    """The names as an IAM policy has them, in at most `room` characters: where they need more, prefixes and `*`.

    `each` is what stands around a name in its ARN.
    """
    longest = _longest(names, lambda cut: length(cut) + each * len(cut) <= room)
    return [entry if isinstance(entry, str) else f"{entry['prefix']}*" for entry in _cut(names, longest)]


def _longest(names: Sequence[str], fits: Callable[[list[Matcher]], bool]) -> int:
    """How many characters of each name may stay; one stays also where even that is too much.

    Every length is tried: a short cut can need more room than none, for a prefix is longer to write than a name.
    """
    lengths = range(max(map(len, names), default=0), 0, -1)
    return next((longest for longest in lengths if fits(_cut(names, longest))), 1)


def _cut(names: Iterable[str], longest: int) -> list[Matcher]:
    kept: dict[str, Matcher] = {}
    for name in names:
        is_whole = len(name) <= longest
        kept.setdefault(f"{is_whole} {name[:longest]}", name if is_whole else {"prefix": name[:longest]})
    return list(kept.values())


def _filled(entries: Iterable[Matcher], room: int) -> Iterable[list[Matcher]]:
    current: list[Matcher] = []
    used = len("[]")
    for entry in entries:
        added = length(entry) + len(",")
        if current and used + added - len(",") > room:
            yield current
            current, used = [], len("[]")
        current.append(entry)
        used += added
    if current:
        yield current
