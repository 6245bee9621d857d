"""Clocks and the agenda: what happens when, and that it happens the same way twice."""

import threading
from datetime import timedelta

import pytest

from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock, WallClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import KINDS
from tests.sim_clusters import NOW, OPEN, drifted_cluster, seconds


def agenda_of(clock):
    return Agenda(clock, threading.RLock())


def test_events_run_in_the_order_of_their_times_and_then_of_their_making():
    agenda, ran = agenda_of(ManualClock(NOW)), []
    agenda.after(2, lambda: ran.append("late"))
    agenda.after(1, lambda: ran.append("first"))
    agenda.after(1, lambda: ran.append("second"))

    agenda.run_until(NOW + timedelta(seconds=2))

    assert ran == ["first", "second", "late"]


def test_an_event_sees_its_own_time_and_may_plan_another():
    clock = ManualClock(NOW)
    agenda, seen = agenda_of(clock), []

    def tick():
        seen.append(clock.now())
        agenda.after(1, tick)

    agenda.after(1, tick)
    agenda.run_until(NOW + timedelta(seconds=3.5))

    assert seconds(seen) == [1, 2, 3]
    assert clock.now() == NOW + timedelta(seconds=3.5)


def test_sleeping_on_a_manual_clock_moves_the_whole_cluster():
    sim = drifted_cluster(1)
    sim.set_budgets("app", OPEN)

    sim.clock.sleep(60)

    assert sim.witness.nodes() == ["a0"]


def test_time_moves_to_the_very_event_that_was_waited_for():
    sim = drifted_cluster(1)
    sim.set_budgets("app", OPEN)

    assert sim.advance_until(lambda: bool(sim.witness.disruptions))

    assert sim.clock.now() == sim.witness.disruptions[0].at


def test_waiting_for_what_never_comes_ends_at_the_limit():
    sim = drifted_cluster(1)
    started = sim.clock.now()

    assert not sim.advance_until(lambda: bool(sim.witness.disruptions), 90)

    assert sim.clock.now() == started + timedelta(seconds=90)


def test_a_wall_clock_runs_as_fast_as_it_is_told():
    clock = WallClock(start=NOW, speed=1000)

    clock.sleep(2)

    assert clock.now() >= NOW + timedelta(seconds=2)


def test_only_a_manual_clock_can_be_moved():
    with SimCluster(WallClock()) as sim, pytest.raises(TypeError, match="only a manual clock"):
        sim.advance(1)


def test_what_breaks_in_the_model_is_raised_when_the_cluster_is_closed():
    sim = SimCluster(WallClock(speed=100))
    broken = threading.Event()

    def breaks():
        broken.set()
        raise ZeroDivisionError

    sim.agenda.after(0, breaks)
    sim.start()
    broken.wait()

    with pytest.raises(ZeroDivisionError):
        sim.close()


def test_two_runs_of_one_story_are_the_same():
    def story():
        sim = drifted_cluster(4, pods=3)
        sim.set_budgets("app", OPEN)
        sim.advance(400)
        changes = (change for kind in KINDS for change in sim.store.changes_since(kind, 1000))
        return [(change.at, change.type, change.after.key, change.version) for change in changes]

    assert story() == story()
