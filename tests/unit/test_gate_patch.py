from __future__ import annotations

from dataclasses import replace

import pytest

from driftgate.domain.closing import close, close_without_record
from driftgate.domain.errors import InvariantError
from driftgate.domain.gate import opened_list
from driftgate.domain.gate_patch import closing_patch, opening_patch, renewal_patch
from driftgate.domain.patch import JsonPatch
from driftgate.domain.roll_annotation import to_text
from tests.factories import GATE, at, budget, live_roll, nodepool

LIVE, TOMBSTONE = live_roll(), live_roll().tombstone()
LIVE_TEXT, TOMBSTONE_TEXT = to_text(LIVE), to_text(TOMBSTONE)
PATH = "/metadata/annotations/driftgate.dev~1roll"
BASELINE = [{"nodes": "10%", "reasons": ["Empty", "Underutilized"]}, {"nodes": "0", "reasons": ["Drifted"]}]
OPENED = [
    {"nodes": "10%", "reasons": ["Empty", "Underutilized"]},
    {"nodes": "01", "reasons": ["Drifted"]},
    {"nodes": "00", "reasons": ["Drifted"], "schedule": "11 2 17 10 *", "duration": "8736h"},
]
OPEN_POOL = nodepool(generation=2, annotations={"driftgate.dev/roll": LIVE_TEXT}, budgets=LIVE.opened)
CLOSED_POOL = nodepool(generation=3, annotations={"driftgate.dev/roll": TOMBSTONE_TEXT})


def shown(patch: JsonPatch) -> list[dict[str, object]]:
    return [operation.to_object() for operation in patch]


def test_t12_the_first_opening_of_a_pool_tests_its_resource_version_and_adds_the_annotations():
    assert shown(opening_patch(nodepool(), LIVE)) == [
        {"op": "test", "path": "/metadata/generation", "value": 1},
        {"op": "test", "path": "/spec/disruption/budgets", "value": BASELINE},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "1000"},
        {"op": "add", "path": "/metadata/annotations", "value": {"driftgate.dev/roll": LIVE_TEXT}},
        {"op": "replace", "path": "/spec/disruption/budgets", "value": OPENED},
    ]


def test_annotations_of_others_are_never_replaced():
    pool = nodepool(annotations={"argocd.argoproj.io/tracking-id": "x"})

    assert shown(opening_patch(pool, LIVE))[2:4] == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "1000"},
        {"op": "add", "path": PATH, "value": LIVE_TEXT},
    ]


def test_a_later_opening_tests_the_annotation_as_read():
    assert shown(opening_patch(CLOSED_POOL, LIVE)) == [
        {"op": "test", "path": "/metadata/generation", "value": 3},
        {"op": "test", "path": "/spec/disruption/budgets", "value": BASELINE},
        {"op": "test", "path": PATH, "value": TOMBSTONE_TEXT},
        {"op": "add", "path": PATH, "value": LIVE_TEXT},
        {"op": "replace", "path": "/spec/disruption/budgets", "value": OPENED},
    ]


def test_an_opening_of_another_baseline_is_never_sent():
    with pytest.raises(InvariantError, match="not the baseline"):
        opening_patch(nodepool(budgets=(budget("0", "Drifted"),)), LIVE)


LATER = at("2026-10-17T02:12:00Z")
RENEWED = replace(LIVE, guard_at=LATER, opened=opened_list(GATE, LATER))


def test_a_renewal_moves_the_guard_in_annotation_and_list_at_once():
    patch = shown(renewal_patch(OPEN_POOL, RENEWED))

    assert patch == [
        {"op": "test", "path": "/metadata/generation", "value": 2},
        {"op": "test", "path": "/spec/disruption/budgets", "value": OPENED},
        {"op": "test", "path": PATH, "value": LIVE_TEXT},
        {"op": "add", "path": PATH, "value": to_text(RENEWED)},
        {
            "op": "replace",
            "path": "/spec/disruption/budgets",
            "value": [*OPENED[:2], {**OPENED[2], "schedule": "12 2 17 10 *"}],
        },
    ]


@pytest.mark.parametrize(
    "pool",
    [
        replace(OPEN_POOL, budgets=(*LIVE.opened, budget("5"))),
        replace(OPEN_POOL, annotations={"driftgate.dev/roll": TOMBSTONE_TEXT}),
        replace(OPEN_POOL, annotations={"driftgate.dev/roll": to_text(replace(LIVE, id="20261017T020000Z-app"))}),
        replace(OPEN_POOL, annotations={"driftgate.dev/roll": to_text(replace(LIVE, deployment="laptop"))}),
        replace(OPEN_POOL, annotations=None),
    ],
)
def test_what_does_not_stand_as_opened_is_never_renewed(pool):
    with pytest.raises(InvariantError, match="never renew"):
        renewal_patch(pool, RENEWED)


def test_a_closing_puts_the_baseline_back_and_leaves_the_tombstone():
    patch = closing_patch(OPEN_POOL, close(GATE, LIVE.opened, OPEN_POOL.budgets), TOMBSTONE)

    assert shown(patch) == [
        {"op": "test", "path": "/metadata/generation", "value": 2},
        {"op": "test", "path": "/spec/disruption/budgets", "value": OPENED},
        {"op": "test", "path": PATH, "value": LIVE_TEXT},
        {"op": "add", "path": PATH, "value": TOMBSTONE_TEXT},
        {"op": "replace", "path": "/spec/disruption/budgets", "value": BASELINE},
    ]


def test_t18_a_closing_that_leaves_budgets_alone_writes_only_the_tombstone():
    pool = replace(OPEN_POOL, budgets=(budget("0"),))

    patch = closing_patch(pool, close(GATE, LIVE.opened, pool.budgets), TOMBSTONE)

    assert shown(patch) == [
        {"op": "test", "path": "/metadata/generation", "value": 2},
        {"op": "test", "path": "/spec/disruption/budgets", "value": [{"nodes": "0"}]},
        {"op": "test", "path": PATH, "value": LIVE_TEXT},
        {"op": "add", "path": PATH, "value": TOMBSTONE_TEXT},
    ]


def test_a_closing_that_is_done_already_sends_nothing():
    assert closing_patch(CLOSED_POOL, close(GATE, LIVE.opened, CLOSED_POOL.budgets), TOMBSTONE) == ()


def test_a_closing_never_replaces_word_of_a_newer_roll_but_still_shuts_the_gate():
    newer = to_text(replace(TOMBSTONE, id="20261017T022000Z-app"))
    pool = replace(OPEN_POOL, annotations={"driftgate.dev/roll": newer})

    patch = shown(closing_patch(pool, close(GATE, LIVE.opened, pool.budgets), TOMBSTONE))

    assert [operation["path"] for operation in patch if operation["op"] != "test"] == ["/spec/disruption/budgets"]
    assert patch[2] == {"op": "test", "path": PATH, "value": newer}


def test_a_closing_without_any_record_takes_the_marks_and_writes_no_annotation():
    pool = replace(OPEN_POOL, annotations={})

    patch = shown(closing_patch(pool, close_without_record(pool.budgets), None))

    assert patch[2:] == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "1000"},
        {"op": "replace", "path": "/spec/disruption/budgets", "value": BASELINE},
    ]


def test_a_closing_of_another_list_than_stands_is_never_sent():
    with pytest.raises(InvariantError, match="another list"):
        closing_patch(OPEN_POOL, close(GATE, LIVE.opened, GATE), TOMBSTONE)
