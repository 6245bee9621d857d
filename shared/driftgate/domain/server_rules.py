"""What the API server refuses in a budget list, for files that nobody has applied yet.

What is stored in a cluster has passed these rules; they say nothing about what Karpenter makes of it.
Source: sigs.k8s.io/karpenter v1.14.1, pkg/apis/crds/karpenter.sh_nodepools.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftgate.domain.budget import Budget, DisruptionReason
from driftgate.domain.budget_words import joined

_NODES = re.compile(r"(100|[0-9]{1,2})%|[0-9]+")
_DURATION = re.compile(r"([0-9]+[hm]|[0-9]+h[0-9]+m)(0s)?")
_SPACE = "[\t\n\f\r ]"
_SCHEDULE = re.compile(
    r"^@(annually|yearly|monthly|weekly|daily|midnight|hourly)"
    rf"|(.+){_SPACE}(.+){_SPACE}(.+){_SPACE}(.+){_SPACE}(.+)\Z"
)
_REASONS = [reason.value for reason in DisruptionReason]


def refusals(budget: Budget) -> Iterator[str]:
    """Each reason for which the API server would not store the entry, as what to write instead."""
    if not _NODES.fullmatch(budget.nodes):
        yield f'nodes {budget.nodes!r}: write a count ("1") or a percentage from "0%" to "100%"'
    if (budget.schedule is None) != (budget.duration is None):
        yield "schedule and duration go together: write both or neither"
    if budget.schedule is not None and not _SCHEDULE.search(budget.schedule):
        yield f"schedule {budget.schedule!r}: write five fields or a macro such as @daily"
    if budget.duration is not None and not _DURATION.fullmatch(budget.duration):
        yield f"duration {budget.duration!r}: write hours, minutes or both, such as 3h or 1h30m"
    yield from _reasons(budget.reasons or ())


def _reasons(reasons: tuple[str, ...]) -> Iterator[str]:
    for reason in dict.fromkeys(reasons):
        if reason not in _REASONS:
            yield f"reason {reason!r}: there are {joined(_REASONS)}, spelled so"
        elif reasons.count(reason) > 1:
            yield f"reason {reason!r} stands there twice: write it once"
