"""The cluster of the roll's stories: two pools, windows every other hour, a blackout, a calendar, one alarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from driftgate.domain.policy import AlarmGuard, GuardPolicy, OpenPolicy
from driftgate.domain.window import Blackout, MaintenanceWindow
from driftgate.sim.clock import ManualClock
from driftgate.sim.cluster import SimCluster
from tests.factories import cluster_policy, pool_policy

START = datetime.fromisoformat("2026-10-17T02:10:00+00:00")
OFTEN = MaintenanceWindow(name="often", timezone="UTC", cron="0 */2 * * *", duration=timedelta(minutes=80))
SALE = Blackout(
    name="sale",
    start=datetime.fromisoformat("2026-10-17T02:50:00+00:00"),
    end=datetime.fromisoformat("2026-10-17T04:10:00+00:00"),
)
CALENDAR = "release-calm"
PER_WINDOW = 2
GATES: Mapping[str, Sequence[Mapping[str, object]]] = {
    "app": [{"nodes": "50%", "reasons": ["Empty"]}, {"nodes": "0", "reasons": ["Drifted", "Underutilized"]}],
    "web": [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "1"}],
}
POLICY = cluster_policy(
    *GATES,
    policy=pool_policy(
        windows=(OFTEN,),
        blackouts=(SALE,),
        open=OpenPolicy(
            per_window=PER_WINDOW,
            pause_between=timedelta(minutes=2),
            open_timeout=timedelta(minutes=5),
            expected_roll=timedelta(minutes=3),
        ),
        guards=GuardPolicy(alarms=(AlarmGuard(name="demo-5xx"),), calendars=(CALENDAR,), bake=timedelta(minutes=3)),
    ),
)


def two_pools() -> SimCluster:
    """Four drifted nodes in each pool, empty and full ones, and a Karpenter that has just looked."""
    sim = SimCluster(ManualClock(START), karpenter="1.14.1")
    sim.add_node_class()
    for pool, budgets in GATES.items():
        sim.add_nodepool(pool, budgets, expire_after="720h")
        for number in range(4):
            since = START - timedelta(hours=100 - number)
            pods = 4 if (number + len(pool)) % 2 else 0
            sim.add_node(pool, f"{pool}{number}", drifted_since=since, pods=pods)
    sim.add_pdb("web", {"app": "web"}, max_unavailable=3)
    sim.advance(1)
    return sim
