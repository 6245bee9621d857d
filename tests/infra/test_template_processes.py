"""The template with every function in a process of its own: what a night in one process cannot show."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from driftgate.sim.clock import WallClock
from infra.local.settings import POOL, STACK
from infra.local.world import deployed, labelled

pytestmark = pytest.mark.slow
PATIENCE_S = 120
STEP_S = 0.2


def wait_for(look):
    ends = time.monotonic() + PATIENCE_S
    while not look():
        assert time.monotonic() < ends, "it never came"
        time.sleep(STEP_S)


def test_one_node_rolls_by_functions_that_share_nothing_but_the_template(tmp_path):
    with deployed(WallClock(start=datetime.now(UTC), speed=4.0), tmp_path) as world:
        pool = world.pipeline.clusters.connect("demo")
        baseline = pool.get_nodepool(POOL).budgets
        world.router.scheduler.fire("heartbeat")
        wait_for(lambda: world.sim.witness.disruptions and pool.get_nodepool(POOL).budgets == baseline)
        worker = labelled(world.router.functions, "reconcile_cluster")

        def log():
            found = world.cloud.client("logs").filter_log_events(logGroupName=worker.log_group)["events"]
            return [json.loads(event["message"]) for event in found]

        wait_for(lambda: any(line.get("message") == "Looked at a cluster" for line in log()))

        assert [taken.node for taken in world.sim.witness.disruptions] == ["ip-10-0-1-17"]
        assert {line["service"] for line in log()} == {STACK}
        assert world.router.troubles() == []
