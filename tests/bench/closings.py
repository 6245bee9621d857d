"""How fast a gate is shut: after Karpenter took a node, and after an alarm.

Judged by the cluster's own account, in another process: from the write of the first sign (the node's taint or the
claim's DisruptionReason) to the write of the closed list; from the alarm's event to that write.
"""

from __future__ import annotations

import time

from driftgate.app.close_budgets import close_for_alarm
from driftgate.app.observe import observe
from driftgate.app.open_gate import OpeningResult, Worker, open_gate
from driftgate.app.reconcile import LEASE, reconcile
from driftgate.domain.judge import judge
from driftgate.events import AlarmChanged, Origin
from driftgate.ports import WorkMessage
from tests.bench.figures import Figure, median, note, percentile
from tests.bench.helper import Facts, Helper
from tests.bench.worlds import ALARM, CLOCK, deployed, ledger_in
from tests.fakes.pipeline import FakeWorld

GOAL_MS = 1000.0
PATIENCE_S = 240.0
PAUSE_S = 0.05
CLUSTER_PROCESS = "tests.bench.cluster_process"


def measure_signs(aws: Facts, openings: int, nodes: int = 3) -> list[Figure]:
    """One opening after the other by the real worker, each in a pool of its own: a pool rests between two."""
    size = ("--pools", str(openings), "--nodes", str(nodes), "--drifted", str(nodes), "--karpenter")
    name = f"signs-{nodes}"
    with Helper(CLUSTER_PROCESS, *size) as cluster:
        place = deployed(cluster.ready, ledger_in(aws), name)
        until = time.monotonic() + PATIENCE_S
        while len(times := cluster.ask()["signToClosed"]) < openings:
            if time.monotonic() > until:
                raise RuntimeError(f"only {len(times)} of {openings} openings in {PATIENCE_S:.0f} s")
            for problem in reconcile(
                place.pipeline(), WorkMessage(cluster=name, dedup="bench", cause="bench")
            ).problems:
                note(problem)
            CLOCK.sleep(PAUSE_S)
    key, what = f"signToClosed{nodes}", f"sign to closed, {openings} pools of {nodes:,} nodes"
    return [
        Figure(key=f"{key}P50", what=f"{what}: p50", value=median(times) * 1000, at_most=GOAL_MS),
        Figure(key=f"{key}P99", what=f"{what}: p99", value=percentile(times, 99) * 1000, at_most=GOAL_MS),
    ]


def measure_alarms(aws: Facts, rounds: int) -> list[Figure]:
    """Gates opened by a worker that is gone, shut by `close_budgets` in a process that is warm."""
    sent: list[float] = []
    with Helper(CLUSTER_PROCESS, "--nodes", "10", "--drifted", "10") as cluster:
        ledger = ledger_in(aws, sent)
        found = [
            _shut_by_alarm(cluster, deployed(cluster.ready, ledger, f"alarm-{n}"), sent) for n in range(rounds + 1)
        ]
    warm = found[1:]
    times = [seconds * 1000 for seconds, _, _ in warm]
    what = f"alarm to closed, warm, {rounds} gates"
    return [
        Figure(key="alarmToClosedP50", what=f"{what}: p50", value=median(times), at_most=GOAL_MS),
        Figure(key="alarmToClosedP99", what=f"{what}: p99", value=percentile(times, 99), at_most=GOAL_MS),
        Figure(
            key="alarmLedgerRequests",
            what=f"{what}: ledger requests before",
            value=max(n for _, n, _ in warm),
            unit="",
            at_most=2,
        ),
        Figure(
            key="alarmClusterRequests",
            what=f"{what}: requests to the cluster",
            value=max(n for _, _, n in warm),
            unit="",
            at_most=1,
        ),
    ]


def _shut_by_alarm(cluster: Helper, place: FakeWorld, sent: list[float]) -> tuple[float, int, int]:
    """Seconds until the API had the closed list, ledger requests up to then, and all requests to the cluster."""
    _open(place)
    before = cluster.ask()
    at = CLOCK.now()
    event = AlarmChanged(origin=Origin(id=place.policy.cluster, at=at), name=ALARM, state="ALARM")
    began = time.monotonic()
    close_for_alarm(place.pipeline("closer"), event).raise_failures()
    after = cluster.ask()
    closed_at: float = after["closings"][-1]
    asked = sum(began <= moment <= closed_at for moment in sent)
    return closed_at - began, asked, sum(after["requests"].values()) - sum(before["requests"].values())


def _open(place: FakeWorld) -> None:
    """The gate stands open, as a worker leaves it that dies at once."""
    name, pipeline = place.policy.cluster, place.pipeline()
    lease = place.ledger.acquire_lease(name, pipeline.holder, CLOCK.now(), LEASE)
    known = place.ledger.load(name)
    judged = judge(observe(pipeline.sources(place.cluster), place.policy, known, CLOCK.now()), place.policy)
    action = judged.plan.pools[0].action
    if action.roll is None:
        raise RuntimeError(f"nothing opens: {[hold.message for hold in action.reasons]}")
    worker = Worker(
        cluster=place.cluster,
        ledger=place.ledger,
        clock=CLOCK,
        name=name,
        deployment=place.policy.deployment,
        holder=lease.holder,
        token=lease.token,
    )
    opening = open_gate(worker, judged.nodepool("app-0"), action.roll, known)
    if opening.result is not OpeningResult.OPENED:
        raise RuntimeError(f"the gate was not opened: {opening.error}")
