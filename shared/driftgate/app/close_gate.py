"""Closes one gate: always allowed, from anywhere, as often as anybody likes.

It needs neither queue nor lease. The answer of the patch is its verification; an answer that never came is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from driftgate.domain.errors import (
    AnswerLostError,
    ClusterUnavailableError,
    NodePoolChangedError,
    NodePoolNotFoundError,
)
from driftgate.domain.gate_duty import ClosingDecision, as_left, decide_closing
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.roll import Roll
from driftgate.ports import Cluster

ATTEMPTS = 8
"""Each failed attempt means that somebody wrote in between; so many in a row are a fight, told as an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """What closing did. `pool` is the NodePool as verified afterwards, None where it no longer exists."""

    pool: NodePoolSnapshot | None
    decision: ClosingDecision | None
    wrote: bool = False

    @property
    def is_baseline_back(self) -> bool:
        """Whether the list is exactly what it was before the opening."""
        return self.decision is not None and self.decision.is_baseline_back


def close_gate(cluster: Cluster, name: str, roll: Roll | None, deployment: str) -> Closed:
    """The gate of this NodePool is shut and its tombstone stands.

    With a roll whose opening is known, the first attempt patches without reading.

    Raises:
        ClusterUnavailableError, ClusterForbiddenError, ClusterUnauthorizedError, PatchRejectedError: not closed.
    """
    seen = as_left(roll, deployment) if roll is not None else None
    for _ in range(ATTEMPTS):
        try:
            pool = seen if seen is not None else cluster.get_nodepool(name)
            seen = None
            decision = decide_closing(pool, roll, deployment)
            if not decision.patch:
                return Closed(pool=pool, decision=decision)
            after = cluster.patch_nodepool(name, decision.patch)
        except NodePoolNotFoundError:
            return Closed(pool=None, decision=None)
        except (NodePoolChangedError, AnswerLostError):
            continue
        return Closed(pool=after, decision=decision, wrote=True)
    raise ClusterUnavailableError(f"the gate of {name} could not be closed: {ATTEMPTS} attempts met other writers")
