"""Schedules that once broke a promise, each as short as it could be made."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.interleaving.run import Played, play
from tests.interleaving.schedule import Act, Happening, Step
from tests.interleaving.setting import Setting
from tests.interleaving.test_rules import IDLE, at

LATE_IN_THE_MINUTE = Setting(timings=IDLE.timings, beat_at_s=30.0)
"""The gate opens 87 s before its guard, so that the guard is renewed between two slices."""


def alerts(played: Played) -> list[str]:
    return [event.code for event in played.told if event.kind == "Alert"]


def test_an_alert_is_not_lost_with_the_commit_that_should_have_followed_it():
    played = play(
        Step("worker-1", "patch_nodepool", 2, Act.DIE_BEFORE), Step("worker-4", "commit", 1, Act.LOSE), seconds=480
    )

    assert played.faults == ()


@pytest.mark.parametrize("frozen_for", [20.0, 75.0, 95.0])
def test_what_went_while_the_worker_slept_is_counted_and_told(frozen_for):
    played = play(Step("worker-1", "commit", 5, Act.WAIT, frozen_for))

    assert played.faults == ()
    (opening,) = played.openings
    assert [1 + len(roll.also_taken) for roll in played.rolls] == [len(opening.nodes)]
    assert alerts(played).count("GATE_LEFT_OPEN") == 1


def test_a_closer_tells_that_a_gate_was_abandoned_and_writes_that_the_baseline_is_back():
    played = play(Step("worker-1", "watch", 4, Act.DIE_BEFORE), setting=IDLE)

    assert played.faults == ()
    assert "ABANDONED" in alerts(played)


def test_a_worker_that_finds_the_cluster_held_writes_down_what_it_shut():
    """The heartbeat's closer dies; the next worker may not work here, but it shuts what is overdue, and tells it."""
    played = play(
        Step("worker-1", "watch", 4, Act.DIE_BEFORE),
        Step("closer-1", "commit", 1, Act.DIE_BEFORE),
        setting=IDLE,
        seconds=135,
    )

    assert played.faults == ()
    assert "ABANDONED" in alerts(played)
    assert [roll.closed_by for roll in played.rolls] == ["worker-2"]


def test_a_stop_that_was_written_again_is_not_lifted_by_an_older_reading():
    """The alarm's first stop may be lifted; before it is, the alarm fires again."""
    played = play(
        Happening(1, "alarm"),
        Happening(3, "alarm_ok"),
        Happening(9, "alarm"),
        Step("hint-1", "send", 1, Act.DIE_BEFORE),
        Step("hint-2", "send", 1, Act.DIE_BEFORE),
        Step("worker-1", "commit", 1, Act.WAIT, 3.0),
    )

    assert played.faults == ()
    assert played.openings == ()


def test_a_ledger_that_does_not_answer_keeps_no_closer_from_the_gate():
    played = play(Happening(14, "alarm"), Step("closer-1", "load_fleet", 1, Act.FAIL), setting=IDLE)

    (opening, *_) = played.openings
    assert played.faults == ()
    assert opening.shut < at(16)


def test_a_renewal_that_meets_an_edit_between_two_slices_closes():
    played = play(Happening(90.9, "add:app"), setting=LATE_IN_THE_MINUTE)

    (opening, *_) = played.openings
    assert played.faults == ()
    assert opening.shut < at(93)


@pytest.mark.parametrize(
    "step",
    [
        Step("worker-1", "send", 1, Act.FAIL),
        Step("worker-1", "get_nodepool", 1, Act.FAIL),
        Step("worker-1", "load", 2, Act.FAIL),
    ],
    ids=str,
)
def test_a_gate_that_nobody_can_go_on_with_is_shut_at_the_end_of_the_slice(step):
    played = play(step, setting=LATE_IN_THE_MINUTE)

    (opening, *_) = played.openings
    assert played.faults == ()
    assert opening.shut - opening.at < timedelta(seconds=62)


@pytest.mark.parametrize("call", ["read_pool", "get_nodepool"])
def test_a_slice_that_cannot_begin_closes(call):
    played = play(Step("worker-2", call, 1, Act.FAIL), setting=IDLE)

    (opening, *_) = played.openings
    assert played.faults == ()
    assert opening.shut - opening.at < timedelta(seconds=63)


def test_a_stop_for_a_roll_that_the_ledger_lost_does_not_stand_for_ever():
    played = play(
        Happening(129, "lose_ledger"),
        Step("worker-1", "watch", 4, Act.DIE_BEFORE),
        Step("closer-1", "commit", 1, Act.WAIT, 6.0),
        setting=IDLE,
    )

    assert played.faults == ()


def test_a_closing_that_was_recorded_by_another_knows_that_the_baseline_is_back():
    played = play(Step("worker-1", "commit", 5, Act.LOSE))

    assert played.faults == ()


def test_what_went_is_counted_by_the_worker_that_shuts_because_the_next_look_may_come_late():
    """The worker sees one sign of several, and for seven minutes every later worker dies."""
    played = play(
        Step("worker-1", "commit", 5, Act.WAIT, 45.0),
        Step("worker-2", "list_nodes", 1, Act.DIE_AFTER),
        Step("worker-3", "load", 1, Act.FAIL),
        Step("worker-4", "list_pdbs", 1, Act.DIE_AFTER),
        seconds=560,
    )

    (opening,) = played.openings
    assert played.faults == ()
    assert [1 + len(roll.also_taken) for roll in played.rolls] == [len(opening.nodes)]


def test_a_worker_whose_record_is_lost_shuts_its_gate_at_its_next_beat():
    played = play(Happening(14, "lose_ledger"), setting=IDLE)

    (opening, *_) = played.openings
    assert played.faults == ()
    assert opening.shut < at(25)


def test_nothing_opens_while_a_roll_that_has_ended_is_not_stored_as_ended():
    """The first opening took nothing; its end meets a conflict in the very look that would open again."""
    played = play(
        Step("worker-1", "patch_nodepool", 1, Act.LOSE),
        Step("worker-2", "commit", 1, Act.FAIL, error=1),
        setting=Setting(per_window=2),
    )

    assert played.faults == ()
    assert [len(opening.nodes) for opening in played.openings[:2]] == [0, 1]


def test_an_edit_during_a_second_opening_of_the_same_day_is_told_too():
    played = play(Happening(20, "add:app"), Happening(150, "add:app"), setting=IDLE)

    assert played.faults == ()
    assert len({event.thread for event in played.told if event.code == "FOREIGN_EDIT"}) == 2


def test_a_closer_tells_how_it_found_the_gate_even_where_its_record_is_not_taken():
    played = play(
        Happening(160, "lose_ledger"),
        Step("worker-1", "watch", 4, Act.DIE_BEFORE),
        Step("closer-1", "commit", 2, Act.FAIL),
        Step("worker-2", "commit", 1, Act.FAIL),
        setting=IDLE,
    )

    assert played.faults == ()
    assert "ABANDONED" in alerts(played)
