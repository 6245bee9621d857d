"""Turns a hint into work: which clusters need a look, and which gates must be shut now.

It reads the ledger once and never loads Kubernetes; a heartbeat reads the configuration only where the last look
does not say when the next one is due. It decides nothing about a pool: a message that is lost, late or doubled
changes nothing but the moment of the look.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from driftgate.app.pipeline import Pipeline
from driftgate.contract import channel_prefix, seen_prefix
from driftgate.domain.errors import DriftgateError
from driftgate.domain.ledger import StopCause
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.roll_clock import is_abandoned, is_overdue
from driftgate.events import AlarmChanged, CalendarChanged, Event, Heartbeat, ParameterChanged
from driftgate.ports import CloseRequest, LedgerState, WorkMessage

if TYPE_CHECKING:
    from driftgate.domain.policy import ClusterPolicy

_OPEN = frozenset({RollState.OPENING, RollState.OPENED})


@dataclass(slots=True)
class EvaluationReport:
    """What was asked for: clusters to look at, gates to shut."""

    queued: list[str] = field(default_factory=list)
    closing: list[str] = field(default_factory=list)
    why: str = ""

    def to_object(self) -> dict[str, object]:
        return {"queued": self.queued, "closing": self.closing, "why": self.why}


def evaluate_drift(pipeline: Pipeline, event: Event) -> EvaluationReport:
    """Queues a look at every cluster that the event may concern."""
    match event:
        case Heartbeat():
            return _beat(pipeline, event)
        case ParameterChanged():
            ours = (seen_prefix, channel_prefix)
            concerned = [
                p for p in _policies(pipeline) if event.name.startswith(tuple(of(p.deployment) for of in ours))
            ]
            return _queue(pipeline, concerned if event.has_new_value else [], event.origin.id, f"image: {event.name}")
        case AlarmChanged():
            guarded = [p for p in _policies(pipeline) if event.name in p.alarm_names()]
            return _queue(pipeline, guarded, event.origin.id, f"alarm: {event.name} is {event.state}")
        case CalendarChanged():
            named = [p for p in _policies(pipeline) if _is_named(event.calendar, p.calendar_names())]
            return _queue(pipeline, named, event.origin.id, f"calendar: {event.calendar} is {event.state}")
        case _:
            return EvaluationReport(why="nothing to look at")


def _policies(pipeline: Pipeline) -> list[ClusterPolicy]:
    return [pipeline.policy(name) for name in pipeline.cluster_names]


def _is_named(arn: str, names: Iterable[str]) -> bool:
    return any(arn == name or arn.endswith(f"/{name}") for name in names)


def _queue(pipeline: Pipeline, policies: Iterable[ClusterPolicy], dedup: str, cause: str) -> EvaluationReport:
    report = EvaluationReport(why=cause)
    for policy in policies:
        pipeline.queue.send(WorkMessage(cluster=policy.cluster, dedup=f"{dedup}:{policy.cluster}", cause=cause))
        report.queued.append(policy.cluster)
    return report


def _beat(pipeline: Pipeline, event: Heartbeat) -> EvaluationReport:
    """The minute's tick: shuts what is overdue or abandoned, and queues whoever is due.

    One cluster that cannot be reached keeps no other from its turn; the failure is raised when all had theirs.
    """
    fleet, failures = pipeline.ledger.load_fleet(), list[DriftgateError]()
    report = EvaluationReport(why="heartbeat")
    for cluster in sorted({*pipeline.cluster_names, *(name for name, state in fleet.items() if state.rolls)}):
        state = fleet.get(cluster, LedgerState(cluster=cluster))
        try:
            _beat_one(pipeline, state, event, report)
        except DriftgateError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return report


def _beat_one(pipeline: Pipeline, state: LedgerState, event: Heartbeat, report: EvaluationReport) -> None:
    cluster, now = state.cluster, pipeline.clock.now()
    for roll in (roll for roll in state.rolls if _is_left(roll, now)):
        request = CloseRequest(cluster=cluster, cause=StopCause.ROLL, ref=roll.id, pool=roll.pool)
        pipeline.closer.invoke(request)
        report.closing.append(roll.id)
    if cluster in pipeline.cluster_names and _is_due(pipeline, state, now):
        minute = f"{event.scheduled_at:%Y%m%dT%H%MZ}"
        pipeline.queue.send(WorkMessage(cluster=cluster, dedup=f"{cluster}:{minute}", cause="heartbeat"))
        report.queued.append(cluster)


def _is_left(roll: Roll, now: datetime) -> bool:
    """Whether the gate may stand open and nobody is at it, or its time is up."""
    return (
        roll.may_be_open and roll.state is not RollState.PLANNED and (is_overdue(roll, now) or is_abandoned(roll, now))
    )


def _is_due(pipeline: Pipeline, state: LedgerState, now: datetime) -> bool:
    """Whether a look is due: a roll is under way, a window is open, or the last look is too long ago.

    A cluster whose gate is being watched right now is left to its worker.
    """
    if any(roll.state in _OPEN and roll.may_be_open and not _is_left(roll, now) for roll in state.rolls):
        return False
    if any(not roll.is_finished for roll in state.rolls):
        return True
    return _is_look_due(pipeline, state, now)


def _is_look_due(pipeline: Pipeline, state: LedgerState, now: datetime) -> bool:
    """By what the last look wrote down; by the policy where that is another one's, or the look is ahead of our clock.

    Both say the same, so the policy is loaded, with its model and the calendar, only by who needs it.
    """
    is_known = state.config != "" and state.config == pipeline.config_digest
    if is_known and state.due_at is not None and state.looked_at is not None and state.looked_at <= now:
        return now >= state.due_at
    from driftgate.domain.look import is_look_due

    return is_look_due(pipeline.policy(state.cluster), state.looked_at, now)
