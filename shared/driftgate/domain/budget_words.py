"""How messages name budget entries, so that people find them in their own file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from driftgate.domain.budget import Budget

DRIFTED_ZERO = '{nodes: "0", reasons: [Drifted]}'


def shown(budget: Budget) -> str:
    """The entry as one line of YAML, as it may be pasted into a NodePool."""
    parts = [f'nodes: "{budget.nodes}"']
    if budget.reasons is not None:
        parts.append(f"reasons: [{', '.join(budget.reasons)}]")
    if budget.schedule is not None:
        parts.append(f'schedule: "{budget.schedule}"')
    if budget.duration is not None:
        parts.append(f"duration: {budget.duration}")
    return f"{{{', '.join(parts)}}}"


def named(indexes: Iterable[int]) -> str:
    """The places of entries: `budgets[0] and budgets[2]`."""
    return joined([f"budgets[{index}]" for index in indexes])


def described(index: int, budgets: Sequence[Budget]) -> str:
    """One entry's place with the entry itself."""
    return f"budgets[{index}] {shown(budgets[index])}"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
