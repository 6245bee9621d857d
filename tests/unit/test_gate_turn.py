"""Whatever breaks a watch, the gate is shut before anybody hears of it."""

from __future__ import annotations

from typing import Any

import pytest

from driftgate.app.reconcile import reconcile
from driftgate.ports import WorkMessage
from tests.factories import GATE, NOW, cluster_policy, node_class, nodepool, pair, pod
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import world


def test_a_bug_while_watching_shuts_the_gate_first_and_is_raised_then():
    clock = FakeClock(NOW)
    (claim, node), (other, beside) = pair("a1", drifted="2026-10-05T08:00:00Z"), pair("a2")
    cluster = FakeCluster(
        nodepool(resource_version="1"), node_class(), claim, node, other, beside, pod("web-0", "a1"), clock=clock
    )
    failures: dict[str, Any] = cluster.failures
    failures["watch_pool"] = ZeroDivisionError("a bug of ours")
    fakes = world(cluster, clock, cluster_policy("app"))

    with pytest.raises(ZeroDivisionError):
        reconcile(fakes.pipeline(), WorkMessage(cluster="demo", dedup="x", cause="test"))

    assert len(cluster.patches) == 2, "it was opened, and shut"
    assert cluster.get_nodepool("app").budgets == GATE
    assert fakes.ledger.load("demo").rolls[0].closed_at == clock.now()
