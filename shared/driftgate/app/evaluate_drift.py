"""Turns a hint into work: which clusters need a look, and which gates must be shut now.

It reads the ledger once and never loads Kubernetes; a heartbeat reads the configuration only where the last look
does not say when the next one is due. It decides nothing about a pool: a message that is lost, late or doubled
changes nothing but the moment of the look.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
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

LATE = timedelta(minutes=2)
"""A gate so long past its revertBy is told by an alarm: whoever should have shut it had the time."""

BAKE_LOOKS = timedelta(minutes=5)
"""How often an image that bakes is looked at: a guard that turns says so itself, and hours need no minutes."""

_OPEN = frozenset({RollState.OPENING, RollState.OPENED})


@dataclass(slots=True)
class EvaluationReport:
    """What was asked for: clusters to look at, gates to shut. Filled in while it goes on: a failure takes none of it.

    `left_open` are the rolls whose gate was found open with nobody at it, or past its time; `overdue` those of them
    that are past it by more than LATE.
    """

    queued: list[str] = field(default_factory=list)
    closing: list[str] = field(default_factory=list)
    why: str = ""
    left_open: list[str] = field(default_factory=list)
    overdue: list[str] = field(default_factory=list)

    def to_object(self) -> dict[str, object]:
        return {"queued": self.queued, "closing": self.closing, "why": self.why}


def evaluate_drift(pipeline: Pipeline, event: Event, report: EvaluationReport | None = None) -> EvaluationReport:
    """Queues a look at every cluster that the event may concern, and says so in `report`."""
    report = report or EvaluationReport()
    match event:
        case Heartbeat():
            _beat(pipeline, event, report)
        case ParameterChanged():
            ours = (seen_prefix, channel_prefix)
            concerned = [
                p for p in _policies(pipeline) if event.name.startswith(tuple(of(p.deployment) for of in ours))
            ]
            report.why = f"image: {event.name}"
            _queue(pipeline, concerned if event.has_new_value else [], event.origin.id, report)
        case AlarmChanged():
            guarded = [p for p in _policies(pipeline) if event.name in p.alarm_names()]
            report.why = f"alarm: {event.name} is {event.state}"
            _queue(pipeline, guarded, event.origin.id, report)
        case CalendarChanged():
            named = [p for p in _policies(pipeline) if _is_named(event.calendar, p.calendar_names())]
            report.why = f"calendar: {event.calendar} is {event.state}"
            _queue(pipeline, named, event.origin.id, report)
        case _:
            report.why = "nothing to look at"
    return report


def _policies(pipeline: Pipeline) -> list[ClusterPolicy]:
    return [pipeline.policy(name) for name in pipeline.cluster_names]


def _is_named(arn: str, names: Iterable[str]) -> bool:
    return any(arn == name or arn.endswith(f"/{name}") for name in names)


def _queue(pipeline: Pipeline, policies: Iterable[ClusterPolicy], dedup: str, report: EvaluationReport) -> None:
    for policy in policies:
        pipeline.queue.send(WorkMessage(cluster=policy.cluster, dedup=f"{dedup}:{policy.cluster}", cause=report.why))
        report.queued.append(policy.cluster)


def _beat(pipeline: Pipeline, event: Heartbeat, report: EvaluationReport) -> None:
    """The minute's tick: shuts what is overdue or abandoned, and queues whoever is due.

    One cluster that cannot be reached keeps no other from its turn; the failure is raised when all had theirs.
    """
    report.why = "heartbeat"
    fleet, failures = pipeline.ledger.load_fleet(), list[DriftgateError]()
    for cluster in sorted({*pipeline.cluster_names, *(name for name, state in fleet.items() if state.rolls)}):
        state = fleet.get(cluster, LedgerState(cluster=cluster))
        try:
            _beat_one(pipeline, state, event, report)
        except DriftgateError as error:
            failures.append(error)
    if failures:
        raise failures[0]


def _beat_one(pipeline: Pipeline, state: LedgerState, event: Heartbeat, report: EvaluationReport) -> None:
    cluster, now = state.cluster, pipeline.clock.now()
    left = [roll for roll in state.rolls if _is_left(roll, now)]
    report.left_open += [roll.id for roll in left]
    report.overdue += [roll.id for roll in left if is_overdue(roll, now - LATE)]
    for roll in left:
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

    A cluster whose gate is being watched right now is left to its worker. A roll that only bakes is looked at seldom.
    """
    if any(roll.state in _OPEN and roll.may_be_open and not _is_left(roll, now) for roll in state.rolls):
        return False
    under_way = [roll for roll in state.rolls if not roll.is_finished]
    if any(roll.state is not RollState.BAKING for roll in under_way):
        return True
    if under_way and (state.looked_at is None or now - state.looked_at >= BAKE_LOOKS):
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
