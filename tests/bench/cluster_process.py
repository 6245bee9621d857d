"""A simulated cluster of any size in a process of its own, over HTTP; it keeps the account that we are judged by.

It answers `facts` with the requests it got, and with when the API stored each sign and each opening and closing,
by its own clock: seconds of the machine's monotonic clock, which all processes share.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from driftgate.domain.budget import from_objects
from driftgate.domain.marks import is_mark
from driftgate.domain.nodes import DISRUPTED_TAINT
from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODECLAIMS, NODEPOOLS, NODES
from driftgate.sim.objects import JsonDict, condition_is_true, section, taint_keys
from driftgate.sim.store import Change
from driftgate.sim.timings import Timings
from driftgate.sim.witness import budgets_of
from tests.bench.helper import Facts, serve

VERSION = "1.14.1"
SHUT = [{"nodes": "10%", "reasons": ["Empty", "Underutilized"]}, {"nodes": "0", "reasons": ["Drifted"]}]
IMAGES_PER_NODE = 50
"""What a kubelet reports unless told otherwise: most of a real Node's size."""

BRISK = Timings(
    idle_s=0.3,
    queue_poll_s=0.1,
    min_drain_s=0.05,
    drain_poll_s=0.05,
    instance_gone_s=0.05,
    pod_stop_s=0.05,
)
"""Karpenter's own delays, made short: what is measured begins when it has taken a node."""


class Account:
    """Hears every write: when the gate moved, and when a node first showed that Karpenter takes it."""

    def __init__(self, sim: SimCluster) -> None:
        self.openings: list[float] = []
        self.closings: list[float] = []
        self.sign_to_closed: list[float] = []
        self._sign: float | None = None
        sim.store.listeners.append(self._heard)

    def _heard(self, change: Change) -> None:
        now, obj = time.monotonic(), change.after.obj
        if change.kind is NODEPOOLS and change.before is not None:
            self._pool_written(_has_marks(change.before.obj), _has_marks(obj), now)
        elif _is_sign(change, obj) and self._sign is None:
            self._sign = now

    def _pool_written(self, was_open: bool, is_open: bool, now: float) -> None:
        if is_open and not was_open:
            self.openings.append(now)
            self._sign = None
        elif was_open and not is_open:
            self.closings.append(now)
            if self._sign is not None:
                self.sign_to_closed.append(now - self._sign)


def _has_marks(pool: JsonDict) -> bool:
    return any(map(is_mark, from_objects(list(budgets_of(pool)))))


def _is_sign(change: Change, obj: JsonDict) -> bool:
    if change.kind is NODECLAIMS:
        return condition_is_true(obj, "DisruptionReason")
    return change.kind is NODES and DISRUPTED_TAINT in taint_keys(obj)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """So many pools of so many nodes; in each pool the first `drifted` nodes are, and carry the pods.

    `images`: every Node as large as a real one.
    """

    pools: int = 1
    nodes: int = 0
    drifted: int = 0
    pods: int = 0
    images: bool = False


def furnish(sim: SimCluster, size: Size) -> None:
    """Trapped pools `app-0`, `app-1`, …"""
    sim.add_node_class()
    for number in range(size.pools):
        sim.add_nodepool(f"app-{number}", SHUT)
        _add_nodes(sim, f"app-{number}", size)


def _add_nodes(sim: SimCluster, pool: str, size: Size) -> None:
    since: datetime = sim.clock.now() - timedelta(days=10)
    for number in range(size.nodes):
        is_drifted = number < size.drifted
        at = since + timedelta(seconds=number) if is_drifted else None
        name = sim.add_node(pool, f"{pool}-n{number:05}", pods=size.pods if is_drifted else 0, drifted_since=at)
        if size.images:
            sim.writes.change(NODES, name, _report_images, "kubelet", subresource="status")


def _report_images(node: JsonDict) -> None:
    section(node, "status")["images"] = [
        {"names": [f"registry.example/team/service-{n}@sha256:{n:064x}"], "sizeBytes": 50_000_000 + n}
        for n in range(IMAGES_PER_NODE)
    ]


def main() -> None:
    """Serves until its input ends."""
    parser = argparse.ArgumentParser()
    for name in ("pools", "nodes", "drifted", "pods"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Size(), name))
    parser.add_argument("--images", action="store_true", help="Nodes as large as real ones")
    parser.add_argument("--karpenter", action="store_true", help="let Karpenter work, briskly")
    said = parser.parse_args()
    size = Size(pools=said.pools, nodes=said.nodes, drifted=said.drifted, pods=said.pods, images=said.images)
    with SimCluster(WallClock(), karpenter=VERSION if said.karpenter else None, timings=BRISK) as sim:
        furnish(sim, size)
        if not said.karpenter:
            sim.add_karpenter(VERSION)
        account, served = Account(sim), sim.serve()
        ready: Facts = {"url": served.url, "token": served.token, "kubeconfig": served.kubeconfig}
        serve(ready, lambda _: _facts(sim, account))


def _facts(sim: SimCluster, account: Account) -> Facts:
    log = sim.serve().server.requests
    return {
        "requests": dict(Counter(f"{entry.request.method} {entry.request.path.rsplit('/', 1)[1]}" for entry in log)),
        "openings": account.openings,
        "closings": account.closings,
        "signToClosed": account.sign_to_closed,
    }


if __name__ == "__main__":
    main()
