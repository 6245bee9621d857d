"""Each rule of the protocol, by the schedule that shows what goes wrong without it."""

from __future__ import annotations

from datetime import datetime, timedelta

from driftgate.domain.roll import RollState
from driftgate.sim.timings import Timings
from tests.interleaving.run import Played, play
from tests.interleaving.schedule import Act, Happening, Step
from tests.interleaving.setting import Setting
from tests.sim_clusters import NOW

ONE_BY_ONE = Setting(nodes=8, empty=0, per_window=3, pause_between=timedelta(0))
IDLE = Setting(nodes=4, timings=Timings(idle_s=3600.0))
"""A Karpenter that is long about its next pass: it takes nothing while the gate is open."""


def at(seconds: float) -> datetime:
    """The stage begins a second after the cluster."""
    return NOW + timedelta(seconds=1 + seconds)


def codes(played: Played) -> set[str]:
    return {event.code for event in played.told}


# --- stops -----------------------------------------------------------------------------------------


def test_no_intent_is_written_against_a_stop_that_came_since_the_ledger_was_read():
    played = play(Happening(8, "pause"), Step("worker-1", "commit", 3, Act.WAIT, 3.0))

    assert played.faults == ()
    assert played.openings == ()


def test_nor_is_an_intent_carried_out_against_a_stop_whose_closer_died():
    played = play(
        Happening(8, "pause"),
        Step("worker-1", "commit", 4, Act.WAIT, 3.0),
        Step("person-1", "load_fleet", 1, Act.DIE_BEFORE),
    )

    assert played.faults == ()
    assert played.openings == ()
    assert [roll.ended_at < at(12) for roll in played.rolls if roll.ended_at] == [True]


def test_an_opening_whose_stop_came_meanwhile_is_closed_by_its_own_worker_at_once():
    played = play(
        Happening(8, "pause"),
        Step("worker-1", "patch_nodepool", 1, Act.WAIT, 3.0),
        Step("person-1", "load_fleet", 1, Act.DIE_BEFORE),
    )

    (opening,) = played.openings
    assert played.faults == ()
    assert opening.seconds_open < 1


# --- P1 --------------------------------------------------------------------------------------------


def test_p1_an_opening_that_comes_after_its_closing_is_refused():
    played = play(Step("worker-1", "patch_nodepool", 1, Act.LATE, 6.0))

    assert played.faults == ()
    assert "patch_nodepool #1 comes late and is refused" in "\n".join(played.log)


def test_p1_so_is_one_that_found_the_note_of_an_earlier_roll():
    played = play(Happening(2, "worker"), Step("worker-3", "patch_nodepool", 1, Act.LATE, 6.0), setting=ONE_BY_ONE)

    assert played.faults == ()
    assert "patch_nodepool #1 comes late and is refused" in "\n".join(played.log)


# --- P2 --------------------------------------------------------------------------------------------


def test_p2_the_closing_of_an_older_roll_leaves_the_newer_ones_note():
    """Worker 1 sleeps before it closes; others close for it, and roll another node meanwhile."""
    played = play(Step("worker-1", "patch_nodepool", 2, Act.WAIT, 400.0), setting=ONE_BY_ONE, seconds=460)

    assert played.faults == ()
    assert len(played.openings) > 1
    assert played.openings[1].at < at(400)


def test_p2_an_opening_sorts_after_a_note_whose_clock_was_ahead():
    played = play(Happening(2, "note:app"), Step("worker-1", "patch_nodepool", 1, Act.LATE, 6.0))

    assert played.faults == ()
    assert "patch_nodepool #1 comes late and is refused" in "\n".join(played.log)


def test_p2_a_note_that_a_person_wrote_keeps_no_gate_of_ours_open():
    played = play(Happening(14, "note:app"), Happening(16, "alarm"), setting=IDLE)

    (opening, *_) = played.openings
    assert played.faults == ()
    assert opening.shut < at(18)


# --- P3 --------------------------------------------------------------------------------------------


def test_p3_a_node_that_karpenter_takes_after_the_closing_keeps_its_slot():
    """Karpenter read the budget while the gate was open and acts 25 s later; the alarm fires in between."""
    slow = Setting(timings=Timings(simulation_s=25.0))
    played = play(Happening(14, "alarm"), Happening(15, "alarm_ok"), setting=slow)

    (opening,) = played.openings
    assert played.faults == ()
    assert (len(opening.nodes), opening.seconds_open < 12) == (1, True)
    assert [roll.state for roll in played.rolls] == [RollState.DONE]


# --- P4 --------------------------------------------------------------------------------------------


def test_p4_a_guard_moves_only_after_the_ledger_knows_it():
    played = play(setting=IDLE)

    (opening, *_) = played.openings
    assert played.faults == ()
    assert opening.last_write > opening.at


def test_p4_a_renewal_whose_answer_is_lost_closes():
    played = play(Step("worker-1", "patch_nodepool", 2, Act.LOSE), setting=IDLE)

    (opening, *_) = played.openings
    assert played.faults == ()
    assert opening.shut - opening.last_write < timedelta(seconds=2)


# --- P5 --------------------------------------------------------------------------------------------


def test_p5_nothing_opens_before_the_last_guard_has_passed():
    """Empty nodes are gone within seconds, and nobody asked for a pause between rolls."""
    looks = [Happening(float(second), "worker") for second in range(20, 70, 5)]
    played = play(*looks, setting=Setting(per_window=3, nodes=6, empty=3, pause_between=timedelta(0)))

    assert played.faults == ()
    assert len(played.openings) > 1


# --- P6 --------------------------------------------------------------------------------------------


def test_p6_a_guard_that_moved_is_no_edit():
    """The worker died before its renewal: the ledger knows a later guard than stands in the list."""
    played = play(
        Happening(50, "alarm"),
        Happening(80, "alarm_ok"),
        Step("worker-1", "patch_nodepool", 2, Act.DIE_BEFORE),
        setting=IDLE,
    )

    assert played.faults == ()
    assert "FOREIGN_EDIT" not in codes(played)


# --- P7 --------------------------------------------------------------------------------------------


def test_p7_a_persons_own_opening_is_not_shut_by_an_opening_of_ours_that_never_was():
    """A person opens while our patch is on its way; its answer is lost, so we close what we may have opened."""
    played = play(
        Happening(7.45, "open:app"),
        Step("worker-1", "patch_nodepool", 1, Act.FAIL, error=0),
        Step("worker-1", "get_nodepool", 1, Act.WAIT, 1.5),
    )

    assert played.faults == ()
    assert played.openings == ()
    assert played.budgets["app"] == [{"nodes": "1", "reasons": ["Drifted"]}]


# --- P8 --------------------------------------------------------------------------------------------


def test_p8_an_alarm_shuts_a_gate_of_which_the_ledger_knows_nothing():
    played = play(
        Happening(20, "lose_ledger"),
        Happening(25, "alarm"),
        Step("worker-1", "watch", 4, Act.DIE_BEFORE),
        setting=IDLE,
    )

    (opening,) = played.openings
    assert played.faults == ()
    assert opening.shut < at(27)


# --- P9 --------------------------------------------------------------------------------------------


def test_p9_a_worker_that_slept_past_the_guard_never_renews():
    played = play(Step("worker-1", "watch", 54, Act.WAIT, 25.0), setting=IDLE)

    opening = played.openings[0]
    assert played.faults == ()
    assert opening.last_write == opening.at
    assert opening.guard_at < opening.shut < opening.guard_at + timedelta(seconds=10)


def test_p9_claims_are_read_before_renewing_because_a_watch_may_be_deaf():
    played = play(setting=Setting(is_watch_deaf=True, empty=0))

    opening = played.openings[0]
    assert played.faults == ()
    assert opening.last_write == opening.at
    assert opening.seconds_open < 40


# --- P10 -------------------------------------------------------------------------------------------


def test_p10_a_closing_without_an_answer_is_not_believed():
    played = play(Step("worker-1", "patch_nodepool", 2, Act.LATE, 400.0))

    (opening,) = played.openings
    assert played.faults == ()
    assert len(opening.nodes) == 1
    assert opening.seconds_open < 5


# --- P11 -------------------------------------------------------------------------------------------


def test_p11_a_lost_ledger_gives_no_second_opening():
    played = play(Happening(30, "lose_ledger"))

    assert played.faults == ()
    assert len(played.openings) == 1
