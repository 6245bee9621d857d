"""Time on one machine: several agendas by one clock, and work that never ends in silence."""

from __future__ import annotations

import threading

from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock
from infra.local.tempo import Tempo
from infra.local.virtual_time import VirtualTime
from tests.local.stand import NOW


def agenda(clock):
    return Agenda(clock, threading.RLock())


def test_who_sleeps_lets_everything_of_all_agendas_happen_in_the_order_of_time():
    clock, seen = ManualClock(NOW), list[str]()
    first, second = agenda(clock), agenda(clock)
    VirtualTime(clock, first, second)
    first.after(3, lambda: seen.append("c"))
    second.after(1, lambda: seen.append("a"))
    first.after(2, lambda: seen.append("b"))
    second.after(9, lambda: seen.append("late"))

    clock.sleep(5)

    assert seen == ["a", "b", "c"]
    assert (clock.now() - NOW).total_seconds() == 5


def test_work_may_sleep_and_what_is_due_meanwhile_happens():
    clock, seen = ManualClock(NOW), list[str]()
    account, cluster = agenda(clock), agenda(clock)
    VirtualTime(clock, cluster, account)
    tempo = Tempo(account, is_threaded=False)

    def look():
        seen.append("begins")
        clock.sleep(10)
        seen.append("ends")

    tempo.after(1, lambda: tempo.hand("worker", look))
    cluster.after(5, lambda: seen.append("Karpenter"))
    clock.sleep(30)

    assert seen == ["begins", "Karpenter", "ends"]


def test_what_breaks_is_kept_and_the_rest_goes_on():
    clock, seen = ManualClock(NOW), list[str]()
    account = agenda(clock)
    VirtualTime(clock, account)
    tempo = Tempo(account, is_threaded=False)

    def broken():
        raise KeyError("nobody")

    tempo.after(1, broken)
    tempo.after(2, lambda: seen.append("after"))

    clock.sleep(3)

    assert seen == ["after"]
    assert "KeyError" in tempo.faults[0]


def test_after_the_stop_nothing_new_is_begun():
    clock, seen = ManualClock(NOW), list[str]()
    account = agenda(clock)
    VirtualTime(clock, account)
    tempo = Tempo(account, is_threaded=False)
    tempo.after(1, lambda: seen.append("too late"))

    tempo.stop()
    clock.sleep(3)

    assert seen == []


def test_on_threads_each_name_does_one_thing_at_a_time_and_names_do_not_wait_for_each_other():
    tempo = Tempo(agenda(ManualClock(NOW)), is_threaded=True)
    seen, other_began, may_end = list[int](), threading.Event(), threading.Event()

    def first():
        may_end.wait(10)
        seen.append(1)

    tempo.hand("a", first)
    tempo.hand("a", lambda: seen.append(2))
    tempo.hand("b", other_began.set)

    assert other_began.wait(10)
    assert seen == []
    may_end.set()
    done = threading.Event()
    tempo.hand("a", done.set)
    assert done.wait(10)
    tempo.stop()
    assert seen == [1, 2]
