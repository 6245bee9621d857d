"""A deployment on this machine, put together: the account, the stack, its functions, and the cluster that it serves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from driftgate.app.pipeline import Pipeline
from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import SimCluster
from infra.local.cloud.publishing import create_alarm, publish_image
from infra.local.cloud.server import CloudServer
from infra.local.cluster import NEW_NAME, OLD_NAME, trapped_cluster
from infra.local.eks import EksCluster
from infra.local.observer import observer, visitor
from infra.local.routing.router import Router
from infra.local.runtime.function import Function
from infra.local.runtime.process import Pace
from infra.local.runtime.processes import Processes
from infra.local.settings import ALARM, CLUSTER, CONFIG, GROUP, STACK
from infra.local.synthesis import staged_code, synthesized
from infra.local.template.document import TemplateError
from infra.local.template.loading import Stack, load
from infra.local.tempo import Tempo


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`pipeline` is a person's own: it reads what the functions read, as the administrator."""

    cloud: CloudServer
    stack: Stack
    router: Router
    sim: SimCluster
    pipeline: Pipeline


@contextmanager
def deployed(clock: WallClock, logs: Path) -> Iterator[World]:
    """Everything that `make deploy` and a team with a cluster would have made. What was started is ended."""
    template, code = synthesized(CONFIG), staged_code(CONFIG)
    with ExitStack() as ends:
        cloud = ends.enter_context(CloudServer())
        stack = load(template, cloud, STACK)
        runtime = Processes(cloud, lambda _: code, logs, _pace(clock))
        ends.callback(runtime.stop)
        agenda = Agenda(clock, threading.RLock())
        ends.callback(agenda.stop)
        tempo = Tempo(agenda, is_threaded=True)
        ends.callback(tempo.stop)
        router = Router(stack, cloud, tempo, runtime)
        runtime.admit(router.functions)
        sim = ends.enter_context(_cluster(cloud, clock))
        authority = EksCluster(CLUSTER, sim, stack, router.functions, GROUP).join(cloud)
        worker = labelled(router.functions, "reconcile_cluster")
        seen = ends.enter_context(visitor(sim.serve(), authority))
        pipeline = ends.enter_context(observer(cloud, worker, code, seen, clock))
        agenda.start()
        router.start()
        yield World(cloud=cloud, stack=stack, router=router, sim=sim, pipeline=pipeline)


def labelled(functions: tuple[Function, ...], label: str) -> Function:
    """The function of this folder. Raises TemplateError where the template has none."""
    for function in functions:
        if function.label == label:
            return function
    raise TemplateError(f"the template has no function {label}")


def _pace(clock: WallClock) -> Pace:
    return Pace(start=clock.now().isoformat(), began=time.monotonic(), speed=clock.speed)


def _cluster(cloud: CloudServer, clock: WallClock) -> SimCluster:
    """The cluster, the two images that its nodes are about, and the alarm that guards it."""
    ec2 = cloud.client("ec2")
    old = publish_image(ec2, OLD_NAME, clock.now() - timedelta(days=200))
    new = publish_image(ec2, NEW_NAME, clock.now() - timedelta(days=47))
    create_alarm(cloud.client("cloudwatch"), ALARM)
    return trapped_cluster(clock, old, new)
