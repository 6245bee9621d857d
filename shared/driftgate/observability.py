"""The one Logger, Metrics and Tracer of a process, and what a run tells them.

Messages are constant sentences, facts are keys. A cluster or a pool is a key of the log and never a metric's
dimension: each combination is billed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from driftgate.contract import METRIC_NAMESPACE, SERVICE, Dimension, Metric
from driftgate.domain.plan import ActionKind, ClusterPlan, Verdict
from driftgate.domain.roll import Roll, RollState


class RunFacts(Protocol):
    """What a run's report has to offer."""

    plan: ClusterPlan | None
    rolls: list[Roll]
    opened: list[str]
    closed: list[str]
    problems: list[str]

    def to_object(self) -> dict[str, object]: ...


logger = Logger(service=SERVICE)
metrics = Metrics(namespace=METRIC_NAMESPACE, service=SERVICE)
tracer = Tracer(service=SERVICE)


def log_plan(plan: ClusterPlan | None) -> None:
    """One info line per pool's decision, with its reasons; debug for pools where nothing is to be done."""
    for pool in plan.pools if plan is not None else ():
        line = logger.debug if pool.action.kind is ActionKind.NONE and pool.verdict is Verdict.CLEAN else logger.info
        line(
            "Decided on a pool",
            extra={
                "cluster": plan.cluster if plan is not None else "",
                "nodepool": pool.name,
                "verdict": str(pool.verdict),
                "action": str(pool.action.kind),
                "reasons": [str(hold.code) for hold in pool.action.reasons],
            },
        )


def count_plan(plan: ClusterPlan | None) -> None:
    """RollHeld by the first reason of each hold, and ClusterUnread where a verdict was not possible."""
    for pool in plan.pools if plan is not None else ():
        if pool.action.kind is ActionKind.HOLD and pool.action.reasons:
            _count_by_reason(Metric.ROLL_HELD, str(pool.action.reasons[0].code))
        if pool.is_unknown:
            count(Metric.CLUSTER_UNREAD, 1)


def count(name: Metric, value: int) -> None:
    """Adds to a counter; nothing is emitted for nothing."""
    if value:
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)


def record_run(run: RunFacts) -> None:
    """Logs and counts what one look at one cluster did."""
    log_plan(run.plan)
    count_plan(run.plan)
    count(Metric.BUDGETS_OPENED, len(run.opened))
    count(Metric.BUDGETS_CLOSED, len(run.closed))
    count(Metric.MESSAGE_FAILED, len(run.problems))
    measure_rolls(run.rolls)
    logger.info("Looked at a cluster", extra=run.to_object())


def measure_rolls(rolls: Iterable[Roll]) -> None:
    """Seconds from sign to closed gate, and the length of rolls that ended."""
    for roll in rolls:
        if roll.sign_at is not None and roll.closed_at is not None and roll.state is RollState.IN_FLIGHT:
            waited = max(0.0, (roll.closed_at - roll.sign_at).total_seconds())
            count(Metric.SIGN_SEEN, 1)
            metrics.add_metric(name=Metric.SIGN_TO_CLOSED, unit=MetricUnit.Seconds, value=waited)
        if roll.is_finished and roll.ended_at is not None and roll.opened_at is not None:
            length = (roll.ended_at - roll.opened_at).total_seconds()
            metrics.add_metric(name=Metric.ROLL_DURATION, unit=MetricUnit.Seconds, value=length)
            count(_ENDED[roll.state], 1)


_ENDED = {
    RollState.DONE: Metric.ROLL_ENDED,
    RollState.CLOSED_UNUSED: Metric.ROLL_ENDED,
    RollState.FAILED: Metric.ROLL_FAILED,
    RollState.SUSPECT: Metric.ROLL_FAILED,
}


def _count_by_reason(name: Metric, reason: str) -> None:
    with single_metric(name=name, unit=MetricUnit.Count, value=1, namespace=METRIC_NAMESPACE) as metric:
        metric.add_dimension(name=Dimension.SERVICE, value=SERVICE)
        metric.add_dimension(name=Dimension.REASON, value=reason)
