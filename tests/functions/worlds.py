"""The world around a handler: a simulated cluster without sockets, the policy of a Saturday night, fakes for AWS."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from driftgate.sim.cluster import SimCluster
from driftgate.sim.timings import Timings
from tests.factories import cluster_policy, pool_policy
from tests.fakes.pipeline import FakeWorld, world
from tests.fakes.sim_gateway import SimGateway
from tests.sim_clusters import APP, drifted_cluster, get

ASLEEP = Timings(idle_s=36000)
"""Karpenter never looks, so a gate that opens stays open."""


def saturday(sim: SimCluster | None = None, **policy: Any) -> FakeWorld:
    """Cluster `demo` with pool `app`, three drifted nodes, ten minutes into its window."""
    found = sim or drifted_cluster(3)
    chosen = cluster_policy("app", policy=pool_policy(**policy))
    return world(SimGateway(found), found.clock, chosen)


def sim_of(around: FakeWorld) -> SimCluster:
    assert isinstance(around.cluster, SimGateway)
    return around.cluster.sim


def budgets(around: FakeWorld) -> Any:
    return get(sim_of(around), APP)["spec"]["disruption"]["budgets"]


def advance(around: FakeWorld, **time: float) -> None:
    sim_of(around).advance(timedelta(**time).total_seconds())


def queue_event(*messages: tuple[str, str]) -> dict[str, Any]:
    """A batch from SQS: the group and the body of each message; ids are m1, m2, …"""
    records = [
        {
            "messageId": f"m{number}",
            "receiptHandle": f"r{number}",
            "body": body,
            "attributes": {"MessageGroupId": group, "ApproximateReceiveCount": "1"},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:eu-central-1:111122223333:driftgate-work.fifo",
            "awsRegion": "eu-central-1",
        }
        for number, (group, body) in enumerate(messages, start=1)
    ]
    return {"Records": records}
