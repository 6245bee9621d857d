"""A fleet behind one deployment by the synthesized template, in virtual time, with a meter at every function.

Where a watch waits, the model is asked directly, as time cannot wait over HTTP; nothing that is billed depends on it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from driftgate.adapters.ledger_dynamodb_changes import actions_of
from driftgate.domain.roll import Roll, RollState
from driftgate.ports import Cluster, Clusters, PutRoll
from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock
from driftgate.sim.cluster import SimCluster
from infra.local.cloud.publishing import create_alarm, publish_image, publish_parameter
from infra.local.cloud.server import CloudServer
from infra.local.cluster import NEW_NAME, OLD_NAME, PARAMETER
from infra.local.eks import EksCluster
from infra.local.routing.router import Router
from infra.local.runtime.in_process import InProcess
from infra.local.synthesis import staged_code, synthesized
from infra.local.template.loading import load
from infra.local.tempo import Tempo
from infra.local.virtual_time import VirtualTime
from tests.bench.costs.meter import Meter, Runs
from tests.factories import roll
from tests.fakes.sim_gateway import SimGateway

ALARM = "shop-5xx"
SHUT: list[dict[str, object]] = [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "20%"}]
KARPENTER = "1.14.1"
SETTLING_S = 2.0
CONFIG = """\
mode: act
deployment: {{name: costs}}
clusters: [{clusters}]
windows: [{{name: weekly, timezone: UTC, cron: "{minute} {hour} * * {day}", duration: {window}}}]
open: {{expected_roll: {expected_roll}}}
guards: {{alarms: [{alarm}], bake: {bake}}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """So many clusters of so many pools of so many nodes, all of them drifted; the window opens `until_window` on."""

    clusters: int = 1
    pools: int = 1
    nodes: int = 3
    until_window: timedelta = timedelta(hours=1)
    window: str = "3h"
    expected_roll: str = "20m"
    bake: str = "4h"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"cluster-{number:03}" for number in range(self.clusters))

    def config(self, now: datetime) -> str:
        opens = now + self.until_window
        return CONFIG.format(
            clusters=", ".join(self.names),
            minute=opens.minute,
            hour=opens.hour,
            day=opens.isoweekday() % 7,
            window=self.window,
            expected_roll=self.expected_roll,
            alarm=ALARM,
            bake=self.bake,
        )


class _ByTheDoor:
    """The way into a cluster as deployed, once; then the model itself, whose time can wait."""

    def __init__(self, real: Clusters, sims: Mapping[str, SimCluster]) -> None:
        self._real = real
        self._sims = sims

    def connect(self, cluster: str) -> Cluster:
        self._real.connect(cluster).karpenter_version()
        return SimGateway(self._sims[cluster])


class Deployment:
    """Everything that runs. Nothing happens by itself until `start`; `beat` and `poll` fire a schedule by hand."""

    def __init__(self, cloud: CloudServer, fleet: Fleet, sims: Mapping[str, SimCluster], clock: ManualClock) -> None:
        agenda, config = Agenda(clock, threading.RLock()), fleet.config(clock.now())
        self.clock, self.sims, self.cloud = clock, sims, cloud
        self._time = VirtualTime(clock, agenda, *(sim.agenda for sim in sims.values()))
        runtime = InProcess(cloud, staged_code(config), clock, lambda real: _ByTheDoor(real, sims))
        self._meter = Meter(runtime, clock)
        stack = load(synthesized(config), cloud, "driftgate-costs")
        self.router = Router(stack, cloud, Tempo(agenda, is_threaded=False), self._meter)
        runtime.admit(self.router.functions)
        self._meter.know(self.router.functions)
        cloud.front.listeners.append(self._meter.hear)
        for name, sim in sims.items():
            EksCluster(name, sim, stack, self.router.functions, "driftgate").join(cloud)
        (table,) = stack.of_type("AWS::DynamoDB::GlobalTable")
        self.table = table.physical.ref

    def start(self) -> None:
        self.router.start()

    def beat(self) -> Mapping[str, Runs]:
        """What one heartbeat, and the looks that it asked for, came to."""
        return self._fired("heartbeat")

    def poll(self) -> Mapping[str, Runs]:
        return self._fired("poll")

    def _fired(self, schedule: str) -> Mapping[str, Runs]:
        self._meter.take()
        self.router.scheduler.fire(schedule)
        self._time.advance(SETTLING_S)
        return self.taken()

    def advance(self, time: timedelta) -> None:
        self._time.advance(time.total_seconds())

    def taken(self) -> Mapping[str, Runs]:
        """What was used since the last time. Raises RuntimeError where anything was refused, failed or got lost."""
        if troubles := self.router.troubles():
            raise RuntimeError(f"the deployment is in trouble: {troubles[:3]}")
        return self._meter.take()


@contextmanager
def deployed(fleet: Fleet) -> Iterator[Deployment]:
    """The deployment of the fleet, its images released and its alarm OK."""
    clock = ManualClock(datetime.now(UTC).replace(second=0, microsecond=0))
    with ExitStack() as stack:
        cloud = stack.enter_context(CloudServer())
        ec2 = cloud.client("ec2")
        old = publish_image(ec2, OLD_NAME, clock.now() - timedelta(days=40))
        new = publish_image(ec2, NEW_NAME, clock.now() - timedelta(days=2))
        publish_parameter(PARAMETER, new)
        create_alarm(cloud.client("cloudwatch"), ALARM)
        sims = {name: stack.enter_context(_cluster(fleet, clock, old, new)) for name in fleet.names}
        yield Deployment(cloud, fleet, sims, clock)


def _cluster(fleet: Fleet, clock: ManualClock, old: str, new: str) -> SimCluster:
    sim = SimCluster(clock, karpenter=KARPENTER)
    sim.add_node_class(image=new, image_name=NEW_NAME)
    since = clock.now() - timedelta(days=2)
    for pool in range(fleet.pools):
        sim.add_nodepool(f"pool-{pool:02}", SHUT)
        for node in range(fleet.nodes):
            drifted = since + timedelta(seconds=pool * fleet.nodes + node)
            name = f"ip-10-{pool}-{node // 250}-{node % 250}"
            sim.add_node(f"pool-{pool:02}", name, image=old, drifted_since=drifted)
    return sim


def remember_rolls(on: Deployment, fleet: Fleet, weeks: int) -> None:
    """Each pool rolled one node in each of the last weeks: what every look reads again for 90 days."""
    client = on.cloud.client("dynamodb")
    for name in fleet.names:
        for week in range(1, weeks + 1):
            for pool in range(fleet.pools):
                done = _finished(name, f"pool-{pool:02}", on.clock.now() - timedelta(weeks=week))
                for action in actions_of(name, [PutRoll(done)], on.clock.now()):
                    if action.kind == "Put":
                        client.put_item(TableName=on.table, Item=action.request["Item"])


def _finished(cluster: str, pool: str, at: datetime) -> Roll:
    return roll(
        RollState.DONE,
        id=f"{at:%Y%m%dT%H%M%SZ}-{pool}",
        cluster=cluster,
        pool=pool,
        window_key=f"{pool}/weekly/{at:%Y-%m-%dT%H:%M:%SZ}",
        state_since=at + timedelta(hours=4),
        opened_at=at,
        revert_by=at + timedelta(minutes=10),
        guard_at=at + timedelta(minutes=1),
        beat_at=at,
        sign_at=at + timedelta(seconds=20),
        sign="DisruptionReason",
        node="ip-10-0-117-17.eu-central-1.compute.internal",
        claim=f"{pool}-x7k2p",
        replacement=f"{pool}-q9w4z",
        closed_at=at + timedelta(seconds=21),
        closed_by="worker-1",
        baseline_restored=True,
        ended_at=at + timedelta(hours=4),
        version=0,
    )
