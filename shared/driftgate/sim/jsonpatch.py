"""JSON patch (RFC 6902) and merge patch (RFC 7386), with the manners of the real API server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from driftgate.domain.jsonvalue import mapping
from driftgate.sim.objects import JsonDict, copy_of
from driftgate.sim.status import ApiError, bad_request, precondition_failed

MAX_OPERATIONS = 10_000
_MISSING = object()


def apply_json_patch(target: JsonDict, operations: object) -> JsonDict:
    """A patched copy.

    Raises ApiError: 400 where the patch is none; an opaque 422 where a test fails or a place is missing.
    """
    if not isinstance(operations, list):
        shown = "object" if isinstance(operations, dict) else "string"
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {shown} into Go value of type []handlers.jsonPatchOp"
        )
    if len(operations) > MAX_OPERATIONS:
        message = f"allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        raise ApiError(413, "RequestEntityTooLarge", f"Request entity too large: The {message}")
    patched = copy_of(target)
    for operation in operations:
        patched = _apply(patched, mapping(operation))
    return patched


def _apply(target: JsonDict, operation: object) -> JsonDict:
    op = mapping(operation)
    kind, path = op.get("op"), _pointer(op.get("path"))
    value = copy_of(op.get("value"))
    if kind == "test":
        _test(target, path, value)
        return target
    if kind in ("move", "copy"):
        value = _taken(target, _pointer(op.get("from")), remove=kind == "move")
    elif kind not in ("add", "replace", "remove"):
        raise precondition_failed()
    if not path:
        return cast("JsonDict", value)
    _change(target, path, "add" if kind in ("move", "copy") else str(kind), value)
    return target


def _test(target: JsonDict, path: list[str], value: object) -> None:
    """A key that is not there equals null, if its parent is there (as evanphx/json-patch has it)."""
    found = _find(target, path)
    if found is _MISSING and isinstance(_find(target, path[:-1]), dict):
        found = None
    if found is _MISSING or not same(found, value):
        raise precondition_failed()


def _pointer(path: object) -> list[str]:
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise precondition_failed()
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _taken(target: JsonDict, path: list[str], *, remove: bool) -> object:
    found = _find(target, path)
    if found is _MISSING:
        raise precondition_failed()
    value = copy_of(found)
    if remove:
        _change(target, path, "remove", None)
    return value


def _find(target: object, path: Sequence[str]) -> object:
    for part in path:
        if isinstance(target, dict):
            target = target.get(part, _MISSING)
        elif isinstance(target, list) and part.isdigit() and int(part) < len(target):
            target = target[int(part)]
        else:
            return _MISSING
    return target


def _change(target: JsonDict, path: list[str], kind: str, value: object) -> None:
    parent, last = _find(target, path[:-1]), path[-1]
    if isinstance(parent, list):
        _change_list(parent, last, kind, value)
    elif isinstance(parent, dict) and kind != "remove":
        parent[last] = value  # the real server lets a replace add what is missing, too
    elif isinstance(parent, dict) and last in parent:
        del parent[last]
    else:
        raise precondition_failed()


def _change_list(parent: list[object], last: str, kind: str, value: object) -> None:
    index = len(parent) if last == "-" and kind == "add" else int(last) if last.isdigit() else -1
    if not 0 <= index < len(parent) + (kind == "add"):
        raise precondition_failed()
    if kind == "add":
        parent.insert(index, value)
    elif kind == "remove":
        del parent[index]
    else:
        parent[index] = value


def same(left: object, right: object) -> bool:
    """Whether two JSON values are equal (true is not 1)."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def apply_merge_patch(target: object, patch: object) -> object:
    """A merged copy: null takes a key away, lists are replaced whole."""
    if not isinstance(patch, dict):
        return copy_of(patch)
    merged: JsonDict = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = apply_merge_patch(merged.get(key), value)
    return merged
