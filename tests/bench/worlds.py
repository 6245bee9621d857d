"""driftgate as deployed, for a measurement: the real client and the real ledger over HTTP, and quiet people."""

from __future__ import annotations

import os
import time
from datetime import timedelta

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.kubernetes_client import KubernetesClient
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.kubernetes_parts import new_configuration
from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
from driftgate.adapters.system_clock import SystemClock
from driftgate.domain.policy import AlarmGuard, ClusterPolicy, GuardPolicy, OpenPolicy
from driftgate.domain.window import MaintenanceWindow
from infra.local.cloud.server import REGION
from tests.bench.helper import Facts
from tests.factories import cluster_policy, pool_policy
from tests.fakes.pipeline import FakeWorld, world

CLOCK = SystemClock()
ALARM = "demo-5xx"
NONE = timedelta(0)


def use_aws(aws: Facts) -> None:
    """From now on this process and its children reach the AWS of this run, and no other."""
    os.environ.update(aws["environment"])


def ledger_in(aws: Facts, sent: list[float] | None = None) -> DynamoDbLedger:
    """The ledger in the table of this run; `sent` gets the moment of every request, in monotonic seconds."""
    session = AwsSession(CLOCK, REGION)
    if sent is not None:
        events = session.client("dynamodb", attempts=1).meta.events
        events.register("before-send.dynamodb", lambda **_: sent.append(time.monotonic()))
    return DynamoDbLedger(session, aws["table"], CLOCK)


def deployed(cluster: Facts, ledger: DynamoDbLedger, name: str) -> FakeWorld:
    """A deployment of one cluster that may open at any time, one roll after the other without a pause."""
    configuration = new_configuration(host=cluster["url"], api_key={"authorization": f"Bearer {cluster['token']}"})
    client = KubernetesCluster(KubernetesClient(configuration))
    return world(client, CLOCK, _policy(name), ledger)


def _policy(name: str) -> ClusterPolicy:
    own = pool_policy(
        windows=(_round_the_clock(),),
        open=OpenPolicy(per_window=None, pause_between=NONE),
        guards=GuardPolicy(alarms=(AlarmGuard(name=ALARM),), bake=NONE),
    )
    return cluster_policy(policy=own, cluster=name)


def _round_the_clock() -> MaintenanceWindow:
    """Began an hour ago and ends in a day, whatever the hour is."""
    hour = (CLOCK.now() - timedelta(hours=1)).hour
    return MaintenanceWindow(name="always", timezone="UTC", cron=f"0 {hour} * * *", duration=timedelta(hours=24))
