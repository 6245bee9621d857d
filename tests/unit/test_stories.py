"""What a thread begins and ends with."""

from __future__ import annotations

from datetime import timedelta

import pytest

from driftgate.domain import stories
from driftgate.domain.advance import Advance
from driftgate.domain.plan import Action, ActionKind, ImageLine, PoolPlan, Verdict
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import RollState
from driftgate.domain.window import Interval
from tests.factories import NEW_IMAGE, NOW, OLD_IMAGE, roll

TAKEN = {
    "sign_at": NOW + timedelta(seconds=3),
    "sign": "Drifted",
    "node": "a1",
    "closed_at": NOW + timedelta(seconds=3.25),
    "closed_by": "worker-1",
    "baseline_restored": True,
}


PLAN = PoolPlan(
    name="app",
    verdict=Verdict.TRAPPED,
    nodes=12,
    drifted=3,
    current_window=Interval(name="sat", start=NOW - timedelta(minutes=10), end=NOW + timedelta(hours=3)),
    images=(ImageLine(image=OLD_IMAGE, right=NEW_IMAGE, nodes=("a1",), days_behind=46, release_distance_days=22),),
    next_node="a1",
    action=Action(kind=ActionKind.OPEN),
)


def ending(state: RollState, **fields):
    was = roll(RollState.BAKING, **fields)
    ended = roll(state, **fields)
    (event,) = stories.of_step(was, ended, Advance(roll=ended, reason=ReasonCode.BAKING), NOW)
    return event


def test_a_roll_ends_with_what_the_record_says():
    event = ending(RollState.DONE, **TAKEN, replacement="a9")

    assert event.text.splitlines() == [
        "a1 was replaced by a9. The gate stood open for 3.2 s, the baseline is back.",
        "Opened: 2026-10-17T02:10:00Z.",
        "Sign: Drifted at 2026-10-17T02:10:03Z.",
        "Shut: 2026-10-17T02:10:03.250Z by worker-1; the baseline is back exactly.",
        f"Image: {NEW_IMAGE}.",
    ]


def test_budgets_that_are_not_those_found_before_are_said_to_be_so():
    event = ending(RollState.FAILED, **(TAKEN | {"baseline_restored": False}))

    assert "by worker-1; the budgets are not those found before." in event.text


def test_a_roll_that_never_opened_has_no_evidence():
    event = ending(RollState.CLOSED_UNUSED, opened_at=None)

    assert event.text == "No node was taken. The window's slot is given back."


@pytest.mark.parametrize(("image", "words"), [(NEW_IMAGE, f"a1, for the image {NEW_IMAGE}."), ("", "a1.")])
def test_a_thread_begins_with_what_where_why_now_and_what_next(image, words):
    event = stories.of_opening(roll(image=image), PLAN, NOW)

    assert (event.cluster, event.title) == ("demo", "app: the gate opens for one node")
    assert event.text == (
        "3 of 12 nodes are drifted, up to 46 days behind. In the window sat the Drifted budget of app allows one from "
        f"now. Next in line: {words}"
    )
    assert event.next_steps[1] == "At the latest it is shut at 2026-10-17T02:20:00Z."
