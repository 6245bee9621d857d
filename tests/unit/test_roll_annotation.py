from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.budget import to_objects
from driftgate.domain.gate import opened_list
from driftgate.domain.marks import OPEN_MARK
from driftgate.domain.roll_annotation import (
    LiveRoll,
    Tombstone,
    Unreadable,
    from_text,
    is_believable,
    may_write_tombstone,
    to_text,
)
from tests.factories import GATE, at, budget, live_roll
from tests.gate_strategies import baselines, usual

GUARD_AT = at("2026-10-17T02:11:00Z")
LIVE = live_roll()
TOMBSTONE = LIVE.tombstone()
LIVE_TEXT = (
    '{"deployment":"driftgate","id":"20261017T021000Z-app","openedAt":"2026-10-17T02:10:00Z",'
    '"guardAt":"2026-10-17T02:11:00Z","revertBy":"2026-10-17T02:20:00Z",'
    '"baseline":[{"nodes":"10%","reasons":["Empty","Underutilized"]},{"nodes":"0","reasons":["Drifted"]}],'
    '"opened":[{"nodes":"10%","reasons":["Empty","Underutilized"]},{"nodes":"01","reasons":["Drifted"]},'
    '{"nodes":"00","reasons":["Drifted"],"schedule":"11 2 17 10 *","duration":"8736h"}],'
    '"windowKey":"app/sat/2026-10-17T02:00:00Z","count":1}'
)
TOMBSTONE_TEXT = (
    '{"deployment":"driftgate","id":"20261017T021000Z-app","windowKey":"app/sat/2026-10-17T02:00:00Z","count":1}'
)


def changed(**fields: Any) -> str:
    return json.dumps(json.loads(LIVE_TEXT) | fields)


def test_an_opening_is_written_as_compact_json():
    assert to_text(LIVE) == LIVE_TEXT


def test_a_closed_opening_leaves_a_short_tombstone():
    assert to_text(TOMBSTONE) == TOMBSTONE_TEXT


def test_what_was_written_reads_back_the_same():
    assert from_text(LIVE_TEXT) == LIVE
    assert from_text(TOMBSTONE_TEXT) == TOMBSTONE


@usual
@given(baselines())
def test_any_baseline_reads_back_the_same_and_is_believed(baseline):
    live = replace(LIVE, baseline=baseline, opened=opened_list(baseline, GUARD_AT))

    assert from_text(to_text(live)) == live
    assert is_believable(live)


def test_no_annotation_is_nothing():
    assert from_text(None) is None


def test_fields_of_a_newer_version_are_left_to_it():
    assert from_text(changed(extra={"a": 1})) == LIVE


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "{",
        "[]",
        "null",
        '"text"',
        "{}",
        "[" * 100_000,
        "9" * 5000,
        TOMBSTONE_TEXT.replace('"count":1', '"count":true'),
        TOMBSTONE_TEXT.replace(',"count":1', ""),
        TOMBSTONE_TEXT.replace('"count":1', '"baseline":[]'),
        changed(id=None),
        changed(deployment=7),
        changed(openedAt="yesterday"),
        changed(openedAt="2026-10-17T02:10:00"),
        changed(revertBy="0001-01-01T00:00:00+14:00"),
        changed(guardAt="2026-10-17T02:11:05Z"),
        changed(guardAt=None),
        changed(baseline="[]"),
        changed(baseline=[7]),
        changed(opened=[{"nodes": 1}]),
        changed(opened=[{"nodes": "1", "reasons": "Drifted"}]),
        changed(count=-1),
    ],
)
def test_what_cannot_be_read_is_told_and_never_raises(raw):
    found = from_text(raw)

    assert isinstance(found, Unreadable)
    assert found.raw == raw
    assert found.problem.startswith("driftgate.dev/roll")


@usual
@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_reading_never_raises(raw):
    assert isinstance(from_text(raw), Unreadable)


def test_a_record_that_fits_is_believed():
    assert is_believable(LIVE)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"baseline": (budget("10%"),)}, "a baseline that does not shut Drifted"),
        ({"baseline": (budget("0", "Drifted"),)}, "a baseline of other limits for Empty"),
        ({"baseline": (*GATE, OPEN_MARK)}, "a baseline with a mark"),
        ({"guard_at": at("2026-10-17T02:12:00Z")}, "a guard of another minute"),
        ({"opened": ()}, "no opened list"),
    ],
)
def test_a_record_that_does_not_fit_is_not_believed(fields, why):
    assert not is_believable(replace(LIVE, **fields)), why


def test_an_empty_baseline_is_not_believed_although_its_opened_list_fits():
    assert not is_believable(replace(LIVE, baseline=(), opened=opened_list((), GUARD_AT)))


@pytest.mark.parametrize(
    ("standing", "may"),
    [
        (None, True),
        (Unreadable(raw="{", problem=""), True),
        (LIVE, True),
        (TOMBSTONE, True),
        (replace(TOMBSTONE, id="20261017T020000Z-app"), True),
        (replace(TOMBSTONE, id="20261017T022000Z-app"), False),
        (replace(LIVE, id="20261017T022000Z-app"), False),
    ],
)
def test_a_tombstone_never_replaces_word_of_a_newer_roll(standing: LiveRoll | Tombstone | Unreadable | None, may):
    assert may_write_tombstone(standing, LIVE.id) is may


def test_fifty_long_entries_stay_far_below_what_the_server_takes():
    long = budget(
        "100%", "Underutilized", "Empty", schedule="0,15,30,45 0-6,20-23 1-15 jan-jun mon-fri", duration="8736h"
    )
    baseline = (budget("0", "Drifted"), *[long] * 48)
    text = to_text(replace(LIVE, baseline=baseline, opened=opened_list(baseline, GUARD_AT)))

    assert len(to_objects(baseline)) == 49
    assert len(text) < 16 * 1024
