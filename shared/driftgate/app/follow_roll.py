"""Carries out where a roll goes next: the gate first, then the record, then the window's slot, then people."""

from __future__ import annotations

from dataclasses import replace

from driftgate.app.close_roll import close_persistently
from driftgate.app.open_gate import Worker, counter_of
from driftgate.app.run_report import RunReport
from driftgate.app.tell import Teller
from driftgate.domain import stories
from driftgate.domain.advance import Advance
from driftgate.domain.ledger import CounterRecord, ImageVerdict, StopCause
from driftgate.domain.roll import Roll
from driftgate.ports import LedgerChange, LedgerState, PutCounter, PutImageVerdict, PutRoll, RemoveStop


def follow(worker: Worker, was: Roll, step: Advance, known: LedgerState, teller: Teller, report: RunReport) -> Roll:
    """The roll as stored after the step; the same roll where nothing changed.

    Raises:
        LedgerConflictError: somebody else wrote it; the next look decides again. Whatever had to close is closed.
    """
    done = shut(worker, step, known, teller, report) if step.close else step
    return was if done.roll == was else record(worker, was, done, known, teller, report)


def shut(worker: Worker, step: Advance, known: LedgerState, teller: Teller, report: RunReport) -> Advance:
    """The step with its gate shut now. How the gate was found is told at once: nobody will find it so again."""
    roll = step.roll
    closed = close_persistently(worker.cluster, worker.clock, roll.pool, roll, worker.deployment)
    report.closed.append(roll.pool)
    alert = closed.decision.alert(roll.pool) if closed.decision is not None else None
    if alert is not None:
        of_this_roll = replace(alert, objects=(*alert.objects, f"roll/{roll.id}"))
        teller.tell_alert(worker.ledger, known, worker.clock, (roll.pool, roll.id), of_this_roll)
    done = replace(
        roll,
        closed_at=roll.closed_at or worker.clock.now(),
        closed_by=roll.closed_by or worker.holder,
        baseline_restored=closed.is_baseline_back,
    )
    return replace(step, roll=done)


def record(worker: Worker, was: Roll, step: Advance, known: LedgerState, teller: Teller, report: RunReport) -> Roll:
    """The step's roll as stored, with what follows from it; then people hear of it.

    Raises:
        LedgerConflictError: somebody else wrote it. Alerts are told all the same.
    """
    for alert in step.alerts:
        teller.tell_alert(worker.ledger, known, worker.clock, (step.roll.pool, step.roll.id), alert)
    worker.ledger.commit(worker.name, PutRoll(step.roll), worker.lease(), *_follow_ups(worker, step, known))
    stored = replace(step.roll, version=step.roll.version + 1)
    report.saw(stored)
    teller.tell(stories.of_step(was, stored, step, worker.clock.now()))
    return stored


def _follow_ups(worker: Worker, step: Advance, known: LedgerState) -> list[LedgerChange]:
    changes: list[LedgerChange] = []
    roll = step.roll
    counter = counter_of(roll.window_key, known)
    if step.gives_back and counter is not None:
        back = CounterRecord(
            window_key=counter.window_key,
            taken=max(0, counter.taken - 1),
            unused=counter.unused + (1 if roll.opened_at is not None else 0),
        )
        changes.append(PutCounter(back, counter))
    if step.image_verdict is not None and roll.image:
        verdict = ImageVerdict(
            image=roll.image, verdict=step.image_verdict, at=worker.clock.now(), reason=str(step.reason), by=roll.id
        )
        changes.append(PutImageVerdict(verdict))
    if roll.is_finished:
        changes += [RemoveStop(stop) for stop in known.stops if (stop.cause, stop.ref) == (StopCause.ROLL, roll.id)]
    return changes
