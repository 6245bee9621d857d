"""Closes gates now, because an alarm fired, a person or the heartbeat asks, or a worker is gone.

It needs neither queue nor lease. The stop is written first, so that nothing opens behind its back; the gate is shut
without reading the cluster where the ledger knows how it was left. One gate that cannot be shut does not keep the
others open: all are tried, and then the failure is raised so that the whole is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from driftgate.app.close_gate import Closed
from driftgate.app.close_roll import close_persistently, store_closed
from driftgate.app.pipeline import Pipeline
from driftgate.app.tell import Teller
from driftgate.domain import stories
from driftgate.domain.errors import ClusterUnavailableError, DriftgateError
from driftgate.domain.gate_duty import has_leftovers
from driftgate.domain.ledger import Stop, StopCause
from driftgate.domain.policy import ClusterPolicy
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll
from driftgate.domain.roll_annotation import LiveRoll, from_text
from driftgate.events import AlarmChanged, Event
from driftgate.ports import CloseRequest, LedgerState, PutStop

T = TypeVar("T")


@dataclass(slots=True)
class ClosingReport:
    """Which gates were shut (`cluster/pool`), and what went wrong on the way."""

    closed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def raise_failures(self) -> None:
        """Raises ClusterUnavailableError where a gate could not be shut, so that the invocation is repeated."""
        if self.failures:
            raise ClusterUnavailableError("; ".join(self.failures))

    def to_object(self) -> dict[str, object]:
        return {"closed": self.closed, "problems": self.problems, "failures": self.failures}


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
    guarded = [p for p in map(pipeline.policy, pipeline.cluster_names) if event.name in p.alarm_names()]
    now = pipeline.clock.now()
    stops = [Stop(cause=StopCause.ALARM, ref=event.name, cluster=p.cluster, at=now) for p in guarded]
    return _close(pipeline, guarded, stops, lambda roll: _is_guarded(pipeline, roll, event.name), ReasonCode.ALARM)


def close_for_request(pipeline: Pipeline, request: CloseRequest) -> ClosingReport:
    """The gate of one roll, one pool or one cluster is shut; a stop keeps its roll from opening again."""
    stops = []
    if request.cause == StopCause.ROLL:
        at = pipeline.clock.now()
        stops = [Stop(cause=StopCause.ROLL, ref=request.ref, cluster=request.cluster, pool=request.pool, at=at)]

    def is_meant(roll: Roll) -> bool:
        return request.pool in (None, roll.pool) and (request.cause != StopCause.ROLL or roll.id == request.ref)

    reason = ReasonCode.ABANDONED if request.cause == StopCause.ROLL else ReasonCode.CLOSED_BY_PERSON
    return _close(pipeline, [pipeline.policy(request.cluster)], stops, is_meant, reason)


def _close(
    pipeline: Pipeline,
    policies: list[ClusterPolicy],
    stops: list[Stop],
    is_meant: Callable[[Roll], bool],
    reason: ReasonCode,
) -> ClosingReport:
    report, teller = ClosingReport(), Teller(pipeline.publisher)
    for stop in stops:
        _guarded(report.failures, f"the stop for {stop.cluster}", partial(_write, pipeline, stop))
    fleet = pipeline.ledger.load_fleet() if policies else {}
    for policy in policies:
        state = fleet.get(policy.cluster, LedgerState(cluster=policy.cluster))
        rolls = [roll for roll in state.rolls if not roll.is_finished]
        _close_rolls(pipeline, policy, (r for r in rolls if r.may_be_open and is_meant(r)), reason, report, teller)
        if not rolls:
            _guarded(report.failures, policy.cluster, partial(_close_live, pipeline, policy, report))
    report.problems += teller.failures
    return report


def _write(pipeline: Pipeline, stop: Stop) -> None:
    pipeline.ledger.commit(stop.cluster, PutStop(stop))


def _close_rolls(
    pipeline: Pipeline,
    policy: ClusterPolicy,
    rolls: Iterable[Roll],
    reason: ReasonCode,
    report: ClosingReport,
    teller: Teller,
) -> None:
    for roll in rolls:
        name = f"{policy.cluster}/{roll.pool}"
        closed = _guarded(report.failures, name, partial(_shut, pipeline, policy, roll.pool, roll))
        if closed is None:
            continue
        report.closed.append(name)
        _guarded(report.problems, name, partial(_record, pipeline, roll, reason, closed, teller))


def _close_live(pipeline: Pipeline, policy: ClusterPolicy, report: ClosingReport) -> None:
    """Where the ledger knows no roll, the NodePools themselves are asked: a lost ledger loses nothing."""
    for pool in pipeline.clusters.connect(policy.cluster).list_nodepools():
        standing = from_text(pool.roll_annotation)
        is_ours = isinstance(standing, LiveRoll) and standing.deployment == policy.deployment
        if is_ours and has_leftovers(pool):
            _shut(pipeline, policy, pool.name, None)
            report.closed.append(f"{policy.cluster}/{pool.name}")


def _shut(pipeline: Pipeline, policy: ClusterPolicy, pool: str, roll: Roll | None) -> Closed:
    cluster = pipeline.clusters.connect(policy.cluster)
    return close_persistently(cluster, pipeline.clock, pool, roll, policy.deployment)


def _record(pipeline: Pipeline, roll: Roll, reason: ReasonCode, closed: Closed, teller: Teller) -> None:
    """Writes down that the gate is shut, and tells it. The gate is shut already, whatever happens here."""
    now = pipeline.clock.now()
    stored = store_closed(pipeline.ledger, roll.cluster, roll, now, pipeline.holder)
    teller.tell([stories.of_closing(stored, reason, now)])
    alert = None if closed.decision is None else closed.decision.alert(roll.pool)
    if alert is not None:
        teller.tell([stories.of_alert(roll.cluster, roll.pool, roll.id, alert, now)])


def _is_guarded(pipeline: Pipeline, roll: Roll, alarm: str) -> bool:
    policy = pipeline.policy(roll.cluster).of(roll.pool)
    return policy is None or any(guard.name == alarm for guard in policy.guards.alarms or ())


def _guarded(into: list[str], what: str, act: Callable[[], T]) -> T | None:
    """What `act` gives; None where it failed, with the failure written down."""
    try:
        return act()
    except DriftgateError as error:
        into.append(f"{what}: {error}")
        return None
