"""What an opening leaves behind (I3-I10): each promise on its own; the machine tries them in every mixture."""

from __future__ import annotations

from datetime import timedelta

import pytest

from driftgate.domain.budget import from_objects
from driftgate.domain.marks import is_mark
from driftgate.domain.plan import Verdict
from tests.gate_policy import limits_of
from tests.simulated.edits import EDITS
from tests.simulated.life import Life
from tests.simulated.moments import broken, budgets, hold_open
from tests.simulated.trouble import Failure
from tests.simulated.two_pools import GATES

OTHERS = ("Empty", "Underutilized")


@pytest.fixture
def life() -> Life:
    return Life()


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
