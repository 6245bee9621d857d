"""One cluster that cannot be helped keeps no other from its turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.app.evaluate_drift import evaluate_drift
from driftgate.domain.errors import AwsUnavailableError
from driftgate.domain.roll import RollState
from driftgate.events import Heartbeat
from driftgate.ports import CloseRequest, PutRoll
from tests.factories import NOW, cluster_policy, roll
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import world


class OneFunctionAway:
    """A closer whose function for cluster `a` does not answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def invoke(self, request: CloseRequest) -> None:
        if request.cluster == "a":
            raise AwsUnavailableError("lambda:InvokeFunction got no answer")
        self.asked.append(request.cluster)


def test_a_closer_that_does_not_answer_for_one_cluster_is_asked_for_the_others_and_the_failure_is_raised():
    clock = FakeClock(NOW)
    ledger, closer = MemoryLedger(clock), OneFunctionAway()
    for name in ("a", "b"):
        left = roll(RollState.OPENED, cluster=name, beat_at=NOW - timedelta(minutes=5), id=f"20261017T020000Z-{name}")
        ledger.commit(name, PutRoll(left))
    fakes = world(FakeCluster(), clock, cluster_policy("app"), ledger)
    pipeline = replace(fakes.pipeline(), closer=closer, cluster_names=("a", "b"))

    with pytest.raises(AwsUnavailableError):
        evaluate_drift(pipeline, Heartbeat(scheduled_at=NOW))

    assert closer.asked == ["b"]
