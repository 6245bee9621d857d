"""Closes the gate of one roll and writes down that it is closed: used by the worker and by every closer.

The gate comes first. A ledger that does not answer, or a message that cannot be sent, never delays it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from driftgate.app.close_gate import Closed, close_gate
from driftgate.app.pipeline import Pipeline
from driftgate.app.tell import Teller
from driftgate.domain import stories
from driftgate.domain.advance import neglect
from driftgate.domain.errors import ClusterUnavailableError, DriftgateError, LedgerConflictError
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.ports import Clock, Cluster, Ledger, PutRoll

PATIENCE = 5
"""How often an API server that does not answer is asked again, half a second later each time twice as long."""

COMMITS = 3
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


def close_persistently(cluster: Cluster, clock: Clock, pool: str, roll: Roll | None, deployment: str) -> Closed:
    """The gate is shut; an API server that does not answer is asked again a few times.

    Raises:
        ClusterUnavailableError: it never answered. The guard inside Karpenter shuts the gate at its minute.
    """
    wait = 0.5
    for _ in range(PATIENCE):
        try:
            return close_gate(cluster, pool, roll, deployment)
        except ClusterUnavailableError:
            clock.sleep(wait)
            wait *= 2
    return close_gate(cluster, pool, roll, deployment)


def close_and_record(
    pipeline: Pipeline, roll: Roll, deployment: str, reason: ReasonCode, teller: Teller, report: ClosingReport
) -> None:
    """The roll's gate is shut, written down as shut, and told; what fails is in the report, the gate first of all."""
    closed = shut(pipeline, roll, deployment, report)
    if closed is not None:
        write_down(pipeline, roll, reason, closed, teller, report)


def shut(pipeline: Pipeline, roll: Roll, deployment: str, report: ClosingReport) -> Closed | None:
    """The roll's gate is shut, and nothing else was done; None where it could not be, which is in the report."""
    name = f"{roll.cluster}/{roll.pool}"

    def close() -> Closed:
        cluster = pipeline.clusters.connect(roll.cluster)
        return close_persistently(cluster, pipeline.clock, roll.pool, roll, deployment)

    closed = guarded(report.failures, name, close)
    if closed is not None:
        report.closed.append(name)
    return closed


def write_down(
    pipeline: Pipeline, roll: Roll, reason: ReasonCode, closed: Closed, teller: Teller, report: ClosingReport
) -> None:
    """The ledger knows that the gate is shut, and people do."""
    name = f"{roll.cluster}/{roll.pool}"
    guarded(report.problems, name, lambda: _record(pipeline, roll, reason, closed, teller))


def _record(pipeline: Pipeline, roll: Roll, reason: ReasonCode, closed: Closed, teller: Teller) -> None:
    """Alerts first: how the gate was found is told even where the ledger does not take the record."""
    now = pipeline.clock.now()
    neglected, alerts = neglect(roll, now)
    found = None if closed.decision is None else closed.decision.alert(roll.pool)
    told = alerts if found is None else (*alerts, found)
    teller.tell(stories.of_alert(roll.cluster, roll.pool, roll.id, alert, now) for alert in told)
    restored = closed.is_baseline_back
    stored = store_closed(pipeline.ledger, roll.cluster, roll, now, pipeline.holder, is_restored=restored)
    teller.tell([stories.of_closing(stored, neglected or reason, now)])


def as_closed(roll: Roll, now: datetime, by: str, *, is_restored: bool) -> Roll:
    """The record of a gate that was shut now; a roll whose node went on keeps its state."""
    before_sign = roll.state in (RollState.PLANNED, RollState.OPENING, RollState.OPENED)
    state = RollState.CLOSED if before_sign else roll.state
    since = now if before_sign else roll.state_since
    return replace(
        roll,
        state=state,
        state_since=since,
        closed_at=roll.closed_at or now,
        closed_by=roll.closed_by or by,
        baseline_restored=is_restored,
    )


def store_closed(
    ledger: Ledger, cluster: str, roll: Roll, now: datetime, by: str, *, is_restored: bool = False
) -> Roll:
    """The roll as stored, closed; whoever wrote meanwhile is read again and closed too.

    Raises:
        LedgerConflictError: others kept writing. LedgerUnavailableError, AnswerLostError: not stored.
    """
    current: Roll | None = roll
    for _ in range(COMMITS):
        if current is None or current.closed_at is not None:
            return current or roll
        shut = as_closed(current, now, by, is_restored=is_restored)
        try:
            ledger.commit(cluster, PutRoll(shut))
        except LedgerConflictError:
            current = next((r for r in ledger.load(cluster).rolls if r.id == roll.id), None)
            continue
        return replace(shut, version=shut.version + 1)
    raise LedgerConflictError(f"the closing of {roll.id} could not be written down: others kept writing")


def guarded(into: list[str], what: str, act: Callable[[], T]) -> T | None:
    """What `act` gives; None where it failed, with the failure written down."""
    try:
        return act()
    except DriftgateError as error:
        into.append(f"{what}: {error}")
        return None
