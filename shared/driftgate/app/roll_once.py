"""Performs one roll from a laptop: the same looks as the deployed pipeline, one after another in one process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from driftgate.app.pipeline import Pipeline
from driftgate.app.reconcile import reconcile
from driftgate.app.run_report import RunReport
from driftgate.domain.errors import LeaseHeldError
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.plan import Hold
from driftgate.domain.policy import NowRequest
from driftgate.domain.roll import Roll, RollState
from driftgate.ports import WorkMessage

PAUSE_S = 5.0


class Until(StrEnum):
    """How long to stay: until Karpenter took the node, until it was replaced, or until the image has baked."""

    SIGN = "sign"
    SETTLED = "settled"
    DONE = "done"


_ENOUGH = {
    Until.SIGN: frozenset({RollState.IN_FLIGHT, RollState.SETTLING, RollState.BAKING}),
    Until.SETTLED: frozenset({RollState.BAKING}),
    Until.DONE: frozenset[RollState](),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RollResult:
    """What came of it. `roll` None: nothing was opened, for the reasons given."""

    pool: str
    roll: Roll | None = None
    reasons: tuple[Hold, ...] = ()
    problems: tuple[str, ...] = ()

    def to_object(self) -> dict[str, object]:
        roll = self.roll
        return {
            "roll": None if roll is None else roll.id,
            "pool": self.pool,
            "state": "held" if roll is None else str(roll.state),
            "node": None if roll is None else roll.node or None,
            "replacement": None if roll is None else roll.replacement or None,
            "openedAt": None if roll is None else rfc3339(roll.opened_at),
            "signAt": None if roll is None else rfc3339(roll.sign_at),
            "closedAt": None if roll is None else rfc3339(roll.closed_at),
            "secondsOpenAfterSign": None if roll is None else _seconds(roll.sign_at, roll.closed_at),
            "baselineRestored": roll is None or roll.opened_at is None or roll.baseline_restored,
            "reasons": [hold.to_object() for hold in self.reasons],
        }


def roll_once(
    pipeline: Pipeline, pool: str, until: Until, request: NowRequest | None, heard: Callable[[RunReport], None]
) -> RollResult:
    """Opens the pool's gate once and follows its roll; an unfinished roll of the pool is followed instead.

    Raises:
        LeaseHeldError: another worker has the cluster; nothing was done.
    """
    cluster = pipeline.cluster_names[0]
    roll: Roll | None = None
    while True:
        message = WorkMessage(cluster=cluster, dedup=f"{pool}:roll", cause="roll")
        report = reconcile(pipeline, message, request, may_open=roll is None)
        if report.held_by:
            lease = pipeline.ledger.load(cluster).lease
            since = pipeline.clock.now() if lease is None else lease.acquired_at
            raise LeaseHeldError(cluster, report.held_by, since)
        heard(report)
        roll = next((r for r in report.rolls if r.pool == pool), roll)
        if roll is None or roll.state is RollState.PLANNED:
            return _held(report, pool)
        if roll.is_finished or roll.state in _ENOUGH[until]:
            return RollResult(pool=pool, roll=roll, problems=tuple(report.problems))
        if not report.continues:
            pipeline.clock.sleep(PAUSE_S)


def _held(report: RunReport, pool: str) -> RollResult:
    plan = None if report.plan is None else report.plan.of(pool)
    reasons = () if plan is None else plan.action.reasons
    return RollResult(pool=pool, reasons=reasons, problems=tuple(report.problems))


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds between; None where either is not known, or the sign was only found after the closing."""
    return None if start is None or end is None or end < start else round((end - start).total_seconds(), 3)
