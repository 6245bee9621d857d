"""Closes gates now, because an alarm fired, a person or the heartbeat asks, or a worker is gone.

It needs neither queue nor lease. The stop is written first, so that nothing opens behind its back; the gate is shut
without reading the cluster where the ledger knows how it was left, and by reading it where the ledger knows of no open
gate or does not answer. One gate that cannot be shut does not keep the others open: all are tried, and then the
failure is raised so that the whole is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from driftgate.app.close_roll import ClosingReport, close_persistently, guarded, shut, write_down
from driftgate.app.pipeline import Pipeline
from driftgate.app.tell import Teller
from driftgate.domain import stories
from driftgate.domain.ledger import Stop, StopCause
from driftgate.domain.policy import ClusterPolicy
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll
from driftgate.domain.roll_alerts import unknown_opening
from driftgate.domain.roll_annotation import LiveRoll, from_text
from driftgate.events import AlarmChanged, Event
from driftgate.ports import CloseRequest, LedgerState, PutStop


class Gate(NamedTuple):
    """A gate that may be open, and by which roll."""

    cluster: str
    pool: str
    roll: str


def close_budgets(pipeline: Pipeline, event: Event) -> ClosingReport:
    """The gates that the event asks for are shut; an event that asks for none shuts none."""
    match event:
        case AlarmChanged():
            return close_for_alarm(pipeline, event)
        case CloseRequest():
            return close_for_request(pipeline, event)
        case _:
            return ClosingReport(problems=[f"{type(event).__name__} asks for no closing"])


def close_for_alarm(pipeline: Pipeline, event: AlarmChanged) -> ClosingReport:
    """Every gate that this alarm guards is shut, and stays shut until the alarm is read OK again."""
    if event.state != "ALARM":
        return ClosingReport()
    concerned = [p for p in map(pipeline.policy, pipeline.cluster_names) if event.name in p.alarm_names()]
    now = pipeline.clock.now()
    stops = [Stop(cause=StopCause.ALARM, ref=event.name, cluster=p.cluster, at=now) for p in concerned]

    def is_meant(gate: Gate) -> bool:
        policy = pipeline.policy(gate.cluster).of(gate.pool)
        return policy is None or any(guard.name == event.name for guard in policy.guards.alarms or ())

    return _close(pipeline, concerned, stops, is_meant, ReasonCode.ALARM)


def close_for_request(pipeline: Pipeline, request: CloseRequest) -> ClosingReport:
    """The gate of one roll, one pool or one cluster is shut; a stop keeps its roll from opening again."""
    stops = []
    if request.cause == StopCause.ROLL:
        at = pipeline.clock.now()
        stops = [Stop(cause=StopCause.ROLL, ref=request.ref, cluster=request.cluster, pool=request.pool, at=at)]

    def is_meant(gate: Gate) -> bool:
        return request.pool in (None, gate.pool) and (request.cause != StopCause.ROLL or gate.roll == request.ref)

    reason = ReasonCode.ABANDONED if request.cause == StopCause.ROLL else ReasonCode.CLOSED_BY_PERSON
    return _close(pipeline, [pipeline.policy(request.cluster)], stops, is_meant, reason)


def _close(
    pipeline: Pipeline,
    policies: list[ClusterPolicy],
    stops: list[Stop],
    is_meant: Callable[[Gate], bool],
    reason: ReasonCode,
) -> ClosingReport:
    report, teller = ClosingReport(), Teller(pipeline.publisher)
    for stop in stops:
        guarded(report.failures, f"the stop for {stop.cluster}", partial(_write, pipeline, stop))
    fleet = (guarded(report.failures, "the ledger", pipeline.ledger.load_fleet) if policies else None) or {}
    known = [(policy, _may_be_open(fleet, policy.cluster)) for policy in policies]
    meant = [(p, roll) for p, rolls in known for roll in rolls if is_meant(Gate(roll.cluster, roll.pool, roll.id))]
    # every gate first: what one of them takes to write down and to tell must keep no other open
    gates = [(roll, shut(pipeline, roll, policy.deployment, report)) for policy, roll in meant]
    for roll, closed in gates:
        if closed is not None:
            write_down(pipeline, roll, reason, closed, teller, report)
    for policy in (policy for policy, rolls in known if not rolls):
        guarded(report.failures, policy.cluster, partial(_close_live, pipeline, policy, is_meant, teller, report))
    report.problems += teller.failures
    return report


def _may_be_open(fleet: Mapping[str, LedgerState], cluster: str) -> list[Roll]:
    return [roll for roll in fleet.get(cluster, LedgerState(cluster=cluster)).rolls if roll.may_be_open]


def _write(pipeline: Pipeline, stop: Stop) -> None:
    pipeline.ledger.commit(stop.cluster, PutStop(stop))


def _close_live(
    pipeline: Pipeline, policy: ClusterPolicy, is_meant: Callable[[Gate], bool], teller: Teller, report: ClosingReport
) -> None:
    """Where the ledger knows no open gate, the NodePools themselves are asked: a lost ledger loses nothing."""
    cluster = pipeline.clusters.connect(policy.cluster)
    for pool in cluster.list_nodepools():
        live = from_text(pool.roll_annotation)
        if not isinstance(live, LiveRoll) or live.deployment != policy.deployment:
            continue
        if is_meant(Gate(policy.cluster, pool.name, live.id)):
            closed = close_persistently(cluster, pipeline.clock, pool.name, None, policy.deployment)
            report.closed.append(f"{policy.cluster}/{pool.name}")
            found = None if closed.decision is None else closed.decision.alert(pool.name)
            now = pipeline.clock.now()
            alerts = [unknown_opening(pool.name, live, now), *([] if found is None else [found])]
            teller.tell(stories.of_alert(policy.cluster, pool.name, live.id, alert, now) for alert in alerts)
