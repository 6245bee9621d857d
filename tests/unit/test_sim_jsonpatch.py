"""JSON patch and merge patch as the real API server takes them (answers recorded from kube-apiserver 1.36.3)."""

from typing import Any

import pytest

from driftgate.sim.jsonpatch import apply_json_patch, apply_merge_patch
from driftgate.sim.status import ApiError

POOL: dict[str, Any] = {
    "metadata": {"generation": 3, "labels": {"a/b": "1"}},
    "spec": {"budgets": [{"nodes": "0"}, {"nodes": "10%"}]},
}
OPAQUE = "the server rejected our request due to an error in our request"


def test_operations_apply_in_order_and_leave_the_original_alone():
    patched: Any = apply_json_patch(
        POOL,
        [
            {"op": "test", "path": "/metadata/generation", "value": 3},
            {"op": "replace", "path": "/spec/budgets", "value": []},
            {"op": "test", "path": "/spec/budgets", "value": []},
            {"op": "add", "path": "/spec/budgets/-", "value": {"nodes": "1"}},
        ],
    )

    assert patched["spec"] == {"budgets": [{"nodes": "1"}]}
    assert POOL["spec"]["budgets"][0] == {"nodes": "0"}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/metadata/generation", "value": 4},
        {"op": "test", "path": "/metadata/generation", "value": "3"},
        {"op": "test", "path": "/metadata/nope", "value": "1"},
        {"op": "test", "path": "/nope/nope", "value": None},
        {"op": "remove", "path": "/metadata/nope"},
        {"op": "add", "path": "/metadata/annotations/x", "value": "1"},
        {"op": "replace", "path": "/spec/budgets/2", "value": {}},
        {"op": "add", "path": "/spec/budgets/3", "value": {}},
        {"op": "jump", "path": "/spec"},
        {"op": "add", "path": "spec", "value": 1},
    ],
)
def test_what_does_not_hold_or_has_no_place_is_an_opaque_422(operation):
    with pytest.raises(ApiError) as refused:
        apply_json_patch(POOL, [operation])

    assert (refused.value.code, refused.value.reason, refused.value.message) == (422, "Invalid", OPAQUE)


@pytest.mark.parametrize(
    ("operation", "labels"),
    [
        ({"op": "test", "path": "/metadata/labels/nope", "value": None}, {"a/b": "1"}),
        ({"op": "replace", "path": "/metadata/labels/new", "value": "2"}, {"a/b": "1", "new": "2"}),
        ({"op": "test", "path": "/metadata/labels/a~1b", "value": "1"}, {"a/b": "1"}),
        ({"op": "copy", "from": "/metadata/labels/a~1b", "path": "/metadata/labels/c"}, {"a/b": "1", "c": "1"}),
        ({"op": "move", "from": "/metadata/labels/a~1b", "path": "/metadata/labels/c"}, {"c": "1"}),
        ({"op": "remove", "path": "/metadata/labels/a~1b"}, {}),
    ],
)
def test_what_the_real_server_takes_is_taken(operation, labels):
    patched: Any = apply_json_patch(POOL, [operation])

    assert patched["metadata"]["labels"] == labels


def test_list_entries_are_inserted_replaced_and_removed_by_index():
    patched: Any = apply_json_patch(
        POOL,
        [
            {"op": "add", "path": "/spec/budgets/0", "value": {"nodes": "7"}},
            {"op": "replace", "path": "/spec/budgets/1", "value": {"nodes": "8"}},
            {"op": "remove", "path": "/spec/budgets/2"},
        ],
    )

    assert patched["spec"]["budgets"] == [{"nodes": "7"}, {"nodes": "8"}]


def test_true_is_not_one():
    with pytest.raises(ApiError):
        apply_json_patch({"a": True}, [{"op": "test", "path": "/a", "value": 1}])


def test_a_patch_that_is_no_list_is_a_bad_request():
    with pytest.raises(ApiError, match=r"cannot unmarshal object into Go value of type \[\]handlers.jsonPatchOp"):
        apply_json_patch(POOL, {"op": "add"})


def test_a_merge_patch_takes_null_away_and_replaces_lists_whole():
    merged = apply_merge_patch({"a": {"b": 1, "c": [1, 2]}, "d": 1}, {"a": {"b": None, "c": [3]}, "e": {"f": 1}})

    assert merged == {"a": {"c": [3]}, "d": 1, "e": {"f": 1}}
