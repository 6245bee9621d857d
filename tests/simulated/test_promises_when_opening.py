"""When a gate opens, and how often (I1, I2): each promise on its own; the machine tries them in every mixture."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from driftgate.sim.kinds import NODEPOOLS
from tests.simulated.life import Life
from tests.simulated.moments import broken, hold_open, pause_both
from tests.simulated.objections import OBJECTIONS
from tests.simulated.two_pools import POLICY, START


@pytest.fixture
def life() -> Life:
    return Life()


def test_i1_where_nothing_speaks_against_it_a_gate_opens(life):
    life.pass_time(65)

    assert len(life.watchman.openings) == 1
    assert broken(life) == []


@pytest.mark.parametrize("objection", OBJECTIONS)
def test_i1_nothing_opens_against_an_objection(life, objection):
    OBJECTIONS[objection](life)

    life.pass_time(240)

    assert life.sim.witness.budgets == []


def test_i1_an_open_gate_is_shut_before_the_blackout_begins(life):
    life.jump(36.9 * 60)
    hold_open(life)

    life.pass_time(600)

    (opening,) = life.watchman.openings
    assert opening.stood_until(life.sim.clock.now()) <= START + timedelta(minutes=40)
    assert broken(life) == []


@pytest.mark.parametrize("objection", ["observe", "calendar", "paused by annotation", "in alarm", "no data"])
def test_i1_an_objection_that_nobody_told_shuts_the_gate_by_the_next_slice(life, objection):
    hold_open(life)
    life.after_opening(10, lambda: OBJECTIONS[objection](life))

    life.pass_time(200)

    (opening,) = life.watchman.openings
    assert opening.closed_at is not None
    assert opening.closed_at - opening.at <= timedelta(seconds=61)


def test_i2_each_opening_takes_one_and_the_window_no_more_than_it_allows(life):
    life.pass_time(30 * 60)
    life.watchman.look()

    took = [(opening.pool, len(opening.taken)) for opening in life.watchman.openings]
    assert sorted(took) == [("app", 1), ("app", 1), ("web", 1), ("web", 1)]
    assert broken(life) == []


def test_i2_the_next_gate_opens_only_when_the_node_before_is_gone(life):
    life.pass_time(30 * 60)
    life.watchman.look()

    gone = {ending.claim: ending.at for ending in life.sim.witness.endings}
    openings = life.watchman.openings
    assert len(openings) == 4
    assert all(then.at >= gone[first.taken[0].claim] for first, then in pairwise(openings))


def test_i2_what_karpenter_takes_on_its_older_view_after_the_closing_is_counted(life):
    life.sim.world.view.lag_of[NODEPOOLS] = 8.0
    life.nature.set_idle(1)
    hold_open(life, 63)
    life.after_opening(10, lambda: pause_both(life))

    life.deployment.work()
    life.deployment.look("right after the closing")
    life.pass_time(120)

    life.watchman.look()
    (opening,) = life.watchman.openings
    (roll,) = life.ledger.real.load("demo").rolls
    assert opening.taken[0].at > opening.closed_at
    assert roll.claim == opening.taken[0].claim
    assert life.ledger.real.load("demo").counters[0].taken == 1


def test_i2_a_gate_that_was_shut_without_a_sign_stays_shut_until_its_guard_has_passed(life):
    hold_open(life)
    life.after_opening(5, lambda: life.alarm("ALARM", told=True))
    life.after_opening(6, lambda: life.alarm("OK", told=True))

    for _ in range(30):
        life.pass_time(3)
        life.deployment.look("again")

    assert len(life.watchman.openings) >= 2
    assert broken(life) == []


def test_i2_a_roll_that_is_over_at_once_opens_no_further_gate_before_the_guard_has_passed(life):
    hasty = replace(POLICY.default, open=replace(POLICY.default.open, pause_between=timedelta(0)))
    life.deployment.world.policy = replace(POLICY, pools=(("app", hasty),))

    for _ in range(40):
        life.pass_time(3)
        life.deployment.look("again")

    assert len(life.watchman.openings) >= 2
    assert broken(life) == []
