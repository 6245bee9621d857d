"""Before a deployment goes, nothing opens any more and nothing stands open; what does is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.app.close_fleet import BY, close_fleet, close_for_removal
from driftgate.domain.errors import AwsForbiddenError, LedgerUnavailableError
from driftgate.domain.ledger import FLEET, Stop, StopCause
from driftgate.domain.roll import RollState
from driftgate.ports import CloseRequest, PutRoll, StackRequest
from tests.factories import NOW, cluster_policy, roll
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import FakeCloser, world

PATIENCE = timedelta(minutes=4)
APP = CloseRequest(cluster="demo", cause="pause", ref=BY, pool="app")
WEB = CloseRequest(cluster="other", cause="pause", ref=BY, pool="web")


class SlowCloser(FakeCloser):
    """Shuts each gate that it is asked for, some seconds later."""

    def __init__(self, clock, ledger, seconds=12.0):
        super().__init__()
        self._clock, self._ledger, self._wait = clock, ledger, timedelta(seconds=seconds)
        clock.sleep = self._sleep

    def _sleep(self, seconds):
        self._clock.advance(timedelta(seconds=seconds))
        if self._clock.now() - NOW >= self._wait:
            for state in self._ledger.load_fleet().values():
                for left in state.rolls:
                    if left.may_be_open:
                        shut(self._ledger, left)


class DeniedCloser(FakeCloser):
    """May not be called for one cluster."""

    def invoke(self, request):
        super().invoke(request)
        if request.cluster == "demo":
            raise AwsForbiddenError("lambda:InvokeFunction was denied")


class LostLedger(MemoryLedger):
    def commit(self, cluster, *changes):
        raise LedgerUnavailableError("the table does not answer")


def shut(ledger, left):
    closed = replace(left, state=RollState.CLOSED, closed_at=NOW, closed_by="closer")
    ledger.commit(left.cluster, PutRoll(closed))


def asked_to(kind):
    return StackRequest(
        kind=kind, stack="arn", request="r", resource="Gates", physical_id="driftgate-fleet", answer_to="http://x"
    )


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def around(clock):
    """Two clusters share the ledger; in neither a gate stands open."""
    return world(FakeCluster(), clock, cluster_policy())


def opened(around, **fields):
    around.ledger.commit(fields.get("cluster", "demo"), PutRoll(roll(version=0, **fields)))


def test_the_fleet_is_paused_without_an_end_and_says_why(around):
    report = close_fleet(around.pipeline(), PATIENCE)

    (stop,) = around.ledger.load("demo").stops
    assert stop == Stop(cause=StopCause.PAUSE, ref=BY, cluster=FLEET, at=NOW, reason=stop.reason)
    assert stop.reason == "The deployment is being removed. If it stays after all: driftgate resume --fleet"
    assert (report.problem, around.closer.asked) == ("", [])


def test_every_open_gate_is_asked_to_be_shut_and_waited_for(around, clock):
    opened(around)
    opened(around, id="20261017T021000Z-web", cluster="other", pool="web")
    around.closer = SlowCloser(clock, around.ledger)

    report = close_fleet(around.pipeline(), PATIENCE)

    assert around.closer.asked == [APP, WEB]
    assert report.problem == ""
    assert clock.now() - NOW == timedelta(seconds=15)


def test_a_gate_that_stays_open_is_named_when_patience_is_over(around, clock):
    opened(around)

    report = close_fleet(around.pipeline(), PATIENCE)

    assert clock.now() - NOW == PATIENCE
    assert around.closer.asked == [APP]
    assert report.left_open == ["20261017T021000Z-app"]
    assert report.problem.startswith("Still open: 20261017T021000Z-app. ")
    assert "driftgate close --pool POOL --ledger dynamodb:TABLE" in report.problem


def test_a_closer_that_cannot_be_asked_keeps_no_other_gate_open(around):
    opened(around)
    opened(around, id="20261017T021000Z-web", cluster="other", pool="web")
    around.closer = DeniedCloser()

    report = close_fleet(around.pipeline(), PATIENCE)

    assert around.closer.asked == [APP, WEB]
    assert "20261017T021000Z-app: lambda:InvokeFunction was denied" in report.problem


def test_a_roll_whose_gate_is_shut_already_is_left_to_itself(around):
    opened(around, state=RollState.BAKING, closed_at=NOW, closed_by="worker-1")

    report = close_fleet(around.pipeline(), PATIENCE)

    assert (report.problem, around.closer.asked) == ("", [])


def test_a_ledger_that_takes_no_pause_is_no_permission_to_go(around, clock):
    around.ledger = LostLedger(clock)

    with pytest.raises(LedgerUnavailableError):
        close_fleet(around.pipeline(), PATIENCE)


@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_while_the_stack_stays_nothing_is_paused_or_shut(around, kind):
    opened(around)

    report = close_for_removal(around.pipeline(), asked_to(kind), PATIENCE)

    assert (report.problem, around.closer.asked, around.ledger.load("demo").stops) == ("", [], ())


def test_the_removal_of_the_stack_closes_the_fleet(around):
    opened(around)

    report = close_for_removal(around.pipeline(), asked_to("Delete"), PATIENCE)

    assert report.left_open == ["20261017T021000Z-app"]
