"""Label selectors and scheduling requirements: the same operators, asked of one set of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol


class Term(Protocol):
    """One expression: of a PodDisruptionBudget's selector, or one requirement of an image."""

    @property
    def key(self) -> str: ...

    @property
    def operator(self) -> str: ...

    @property
    def values(self) -> tuple[str, ...]: ...


def all_match(terms: Iterable[Term], labels: Mapping[str, str]) -> bool:
    """Whether every term holds; no term at all holds for everything."""
    return all(matches(term, labels.get(term.key)) for term in terms)


def matches(term: Term, label: str | None) -> bool:
    """Whether the label's value (None: not there) satisfies the term; an unknown operator never holds.

    Source: Kubernetes, k8s.io/apimachinery/pkg/labels (`Requirement.Matches`); Gte and Lte are Karpenter's.
    """
    match term.operator:
        case "In":
            return label in term.values
        case "NotIn":
            return label not in term.values
        case "Exists":
            return label is not None
        case "DoesNotExist":
            return label is None
        case _:
            return _compares(term.operator, label, term.values)


def _compares(operator: str, label: str | None, values: Sequence[str]) -> bool:
    """Gt, Lt, Gte, Lte on whole numbers; anything else is no number to compare, so it does not hold."""
    left, right = _whole(label), _whole(values[0] if len(values) == 1 else None)
    if left is None or right is None:
        return False
    outcomes = {"Gt": left > right, "Lt": left < right, "Gte": left >= right, "Lte": left <= right}
    return outcomes.get(operator, False)


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.removeprefix("-").isdigit() else None
