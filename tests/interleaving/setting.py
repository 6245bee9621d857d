"""What the world of a schedule is like at its start: its pools, its owner's wishes, its Karpenter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta

from driftgate.domain.budget import Budget, from_objects
from driftgate.domain.policy import AlarmGuard, ClusterPolicy, GuardPolicy, Mode, OpenPolicy, PoolPolicy
from driftgate.domain.window import MaintenanceWindow
from driftgate.sim.clock import ManualClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.timings import Timings
from tests.sim_clusters import NOW

CLUSTER = "demo"
ALARM = "demo-5xx"
ZERO = {"nodes": "0", "reasons": ["Drifted"]}
WINDOW_END = NOW.replace(hour=5, minute=0)
Budgets = tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Setting:
    """What the world is like at the start. `empty` nodes of each pool have no pod."""

    pools: tuple[str, ...] = ("app",)
    nodes: int = 4
    empty: int = 2
    baseline: Budgets = (ZERO,)
    per_window: int = 1
    open_timeout: timedelta = timedelta(minutes=4)
    timings: Timings = field(default_factory=Timings)
    beat_at_s: float = 7.0
    pause_between: timedelta = timedelta(minutes=1)
    bake: timedelta = timedelta(minutes=1)
    cpu_m: int = 1000
    """What a pod asks for, of the 4000 of a node: two of more than half do not fit on one."""
    is_watch_deaf: bool = False
    """Whether watches break off unnoticed: they stay open and tell nothing."""

    def __repr__(self) -> str:
        """Only what differs from the usual."""
        usual = Setting()
        pairs = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return f"Setting({', '.join(f'{name}={value!r}' for name, value in pairs if value != getattr(usual, name))})"


def new_cluster(setting: Setting, clock: ManualClock) -> SimCluster:
    sim = SimCluster(clock, karpenter="1.14.1", timings=setting.timings)
    sim.add_node_class()
    for pool in setting.pools:
        sim.add_nodepool(pool, setting.baseline)
        for number in range(setting.nodes):
            since = NOW - timedelta(hours=100 - number)
            node = sim.add_node(pool, f"{pool}{number}", drifted_since=since)
            if number % 2 == 1 or number >= 2 * setting.empty:
                sim.add_pod(node, cpu_m=setting.cpu_m)
    sim.advance(1)
    return sim


def lag_of(timings: Timings) -> timedelta:
    return timedelta(seconds=1 + timings.informer_lag_s + timings.simulation_s)


def policy_of(setting: Setting) -> ClusterPolicy:
    window = MaintenanceWindow(name="night", timezone="UTC", cron="0 2 * * *", duration=timedelta(hours=3))
    opening = OpenPolicy(
        per_window=setting.per_window, open_timeout=setting.open_timeout, pause_between=setting.pause_between
    )
    guards = GuardPolicy(alarms=(AlarmGuard(name=ALARM),), bake=setting.bake)
    pool = PoolPolicy(mode=Mode.ACT, windows=(window,), open=opening, guards=guards)
    return ClusterPolicy(cluster=CLUSTER, default=pool)


def wanted(setting: Setting) -> tuple[Budget, ...]:
    """The baseline as the product reads it."""
    return from_objects([dict(entry) for entry in setting.baseline])
