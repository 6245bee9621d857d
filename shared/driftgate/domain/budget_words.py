"""How messages name budget entries, so that people find them in their own file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from driftgate.domain.budget import Budget

LONGEST_SHOWN = 40
DRIFTED_ZERO = '{nodes: "0", reasons: [Drifted]}'


def shown(budget: Budget) -> str:
    """The entry as one line of YAML, as it may be pasted into a NodePool."""
    parts = [f"nodes: {json.dumps(shortened(budget.nodes), ensure_ascii=False)}"]
    if budget.reasons is not None:
        parts.append(f"reasons: [{', '.join(budget.reasons)}]")
    if budget.schedule is not None:
        parts.append(f"schedule: {json.dumps(budget.schedule, ensure_ascii=False)}")
    if budget.duration is not None:
        parts.append(f"duration: {budget.duration}")
    return f"{{{', '.join(parts)}}}"


def shortened(text: str) -> str:
    """The text as far as a message has room for it."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def named(indexes: Iterable[int]) -> str:
    """The places of entries: `budgets[0] and budgets[2]`."""
    return joined([f"budgets[{index}]" for index in indexes])


def described(index: int, budgets: Sequence[Budget]) -> str:
    """One entry's place with the entry itself."""
    return f"budgets[{index}] {shown(budgets[index])}"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
