"""Each promise of the design (I1-I9), on its own and in plain sight; the machine tries them in every mixture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from driftgate.domain.budget import Budget, from_objects
from driftgate.domain.marks import is_mark
from driftgate.domain.plan import Verdict
from driftgate.domain.policy import Mode
from driftgate.ports import WorkMessage
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.witness import budgets_of
from tests.gate_policy import limits_of
from tests.simulated.edits import EDITS
from tests.simulated.life import Life
from tests.simulated.trouble import Failure
from tests.simulated.two_pools import CALENDAR, GATES, POLICY, START


def pause_both(life: Life) -> None:
    for pool in GATES:
        life.annotate_pause(pool, paused=True)


OBJECTIONS: dict[str, Callable[[Life], None]] = {
    "observe": lambda life: life.set_mode(Mode.OBSERVE),
    "outside a window": lambda life: life.jump(195 * 60.0),
    "blackout": lambda life: life.jump(45 * 60.0),
    "calendar": lambda life: life.deployment.world.calendars.states.update({CALENDAR: "CLOSED"}),
    "paused": lambda life: life.pause(),
    "paused by annotation": pause_both,
    "in alarm": lambda life: life.alarm("ALARM", told=False),
    "no data": lambda life: life.alarm("INSUFFICIENT_DATA", told=False),
    "no such alarm": lambda life: life.alarm("MISSING", told=False),
    "CloudWatch does not answer": lambda life: life.fail_alarms(failing=True),
}
OTHERS = ("Empty", "Underutilized")


@pytest.fixture
def life() -> Life:
    return Life()


def budgets(life: Life, pool: str) -> tuple[Budget, ...]:
    stored = life.sim.store.get(NODEPOOLS, pool)
    return () if stored is None else from_objects(list(budgets_of(stored.obj)))


def hold_open(life: Life, seconds: float = 300) -> None:
    """One gate opens as soon as time passes, and Karpenter takes nothing for that long."""
    life.nominate(seconds)
    life.deployment.queue.send(WorkMessage(cluster="demo", dedup="open", cause="test"))


def broken(life: Life) -> list[str]:
    """What the watchman has to say."""
    life.watchman.look()
    return life.watchman.broken


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
    life.set_idle(1)
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


def test_i3_the_baseline_comes_back_exactly(life):
    life.pass_time(30 * 60)

    assert {pool: budgets(life, pool) for pool in GATES} == {p: from_objects(list(g)) for p, g in GATES.items()}


@pytest.mark.parametrize("edit", range(len(EDITS)))
def test_i3_an_edit_during_an_opening_is_kept_and_the_gate_is_shut(life, edit):
    hold_open(life)
    life.after_opening(10, lambda: life.edit_budgets(life.watchman.openings[0].pool, EDITS[edit]))

    life.pass_time(600)

    assert not any(is_mark(entry) for pool in GATES for entry in budgets(life, pool))
    assert life.watchman.openings[0].is_edited
    assert broken(life) == []


def test_i3_where_somebody_put_the_baseline_back_the_budgets_are_left_alone(life):
    hold_open(life)
    life.after_opening(10, lambda: life.edit_budgets("app", lambda _, __: [dict(entry) for entry in GATES["app"]]))

    life.pass_time(150)

    assert life.watchman.openings[0].pool == "app"
    assert [c.manager for c in life.sim.witness.budgets if c.pool == "app"][:2] == ["driftgate", "kubectl"]
    assert budgets(life, "app") == from_objects(list(GATES["app"]))


def test_i4_a_gate_that_nobody_shuts_is_shut_by_its_guard(life):
    hold_open(life, 20)
    life.doom_in(5)
    life.deployment.work()
    life.deployment.is_gone = True

    life.sim.advance(3600)
    life.watchman.look()

    (opening,) = life.watchman.openings
    assert opening.closed_at is None
    assert opening.guard_at - opening.at <= timedelta(seconds=90)
    assert len(opening.taken) >= 1
    assert broken(life) == []


def test_i5_limits_of_other_reasons_never_move(life):
    life.pass_time(30 * 60)

    for pool, gate in GATES.items():
        lists = [from_objects(list(c.after)) for c in life.sim.witness.budgets if c.pool == pool]
        for reason in OTHERS:
            was = limits_of(from_objects(list(gate)), reason)
            assert [limits_of(entries, reason) for entries in lists] == [was] * len(lists)


def test_i6_nothing_dangerous_is_ever_introduced(life):
    life.pass_time(30 * 60)
    written = [entry for change in life.sim.witness.budgets for entry in change.after]

    assert all(change.after for change in life.sim.witness.budgets)
    assert all(entry.get("reasons") != [] for entry in written)
    assert {entry["duration"] for entry in written if "duration" in entry} == {"8736h"}


def test_i7_the_same_message_twice_opens_once(life):
    first, again = life.deployment.look("same"), life.deployment.look("same")

    assert first is not None
    assert again is not None
    assert (first.opened, again.opened) == (["app"], [])


def test_i8_an_alarm_shuts_the_gate_at_once_while_a_worker_holds_the_lease(life):
    hold_open(life)
    life.after_opening(10, lambda: life.alarm("ALARM", told=True))

    life.pass_time(120)

    (opening,) = life.watchman.openings
    assert opening.closed_at == opening.at + timedelta(seconds=10)
    assert broken(life) == []


def test_i8_an_alarm_shuts_the_gate_also_while_the_ledger_does_not_answer(life):
    hold_open(life)
    life.after_opening(9, lambda: life.fail_ledger(60))
    life.after_opening(10, lambda: life.alarm("ALARM", told=True))

    life.pass_time(120)

    (opening,) = life.watchman.openings
    assert opening.closed_at == opening.at + timedelta(seconds=10)


def test_i8_an_abandoned_gate_is_shut_by_the_heartbeat_whatever_the_alarm_says(life):
    hold_open(life)
    life.doom_in(5)
    life.deployment.work()
    life.alarm("ALARM", told=False)

    life.pass_time(160)

    (opening,) = life.watchman.openings
    assert opening.closed_at is not None
    assert budgets(life, opening.pool) == opening.baseline


@pytest.mark.parametrize("resource", ["nodepools", "nodeclaims", "nodes", "ec2nodeclasses"])
def test_i9_what_cannot_be_read_is_unknown_and_told_and_never_opens(life, resource):
    life.fail_api(Failure.FORBIDDEN, "GET", resource, 3600)

    report = life.deployment.look()

    told = {event.pool for event in life.deployment.world.publisher.told if event.code == "UNKNOWN"}
    assert report is not None
    assert report.plan is not None
    assert {pool.verdict for pool in report.plan.pools} == {Verdict.UNKNOWN}
    assert told == set(GATES)
    assert report.opened == []


@pytest.mark.parametrize("resource", ["pods", "poddisruptionbudgets"])
def test_i9_pods_that_cannot_be_read_are_not_no_pods(life, resource):
    life.fail_api(Failure.UNAVAILABLE, "GET", resource, 3600)

    report = life.deployment.look()

    assert report is not None
    assert report.plan is not None
    assert report.opened == []
    assert all("UNKNOWN" in {str(hold.code) for hold in pool.action.reasons} for pool in report.plan.pools)


def test_i10_nothing_but_budgets_and_the_own_annotation_is_ever_written(life):
    asked: set[tuple[str, str]] = set()
    life.deployment.gateway.before = lambda method, path: asked.add((method, path)) if method != "GET" else None

    life.pass_time(30 * 60)

    assert asked == {("PATCH", f"/apis/karpenter.sh/v1/nodepools/{pool}") for pool in GATES}
    assert broken(life) == []
