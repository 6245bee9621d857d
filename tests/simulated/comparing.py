"""What a write of driftgate's left as it was, and what it took: for judging, from the objects alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from driftgate.domain.budget import Budget
from driftgate.domain.marks import is_mark
from driftgate.domain.nodepool import ROLL_ANNOTATION
from driftgate.sim.objects import JsonDict, annotations_of, copy_of, section


def everything_else(pool: JsonDict) -> JsonDict:
    """The NodePool without what driftgate may write, and without what the server keeps by itself."""
    rest = copy_of(pool)
    section(rest, "spec", "disruption").pop("budgets", None)
    metadata = section(rest, "metadata")
    annotations = {key: value for key, value in annotations_of(pool).items() if key != ROLL_ANNOTATION}
    for key in ("generation", "resourceVersion", "managedFields", "annotations"):
        metadata.pop(key, None)
    return rest | {"annotations": annotations}


def taken_away(baseline: Sequence[Budget], before: Sequence[Budget], after: Sequence[Budget]) -> list[Budget]:
    """A person's entries, neither ours nor the baseline's remainders, that the closing took."""
    foreign = Counter(map(repr, before)) - Counter(map(repr, (b for b in before if is_mark(b))))
    lost = foreign - Counter(map(repr, after))
    return [b for b in before if repr(b) in lost and not _may_be_remainder(b, baseline)]


def _may_be_remainder(budget: Budget, baseline: Sequence[Budget]) -> bool:
    return any(b.nodes == budget.nodes and budget.reasons is not None and b != budget for b in baseline)
