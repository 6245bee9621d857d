"""A night by the template, in virtual time: an image appears, a node rolls, an alarm shuts the next gate, people hear.

Every function is the real one, with the template's environment and its role's own key. Only what a watch waits for
comes from the simulated cluster directly; the way into it (DescribeCluster, TLS, token, access entry) is taken first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from driftgate.domain.budget import from_objects
from driftgate.domain.marks import is_open_mark
from driftgate.ports import Cluster, Clusters
from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.store import Change
from driftgate.sim.timings import Timings
from driftgate.sim.witness import budgets_of
from infra.local.cloud.publishing import create_alarm, publish_image, publish_parameter
from infra.local.cloud.server import CloudServer
from infra.local.cluster import NEW_NAME, OLD_NAME, PARAMETER, trapped_cluster
from infra.local.eks import EksCluster
from infra.local.iam.evaluation import Authority, Need, Principal
from infra.local.iam.record import Permission
from infra.local.routing.router import Router
from infra.local.runtime.function import Function
from infra.local.runtime.in_process import InProcess
from infra.local.settings import POOL
from infra.local.synthesis import staged_code, synthesized
from infra.local.template.document import Template
from infra.local.template.loading import load
from infra.local.tempo import Tempo
from infra.local.virtual_time import VirtualTime
from tests.fakes.sim_gateway import SimGateway

ALARM = "shop-5xx"
CALENDAR = "freeze"
POLL = "poll"
CONFIG = f"""\
mode: act
cluster: demo
pools: [{POOL}]
deployment: {{name: demo, chat: {{workspace: T0123ABCD, channel: C0123ABCD}}, emails: [ops@example.org]}}
windows: [{{name: always, timezone: UTC, cron: "0 0 * * *", duration: 24h}}]
open: {{per_window: 5, open_timeout: 10m, pause_between: 1s, expected_roll: 1m}}
guards: {{alarms: [{ALARM}], calendars: [{CALENDAR}], bake: 5s}}
"""
STACK = "driftgate-demo"
QUICK = Timings(launch_s=1.0, register_s=5.0, initialize_s=2.0, pod_start_s=1.0)
BEFORE_THE_SIGN_S = 0.3
AT_ONCE_S = 1.0
HEARD_EARLY = {
    ("close_fleet", "Create"),
    ("evaluate_drift", "heartbeat"),
    ("evaluate_drift", "Parameter Store Change"),
    ("watch_amis", "poll"),
    ("reconcile_cluster", "messages"),
}
HEARD = HEARD_EARLY | {
    ("evaluate_drift", "CloudWatch Alarm State Change"),
    ("evaluate_drift", "Calendar State Change"),
    ("close_budgets", "CloudWatch Alarm State Change"),
    ("close_fleet", "Delete"),
}
TOLD = [
    f"[demo] {POOL}: {what}"
    for what in (
        "TRAPPED",
        "the gate opens for one node",
        "the gate is shut, the baseline is back",
        "ip-10-0-1-17 is gone",
        "ondemand-wh96f is Ready",
        "the roll ended as done",
        "the gate opens for one node",
        "the gate is shut, the baseline is back",
        "the roll ended as closed_unused",
    )
]


@dataclass(slots=True)
class Night:
    """What the night came to.

    `heard` says which function got what kind of event; `read` which variables it asked for; `asked` is everything
    that IAM was asked, `troubles` what any part of AWS refused, lost or found broken.
    """

    rolled: list[str]
    openings: list[Opening]
    alarm_to_closed_s: float | None
    mirrored: list[str]
    told: list[str]
    heard: set[tuple[str, str]]
    read: dict[str, set[str]]
    functions: tuple[Function, ...]
    authority: Authority
    asked: list[tuple[Principal, Need]]
    unused: tuple[Permission, ...]
    troubles: list[str]

    @property
    def is_as_promised(self) -> bool:
        """One node for the one opening that nothing ended; the other shut at the alarm; people told; nothing amiss."""
        return (
            len(self.openings) == 2
            and all(opening.closed_at is not None for opening in self.openings)
            and len(self.rolled) == 1
            and self.alarm_to_closed_s is not None
            and self.alarm_to_closed_s <= AT_ONCE_S
            and self.told == TOLD
            and len(self.mirrored) == 1
            and self.heard == HEARD
            and self.troubles == []
        )


@dataclass(slots=True)
class Opening:
    """When the open mark stood in the NodePool."""

    opened_at: datetime
    closed_at: datetime | None = None


class _ByTheDoor:
    """The way into the cluster as deployed, once; then the model itself, whose time can wait."""

    def __init__(self, real: Clusters, sim: SimCluster) -> None:
        self._real = real
        self._sim = sim

    def connect(self, cluster: str) -> Cluster:
        self._real.connect(cluster).list_nodepools()
        return SimGateway(self._sim)


class _Heard:
    """`Runtime` that takes down who was invoked with what."""

    def __init__(self, runtime: InProcess) -> None:
        self._runtime = runtime
        self.heard: set[tuple[str, str]] = set()

    def run(self, function: Function, event: Any, request_id: str) -> object:
        kind = next((event[key] for key in ("driftgate", "detail-type", "RequestType") if key in event), "messages")
        self.heard.add((function.label, kind))
        return self._runtime.run(function, event, request_id)


class Stage:
    """Everything that runs. `at_opening` happens a moment after the opening of that number, before Karpenter acts."""

    def __init__(self, cloud: CloudServer, template: Template, clock: ManualClock, sim: SimCluster) -> None:
        agenda = Agenda(clock, threading.RLock())
        self.time = VirtualTime(clock, sim.agenda, agenda)
        self.cloud, self.clock, self.sim = cloud, clock, sim
        self._tempo = Tempo(agenda, is_threaded=False)
        self.runtime = InProcess(cloud, staged_code(CONFIG), clock, lambda real: _ByTheDoor(real, sim))
        self.heard = _Heard(self.runtime)
        self.stack = load(template, cloud, STACK)
        self.router = Router(self.stack, cloud, self._tempo, self.heard)
        self.runtime.admit(self.router.functions)
        EksCluster("demo", sim, self.stack, self.router.functions, "driftgate").join(cloud)
        self.openings: list[Opening] = []
        self.at_opening: dict[int, Callable[[], None]] = {}
        self.fired_at: datetime | None = None
        sim.store.listeners.append(self._changed)

    def set_alarm(self, state: str) -> None:
        self.cloud.client("cloudwatch").set_alarm_state(AlarmName=ALARM, StateValue=state, StateReason="test")

    def told(self) -> list[str]:
        """The titles that the Slack channel was told."""
        found = []
        for channel in self.stack.of_type("AWS::Chatbot::SlackChannelConfiguration"):
            sqs, url = self.cloud.client("sqs"), channel.physical.attributes["ChannelQueueUrl"]
            while batch := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
                found += [json.loads(json.loads(message["Body"])["Message"]) for message in batch]
        return [str(message["content"]["title"]) for message in found]

    def mirrored(self) -> list[str]:
        pages = self.cloud.client("ssm").get_paginator("get_parameters_by_path")
        found = pages.paginate(Path="/driftgate/", Recursive=True)
        return [entry["Name"] for page in found for entry in page["Parameters"]]

    def _changed(self, change: Change) -> None:
        if change.kind is not NODEPOOLS or change.after.name != POOL:
            return
        is_open = any(is_open_mark(budget) for budget in from_objects(list(budgets_of(change.after.obj))))
        was_open = bool(self.openings) and self.openings[-1].closed_at is None
        if is_open and not was_open:
            self.openings.append(Opening(change.at))
            if len(self.openings) in self.at_opening:
                self._tempo.after(BEFORE_THE_SIGN_S, self.at_opening[len(self.openings)])
        elif was_open and not is_open:
            self.openings[-1].closed_at = change.at

    def fire(self) -> None:
        """The guarding alarm."""
        self.fired_at = self.clock.now()
        self.set_alarm("ALARM")


@contextmanager
def stage(template: Template) -> Iterator[Stage]:
    clock = ManualClock(datetime.now(UTC).replace(microsecond=0))
    with CloudServer() as cloud:
        images = (
            publish_image(cloud.client("ec2"), OLD_NAME, clock.now() - timedelta(days=200)),
            publish_image(cloud.client("ec2"), NEW_NAME, clock.now() - timedelta(days=47)),
        )
        create_alarm(cloud.client("cloudwatch"), ALARM)
        with trapped_cluster(clock, *images, QUICK) as sim:
            publish_parameter(PARAMETER, sim.image_of("std"))
            found = Stage(cloud, template, clock, sim)
            found.set_alarm("OK")
            found.router.calendars.put(CALENDAR, (clock.now() - timedelta(days=1), "OPEN"))
            yield found


@cache
def template() -> Template:
    return synthesized(CONFIG)


@cache
def baseline() -> Night:
    """The night by the template as it is."""
    return night(template())


def night(by: Template) -> Night:
    """Six minutes, with an early image poll. What broke its promises in the first two is followed no further."""
    with stage(by) as on:
        on.at_opening[2] = on.fire
        on.router.start()
        on.time.advance(90)
        if POLL in on.router.scheduler.schedules:
            on.router.scheduler.fire(POLL)
        on.time.advance(35)
        if not on.router.troubles() and on.heard.heard >= HEARD_EARLY and on.openings:
            on.time.advance(150)
            on.router.calendar(CALENDAR, "CLOSED")
            on.time.advance(110)
            on.router.remove()
            on.time.advance(10)
        return _found(on)


def _found(on: Stage) -> Night:
    record, authority = on.cloud.front.record, on.cloud.front.authority
    return Night(
        rolled=[taken.node for taken in on.sim.witness.disruptions if taken.reason == "Drifted"],
        openings=on.openings,
        alarm_to_closed_s=_alarm_to_closed(on),
        mirrored=on.mirrored(),
        told=on.told(),
        heard=on.heard.heard,
        read=on.runtime.read,
        functions=on.router.functions,
        authority=authority,
        asked=record.asked,
        unused=record.unused(authority.roles),
        troubles=on.router.troubles(),
    )


def _alarm_to_closed(on: Stage) -> float | None:
    if on.fired_at is None or on.openings[1].closed_at is None:
        return None
    return (on.openings[1].closed_at - on.fired_at).total_seconds()
