"""How long one decision takes for a pool of thousands of nodes.

Processor time of `judge` alone: the observation is there already, as it is after the reading. The goal is one of the
median: now and then the garbage collector walks through everything that was read, and the p99 shows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from driftgate.domain.budget import Budget, DisruptionReason
from driftgate.domain.horizon import never_opens
from driftgate.domain.judge import judge
from driftgate.domain.nodes import PodSnapshot
from driftgate.domain.observation import Observation
from driftgate.domain.plan import Verdict
from tests.bench.figures import Figure, median, percentile
from tests.factories import (
    DRIFTED_SINCE,
    NOW,
    cluster_policy,
    node_class,
    nodepool,
    observation,
    pair,
    pdb,
    pod,
)

GOAL_MS = 50.0
PODS_PER_NODE = 20


def measure(nodes: int, rounds: int) -> list[Figure]:
    """A usual pool with a few drifted nodes, the worst one where all are, and the horizon of a year."""
    usual, worst = pool_of(nodes, drifted=min(20, nodes)), pool_of(nodes, drifted=nodes)
    return [
        *_decision("decisionUsual", f"decide on {nodes:,} nodes, 20 drifted", usual, rounds),
        *_decision("decisionWorst", f"decide on {nodes:,} nodes, all drifted", worst, rounds),
        _never_opens(rounds),
    ]


def pool_of(nodes: int, *, drifted: int) -> Observation:
    """A trapped pool; the first nodes are drifted. Twenty pods on each, every tenth node under a full PDB."""
    pairs = [pair(f"n{number:05}", drifted=DRIFTED_SINCE if number < drifted else None) for number in range(nodes)]
    pods = [_pod(number, of) for number in range(nodes) for of in range(PODS_PER_NODE)]
    held = pdb("held", disruptions_allowed=0)
    return observation(
        pairs, nodepools=(nodepool("app"),), node_classes=(node_class(),), pods=tuple(pods), pdbs=(pdb(), held)
    )


def _pod(number: int, of: int) -> PodSnapshot:
    labels = _HELD if of == 0 and number % 10 == 9 else _WEB
    return pod(f"web-{number}-{of}", node=f"n{number:05}", labels=labels)


_WEB, _HELD = {"app": "web"}, {"app": "held"}


def _decision(key: str, what: str, seen: Observation, rounds: int) -> list[Figure]:
    policy = cluster_policy("app")
    plan = judge(seen, policy).plan.pools[0]
    if plan.verdict is not Verdict.TRAPPED:
        raise AssertionError(f"the pool to be measured is {plan.verdict}, not trapped")
    times = [_cpu_ms(partial(judge, seen, policy)) for _ in range(rounds)]
    return [
        Figure(key=key, what=f"{what}: median, CPU", value=median(times), at_most=GOAL_MS),
        Figure(key=f"{key}P99", what=f"{what}: p99, CPU", value=percentile(times, 99)),
    ]


def _never_opens(rounds: int) -> Figure:
    """Every minute of a year, for the hardest list: fifty entries whose schedules have nothing in common."""
    entries = [_scheduled_zero(f"{minute} */3 {1 + minute % 28} * *") for minute in range(49)]
    budgets = (Budget(nodes="0", reasons=("Drifted",)), *entries)
    moments = [NOW + timedelta(minutes=number) for number in range(rounds)]
    times = [_cpu_ms(partial(never_opens, budgets, 5000, at, DisruptionReason.DRIFTED)) for at in moments]
    return Figure(key="neverOpens", what="never-opens over a year, 50 entries: median, CPU", value=median(times))


def _scheduled_zero(schedule: str) -> Budget:
    return Budget(nodes="0", reasons=("Drifted",), schedule=schedule, duration="7h")


def _cpu_ms(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return (time.process_time() - began) * 1000
