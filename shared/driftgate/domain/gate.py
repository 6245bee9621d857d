"""The gate of a NodePool: the entries that apply to Drifted, and the list that opens it for one node.

Only always-on zeros are taken out, because they are the owner's standing "no" which a window may lift. Scheduled
entries are the owner's blackouts and stay. Other reasons keep every limit they had, entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from driftgate.domain.budget import Budget, DisruptionReason, applies_to, is_always_on_zero
from driftgate.domain.guard import guard_entry
from driftgate.domain.marks import DRIFTED_ONLY, OPEN_MARK, is_mark

OTHER_REASONS = (DisruptionReason.EMPTY.value, DisruptionReason.UNDERUTILIZED.value)


def is_drifted_zero(budget: Budget) -> bool:
    """Whether the entry alone keeps the gate shut, at every moment."""
    return is_always_on_zero(budget) and applies_to(budget, DisruptionReason.DRIFTED)


def shuts_drifted(budgets: Iterable[Budget]) -> bool:
    """Whether an always-on zero on Drifted stands in the list."""
    return any(is_drifted_zero(budget) for budget in budgets)


def may_be_baseline(budgets: Sequence[Budget]) -> bool:
    """Whether driftgate could have opened this list: it is shut by always-on zeros and holds no mark of ours.

    A record that claims another baseline is not believed, because putting it back could open the gate.
    """
    return shuts_drifted(budgets) and not any(is_mark(budget) for budget in budgets)


def is_freeze(budgets: Sequence[Budget]) -> bool:
    """Whether always-on zeros, together, cover every reason: somebody wants nothing to move."""
    zeros = [budget for budget in budgets if is_always_on_zero(budget)]
    return all(any(applies_to(zero, reason) for zero in zeros) for reason in DisruptionReason)


def remainder(zero: Budget) -> Budget | None:
    """What a zero keeps shut beside Drifted, as an entry of its own; None where that is nothing.

    The entry's own order of reasons is kept; where it names none, the other reasons in Karpenter's order.
    """
    reasons = OTHER_REASONS if zero.reasons is None else tuple(r for r in zero.reasons if r not in DRIFTED_ONLY)
    return replace(zero, reasons=reasons) if reasons else None


@dataclass(frozen=True, slots=True)
class Part:
    """One entry of an opened list; `original` is the baseline's entry that it stands for, None for our mark."""

    entry: Budget
    original: Budget | None

    @property
    def is_remainder(self) -> bool:
        return self.original is not None and self.original != self.entry


def parts_of(baseline: Sequence[Budget]) -> tuple[Part, ...]:
    """The opened list but for its guard, entry by entry, with what each stands for."""
    parts: list[Part] = []
    marked = False
    for budget in baseline:
        if not is_drifted_zero(budget):
            parts.append(Part(budget, budget))
            continue
        if rest := remainder(budget):
            parts.append(Part(rest, budget))
        if not marked:
            parts.append(Part(OPEN_MARK, None))
            marked = True
    return tuple(parts)


def opened_list(baseline: Sequence[Budget], guard_at: datetime) -> tuple[Budget, ...]:
    """The list that allows one drifted node until the guard's minute, and none from then on.

    Without an always-on zero on Drifted in the baseline it opens nothing; `opening` says so before any write.

    Raises:
        InvariantError: `guard_at` is not a full minute.
    """
    return (*(part.entry for part in parts_of(baseline)), guard_entry(guard_at))
