"""T12 after the opening, T18 (a), T20 (c) (d), T21, the event of T24: what happens in time, on a simulated cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from driftgate.app.close_budgets import close_budgets
from driftgate.app.reconcile import LEASE, reconcile
from driftgate.app.run_report import RunReport
from driftgate.domain.errors import AwsUnavailableError
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.patch import JsonPatch
from driftgate.domain.policy import OpenPolicy
from driftgate.domain.roll import Roll, RollState
from driftgate.events import AlarmChanged, Origin
from driftgate.ports import CloseRequest, WorkMessage
from driftgate.sim.clock import ManualClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.objects import section
from tests.factories import at, cluster_policy, pool_policy
from tests.fakes.pipeline import FakeWorld, world
from tests.fakes.sim_gateway import SimGateway

TRAP = [{"nodes": "10%", "reasons": ["Empty", "Underutilized"]}, {"nodes": "0", "reasons": ["Drifted"]}]
SHUT = [{"nodes": "0", "reasons": ["Drifted"]}]
MARK = {"nodes": "01", "reasons": ["Drifted"]}
START = at("2026-10-17T02:10:00Z")


@dataclass(slots=True)
class Story:
    """One pool in one simulated cluster, and driftgate's ports around it."""

    sim: SimCluster
    clock: ManualClock
    gateway: SimGateway
    world: FakeWorld
    ticks: int = 0

    def tick(self, holder: str = "worker-1", dedup: str = "") -> RunReport:
        """One message, worked on to its end."""
        self.ticks += 1
        message = WorkMessage(cluster="demo", dedup=dedup or f"demo:{self.ticks}", cause="heartbeat")
        return reconcile(self.world.pipeline(holder), message)

    def until(self, end: datetime) -> list[RunReport]:
        """A tick every minute; a slice that goes on is gone on with at once."""
        reports = []
        while self.clock.now() < end:
            reports.append(self.tick())
            if not reports[-1].continues:
                self.sim.advance(60)
        return reports

    def after(self, seconds: float, do: Callable[[], object]) -> None:
        """Runs it in so many seconds, whoever waits for something then."""

        def later() -> None:
            do()

        self.sim.agenda.after(seconds, later)

    def alarm(self) -> object:
        """The alarm's event reaches the closer, which knows neither queue nor lease."""
        self.world.alarms.states["demo_5xx"] = "ALARM"
        origin = Origin(id="e1", at=self.clock.now(), account="111122223333", region="eu-central-1")
        event = AlarmChanged(origin=origin, name="demo-5xx", state="ALARM", previous_state="OK")
        return close_budgets(self.world.pipeline("closer"), event)

    @property
    def rolls(self) -> tuple[Roll, ...]:
        return self.world.ledger.load("demo").rolls

    @property
    def budgets(self) -> list[dict[str, Any]]:
        return [dict(entry.to_object()) for entry in self.gateway.get_nodepool("app").budgets]

    @property
    def openings(self) -> list[datetime]:
        """When the open mark came into the list."""
        changes = self.sim.witness.budgets
        return [change.at for change in changes if MARK in change.after and MARK not in change.before]

    @property
    def closings(self) -> list[datetime]:
        changes = self.sim.witness.budgets
        return [change.at for change in changes if MARK in change.before and MARK not in change.after]

    def told(self, kind: str) -> list[str]:
        return [event.text for event in self.world.publisher.told if str(event.kind) == kind]


Nodes = dict[str, dict[str, Any]]


def story(budgets: list[dict[str, Any]], nodes: Nodes, *, karpenter: str | None = "1.14.1", **open: Any) -> Story:
    """Pool `app` with these nodes, a second before 02:10; Karpenter, where there is one, has just made a pass."""
    clock = ManualClock(START - timedelta(seconds=1))
    sim = SimCluster(clock, karpenter=karpenter)
    sim.add_node_class()
    sim.add_nodepool("app", budgets)
    for name, fields in nodes.items():
        sim.add_node("app", name, **fields)
    sim.advance(1)
    gateway = SimGateway(sim)
    policy = pool_policy(open=OpenPolicy(open_timeout=timedelta(minutes=20), **open))
    return Story(sim, clock, gateway, world(gateway, clock, cluster_policy("app", policy=policy)))


def drifted(since: str, pods: int = 4) -> dict[str, Any]:
    return {"drifted_since": at(since), "pods": pods}


THREE: Nodes = {
    "a1": drifted("2026-10-05T08:00:00Z"),
    "a2": drifted("2026-10-06T08:00:00Z"),
    "a3": drifted("2026-10-07T08:00:00Z", pods=0),
}
HEALTHY: Nodes = {f"a{number}": {"pods": 4} for number in range(4, 13)}
FULL: Nodes = {name: {**fields, "pods": 4} for name, fields in THREE.items()}


class TestT12:
    def test_the_empty_one_goes_and_exactly_one_in_the_whole_window(self):
        one = story(TRAP, THREE | HEALTHY)

        one.until(at("2026-10-17T05:10:00Z"))

        assert one.sim.witness.nodes() == ["a3"]
        assert len(one.openings) == 1
        assert one.budgets == TRAP

    def test_the_gate_is_back_within_a_second_of_the_sign(self):
        one = story(TRAP, THREE | HEALTHY)

        one.tick()

        taken = one.sim.witness.disruptions[0].at
        assert timedelta(0) <= one.closings[0] - taken <= timedelta(seconds=1)

    def test_an_empty_node_proves_nothing_about_the_image(self):
        one = story(TRAP, THREE | HEALTHY)

        one.until(at("2026-10-17T03:10:00Z"))

        (roll,) = one.rolls
        assert (roll.state, roll.node, roll.replacement) == (RollState.DONE, "a3", "")
        assert "unproven" in one.told("RollEnded")[0]

    def test_a_full_node_is_replaced_and_its_image_bakes_from_ready_on(self):
        one = story(TRAP, FULL | HEALTHY)

        one.until(at("2026-10-17T02:20:00Z"))

        (roll,) = one.rolls
        assert one.sim.witness.nodes() == ["a1"]
        assert roll.state is RollState.BAKING
        assert roll.replacement != ""

    def test_the_bake_ends_after_four_hours(self):
        one = story(TRAP, FULL | HEALTHY)

        one.until(at("2026-10-17T02:20:00Z"))
        ready = one.rolls[0].state_since
        one.clock.move_to(ready + timedelta(hours=4))
        one.tick()

        assert one.rolls[0].state is RollState.DONE
        assert one.rolls[0].ended_at == ready + timedelta(hours=4)

    def test_if_nothing_starts_within_the_timeout_it_reverts_and_says_what_it_saw(self):
        kept = {name: {**fields, "do_not_disrupt": name != "a3"} for name, fields in FULL.items()}
        one = story(TRAP, kept | HEALTHY, karpenter=None)

        one.until(at("2026-10-17T02:40:00Z"))

        assert one.rolls[0].state is RollState.CLOSED_UNUSED
        assert one.rolls[0].baseline_restored
        assert one.closings[0] <= at("2026-10-17T02:30:00Z")
        told = next(text for text in one.told("Alert") if "took no node" in text)
        assert "Free to go: a3." in told
        assert "a1 (NODE_DO_NOT_DISRUPT)" in told

    def test_two_vain_openings_are_enough_for_a_window(self):
        one = story(TRAP, FULL | HEALTHY, karpenter=None, per_window=None, pause_between=timedelta(0))

        one.until(at("2026-10-17T03:10:00Z"))

        assert len(one.openings) == 2
        assert [roll.state for roll in one.rolls] == [RollState.CLOSED_UNUSED] * 2


class Meddled(SimGateway):
    """Somebody writes the pool's limits between our reading and our patch, as often as the test says."""

    def __init__(self, sim: SimCluster, times: int) -> None:
        super().__init__(sim)
        self.times = times

    def patch_nodepool(self, name: str, patch: JsonPatch, *, dry_run: bool = False) -> NodePoolSnapshot:
        if self.times > 0:
            self.times -= 1
            cpu = str(100 + self.times)
            self.sim.writes.change(
                NODEPOOLS, name, lambda obj: section(obj, "spec", "limits").update(cpu=cpu), "kubectl"
            )
        return super().patch_nodepool(name, patch, dry_run=dry_run)


class TestT18:
    def meddled(self, times: int) -> Story:
        one = story(TRAP, FULL | HEALTHY)
        one.gateway = Meddled(one.sim, times)
        one.world = world(one.gateway, one.clock, one.world.policy)
        return one

    def test_an_edit_between_reading_and_patch_refuses_the_opening_and_survives(self):
        one = self.meddled(1)

        report = one.tick()

        assert report.opened == []
        assert one.openings == []
        assert one.gateway.get_nodepool("app").limits == {"cpu": "100"}
        assert one.rolls[0].state is RollState.CLOSED_UNUSED

    def test_the_next_look_decides_anew_and_opens(self):
        one = self.meddled(1)

        one.until(at("2026-10-17T02:14:00Z"))

        assert one.sim.witness.nodes() == ["a1"]
        assert one.gateway.get_nodepool("app").limits == {"cpu": "100"}

    def test_a_refused_opening_uses_no_slot_and_counts_as_no_vain_one(self):
        one = self.meddled(3)

        one.until(at("2026-10-17T02:20:00Z"))

        assert len(one.openings) == 1
        assert one.sim.witness.nodes() == ["a1"]

    def test_what_the_guards_say_meanwhile_is_asked_again(self):
        one = self.meddled(1)

        one.tick()
        one.world.alarms.states["demo_5xx"] = "ALARM"
        report = one.tick()

        assert report.opened == []
        assert report.plan is not None
        assert [str(hold.code) for hold in report.plan.pools[0].action.reasons] == ["ALARM"]


class Died(BaseException):
    """The worker's process ends."""


def dead_after_opening() -> Story:
    """The worker died ten seconds after it opened, with its lease; nothing took a node; then an alarm fires."""
    one = story(SHUT, FULL, karpenter=None)

    def die() -> None:
        raise Died

    one.after(10, die)
    with pytest.raises(Died):
        one.tick()
    one.world.ledger.acquire_lease("demo", "worker-1", one.clock.now(), LEASE)
    one.world.alarms.states["demo_5xx"] = "ALARM"
    assert MARK in one.budgets
    return one


class TestT20:
    def test_a_message_that_cannot_be_sent_does_not_stop_the_revert(self):
        one = dead_after_opening()
        one.world.publisher.failure = AwsUnavailableError("sns: throttled")
        one.clock.move_to(at("2026-10-17T02:31:00Z"))

        report = one.tick("worker-2")

        assert one.budgets == SHUT
        assert report.closed == ["app"]

    def test_a_lease_that_is_still_held_does_not_stop_the_revert(self):
        one = dead_after_opening()
        one.clock.move_to(at("2026-10-17T02:31:00Z"))
        one.world.ledger.acquire_lease("demo", "worker-1", one.clock.now(), LEASE)

        report = one.tick("worker-2")

        assert report.held_by == "worker-1"
        assert one.budgets == SHUT

    def test_the_closer_needs_neither(self):
        one = dead_after_opening()
        one.world.publisher.failure = AwsUnavailableError("sns: throttled")
        request = CloseRequest(cluster="demo", cause="roll", ref=one.rolls[0].id, pool="app")

        close_budgets(one.world.pipeline("closer"), request)

        assert one.budgets == SHUT

    def test_the_revert_is_the_first_thing_that_is_written(self):
        one = dead_after_opening()
        one.clock.move_to(at("2026-10-17T03:05:00Z"))
        before = len(one.sim.witness.budgets)

        one.tick("worker-2")

        first = one.sim.witness.budgets[before]
        assert list(first.after) == SHUT
        assert first.at == at("2026-10-17T03:05:00Z")

    def test_then_people_are_told_how_long_it_stood_open(self):
        one = dead_after_opening()
        one.clock.move_to(at("2026-10-17T03:05:00Z"))

        one.tick("worker-2")

        assert any("55 min" in text for text in one.told("Alert"))

    def test_a_closed_gate_is_closed_once(self):
        one = dead_after_opening()
        one.clock.move_to(at("2026-10-17T02:31:00Z"))

        one.tick("worker-2")
        writes = len(one.sim.witness.budgets)
        one.until(at("2026-10-17T02:36:00Z"))

        assert len(one.sim.witness.budgets) == writes

    def test_a_lost_ledger_loses_nothing(self):
        one = dead_after_opening()
        one.world = world(one.gateway, one.clock, one.world.policy)
        one.clock.move_to(at("2026-10-17T03:05:00Z"))

        one.tick("worker-2")

        assert one.budgets == SHUT
        assert any("ledger has no roll" in text for text in one.told("Alert"))


class TestT21:
    def test_a_doubled_event_that_arrives_meanwhile_ends_quietly(self):
        one = story(SHUT, FULL)
        reports: list[RunReport] = []
        one.after(3, lambda: reports.append(one.tick("worker-2", "same")))

        one.tick("worker-1", "same")

        assert (reports[0].held_by, reports[0].problems) == ("worker-1", [])
        assert len(one.openings) == 1

    def test_a_doubled_event_that_arrives_later_changes_nothing(self):
        one = story(SHUT, FULL)

        one.tick("worker-1", "same")
        one.sim.advance(3)
        second = one.tick("worker-2", "same")

        assert (second.opened, len(one.openings)) == ([], 1)
        assert one.sim.witness.nodes() == ["a1"]

    def test_an_alarm_in_the_same_second_shuts_what_another_holds(self):
        one = story(SHUT, FULL)
        one.after(1, one.alarm)

        report = one.tick()

        assert one.openings[0] == START
        assert one.closings == [START + timedelta(seconds=1)]
        assert one.budgets == SHUT
        assert report.held_by == ""
        assert one.sim.witness.nodes() == []

    def test_an_alarm_between_decision_and_opening_wins(self):
        one = story(SHUT, FULL)
        pool = one.gateway.get_nodepool("app")
        one.alarm()

        report = one.tick()

        assert report.opened == []
        assert one.gateway.get_nodepool("app") == pool


class TestT24:
    def test_an_alarm_before_karpenter_chose_shuts_the_gate_and_no_node_went(self):
        one = story(SHUT, FULL)
        one.after(5, one.alarm)

        one.tick()
        one.sim.advance(60)
        one.until(at("2026-10-17T02:14:00Z"))

        assert one.closings == [START + timedelta(seconds=5)]
        assert one.rolls[0].state is RollState.CLOSED_UNUSED
        assert "no sign of a taken node" in one.told("BudgetsClosed")[0]
        assert one.sim.witness.nodes() == []

    def test_an_alarm_after_karpenter_chose_tells_truthfully_that_one_goes_on(self):
        one = story(SHUT, FULL)

        one.tick()
        one.alarm()

        (closed,) = [event for event in one.world.publisher.told if str(event.kind) == "BudgetsClosed"]
        assert one.sim.witness.nodes() == ["a1"]
        assert "a1" in closed.text
        assert "cannot call it back" in closed.next_steps[0]

    def test_nothing_opens_again_until_the_alarm_is_read_ok(self):
        one = story(SHUT, FULL, per_window=None)
        one.after(5, one.alarm)

        one.tick()
        one.until(at("2026-10-17T02:20:00Z"))
        held = len(one.openings)
        one.world.alarms.states["demo_5xx"] = "OK"
        one.until(at("2026-10-17T02:24:00Z"))

        assert (held, len(one.openings)) == (1, 2)
