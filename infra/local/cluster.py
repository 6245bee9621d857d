"""The simulated cluster of the story: a pool that has been trapped for 46 days."""

from __future__ import annotations

from datetime import datetime, timedelta

from driftgate.sim.clock import ManualClock, WallClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.timings import Timings
from infra.local.settings import POOL

OLD_NAME = "amazon-eks-node-al2023-x86_64-standard-1.34-v20251209"
NEW_NAME = "amazon-eks-node-al2023-x86_64-standard-1.34-v20260526"
PARAMETER = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
TRAPPED_FOR = timedelta(days=46, hours=9)
BUDGETS = [
    {"nodes": "20%", "reasons": ["Empty"]},
    {"nodes": "0", "reasons": ["Drifted", "Underutilized"]},
]
"""One entry keeps two reasons shut: opening for Drifted must not loosen the other."""

FULL = 3500
"""Millicores of a pod that fills its node, so that a replacement is needed."""


def trapped_cluster(clock: WallClock | ManualClock, old: str, new: str, timings: Timings | None = None) -> SimCluster:
    """Five nodes on the old image: three could go, one is held by a PDB, one asks not to be disrupted."""
    sim = SimCluster(clock, karpenter="1.14.1", timings=timings)
    sim.add_node_class(image=new, image_name=NEW_NAME, alias="al2023@latest")
    sim.add_nodepool(POOL, BUDGETS)
    since = clock.now() - TRAPPED_FOR
    for number in (1, 2, 3):
        node = _add(sim, number, old, since)
        sim.add_pod(node, f"shop-{number}", labels={"app": "shop"}, cpu_m=FULL)
    held = _add(sim, 4, old, since)
    sim.add_pod(held, "ledger-0", labels={"app": "ledger"}, owner=("StatefulSet", "ledger"), cpu_m=FULL)
    sim.add_pdb("ledger", {"app": "ledger"}, min_available=1)
    kept = _add(sim, 5, old, since, do_not_disrupt=True)
    sim.add_pod(kept, "batch-7", labels={"app": "batch"}, cpu_m=FULL)
    return sim


def _add(sim: SimCluster, number: int, image: str, since: datetime, *, do_not_disrupt: bool = False) -> str:
    name, drifted = f"ip-10-0-{number}-17", since + timedelta(hours=number)
    return sim.add_node(
        POOL, name, image=image, drifted_since=drifted, kubelet="v1.34.2", do_not_disrupt=do_not_disrupt
    )
