"""Two patches for dry runs only: one that must be allowed to driftgate, and one that must not.

Neither writes a record, so that even if one were stored by mistake it could be told from an opening.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from driftgate.domain.budget import to_objects
from driftgate.domain.gate import opened_list
from driftgate.domain.gate_patch import ANNOTATIONS_PATH, BUDGETS_PATH, GENERATION_PATH
from driftgate.domain.guard import first_guard
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.opening import why_not_openable
from driftgate.domain.patch import JsonPatch, PatchOperation

FOREIGN_ANNOTATION = "driftgate.dev/doctor"


def best_for_trial(pools: Iterable[NodePoolSnapshot]) -> NodePoolSnapshot | None:
    """The first NodePool whose gate could be opened, else the first one; None where there is none."""
    known = tuple(pools)
    return next((pool for pool in known if is_openable(pool)), known[0] if known else None)


def is_openable(pool: NodePoolSnapshot) -> bool:
    """Whether the budgets allow an opening, as far as they alone say."""
    return not why_not_openable(pool.budgets, total=1)


def opening_trial(pool: NodePoolSnapshot, now: datetime) -> JsonPatch:
    """The opened list as of now; where the gate cannot be opened, the list as it stands."""
    budgets = opened_list(pool.budgets, first_guard(now)) if is_openable(pool) else pool.budgets
    return (
        PatchOperation("test", GENERATION_PATH, pool.generation),
        PatchOperation("replace", BUDGETS_PATH, to_objects(budgets)),
    )


def foreign_trial(pool: NodePoolSnapshot) -> JsonPatch:
    """An annotation that is not driftgate's to write: harmless, and refused where the admission policy is in force."""
    if not pool.annotations:
        return (PatchOperation("add", ANNOTATIONS_PATH, {FOREIGN_ANNOTATION: "trial"}),)
    path = f"{ANNOTATIONS_PATH}/{FOREIGN_ANNOTATION.replace('/', '~1')}"
    return (PatchOperation("add", path, "trial"),)
