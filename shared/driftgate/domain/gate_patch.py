"""The JSON patches that driftgate sends, exactly: tests first, then its annotation, then the budgets.

A patch can land only on the NodePool as it was read: `generation` refuses one that slept through another's opening
and closing, the whole list refuses any edit, the annotation's value refuses an opening still on its way after its
closing. Must not decide what to write.

Source: tried on kube-apiserver v1.36.3: status and annotation writes leave `generation` alone, a failed `test`
refuses the whole patch.
"""

from __future__ import annotations

from collections.abc import Sequence

from driftgate.domain.budget import Budget, to_objects
from driftgate.domain.closing import Closing
from driftgate.domain.errors import InvariantError
from driftgate.domain.marks import without_guards
from driftgate.domain.nodepool import ROLL_ANNOTATION, NodePoolSnapshot
from driftgate.domain.patch import JsonPatch, PatchOperation
from driftgate.domain.roll_annotation import LiveRoll, Tombstone, from_text, may_write_tombstone, to_text

GENERATION_PATH = "/metadata/generation"
RESOURCE_VERSION_PATH = "/metadata/resourceVersion"
BUDGETS_PATH = "/spec/disruption/budgets"
ANNOTATIONS_PATH = "/metadata/annotations"
ANNOTATION_PATH = f"{ANNOTATIONS_PATH}/{ROLL_ANNOTATION.replace('~', '~0').replace('/', '~1')}"


def opening_patch(pool: NodePoolSnapshot, live: LiveRoll) -> JsonPatch:
    """Opens the gate and writes the record of it.

    Raises:
        InvariantError: the pool's list is not the record's baseline.
    """
    if pool.budgets != live.baseline:
        raise InvariantError(f"the budgets of {pool.name} are not the baseline of {live.id}")
    return _patch(pool, to_text(live), live.opened)


def renewal_patch(pool: NodePoolSnapshot, live: LiveRoll) -> JsonPatch:
    """Moves the guard of an open gate on; `live` already has the later guard.

    Raises:
        InvariantError: the pool does not stand as this roll opened it, the guard aside.
    """
    standing = from_text(pool.roll_annotation)
    is_ours = isinstance(standing, LiveRoll) and (standing.deployment, standing.id) == (live.deployment, live.id)
    if not is_ours or without_guards(pool.budgets) != without_guards(live.opened):
        raise InvariantError(f"{pool.name} does not stand as {live.id} opened it: close it, never renew")
    return _patch(pool, to_text(live), live.opened)


def closing_patch(pool: NodePoolSnapshot, closing: Closing, tombstone: Tombstone | None) -> JsonPatch:
    """Closes the gate; empty where nothing is left to write.

    The annotation becomes the tombstone unless it says so already, tells of a newer roll, or there is none to write.

    Raises:
        InvariantError: the closing was decided for another list than the pool has.
    """
    if pool.budgets != closing.found:
        raise InvariantError(f"the closing was decided for another list than {pool.name} has")
    standing = from_text(pool.roll_annotation)
    is_due = tombstone is not None and standing != tombstone and may_write_tombstone(standing, tombstone.id)
    note = to_text(tombstone) if tombstone is not None and is_due else None
    return _patch(pool, note, closing.budgets)


def _patch(pool: NodePoolSnapshot, annotation: str | None, budgets: Sequence[Budget] | None) -> JsonPatch:
    writes: list[PatchOperation] = []
    if annotation is not None:
        writes.append(_add_annotation(pool, annotation))
    if budgets is not None:
        writes.append(PatchOperation("replace", BUDGETS_PATH, to_objects(budgets)))
    return (*_tests(pool), *writes) if writes else ()


def _tests(pool: NodePoolSnapshot) -> JsonPatch:
    return (
        PatchOperation("test", GENERATION_PATH, pool.generation),
        PatchOperation("test", BUDGETS_PATH, to_objects(pool.budgets)),
        _test_annotation(pool),
    )


def _test_annotation(pool: NodePoolSnapshot) -> PatchOperation:
    """A JSON patch cannot test for absence, so where there is no annotation the whole object must be as read."""
    if pool.roll_annotation is None:
        return PatchOperation("test", RESOURCE_VERSION_PATH, pool.resource_version)
    return PatchOperation("test", ANNOTATION_PATH, pool.roll_annotation)


def _add_annotation(pool: NodePoolSnapshot, value: str) -> PatchOperation:
    """`add` needs the parent to exist; the server keeps no empty map of annotations."""
    if not pool.annotations:
        return PatchOperation("add", ANNOTATIONS_PATH, {ROLL_ANNOTATION: value})
    return PatchOperation("add", ANNOTATION_PATH, value)
