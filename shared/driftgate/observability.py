"""The one Logger, Metrics and Tracer of a process, and what a run tells them.

Messages are constant sentences, facts are keys. A cluster or a pool is a key of the log and never a metric's
dimension: each combination is billed. The tracer is loaded with the first sampled request: the X-Ray SDK makes a
client of AWS as it loads, and a heartbeat that finds nothing should not pay for that.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from driftgate.contract import METRIC_NAMESPACE, SERVICE, Dimension, Env, Metric
from driftgate.domain.roll import Roll, RollState

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from driftgate.domain.plan import ClusterPlan, PoolPlan

Handler = Callable[[dict[str, object], "LambdaContext"], dict[str, object]]

_TRACE_HEADER = "_X_AMZN_TRACE_ID"
_SAMPLED = "Sampled=1"
_service = os.environ.get(Env.SERVICE) or SERVICE

logger = Logger(service=_service)
metrics = Metrics(namespace=METRIC_NAMESPACE, service=_service)


class RunFacts(Protocol):
    """What a run's report has to offer."""

    plan: ClusterPlan | None
    rolls: list[Roll]
    opened: list[str]
    closed: list[str]

    def to_object(self) -> dict[str, object]: ...


def traced(handler: Handler) -> Handler:
    """The handler, with a trace of every invocation that Lambda samples.

    Source: aws docs, lambda/configuration-envvars: `_X_AMZN_TRACE_ID` is new with each invocation.
    """

    @functools.wraps(handler)
    def run(event: dict[str, object], context: LambdaContext) -> dict[str, object]:
        is_sampled = _SAMPLED in os.environ.get(_TRACE_HEADER, "")
        return (_with_tracer(handler) if is_sampled else handler)(event, context)

    return run


@functools.cache
def _with_tracer(handler: Handler) -> Handler:
    from aws_lambda_powertools import Tracer

    tracer = Tracer(service=_service, patch_modules=("botocore",))
    return tracer.capture_lambda_handler(handler, capture_response=False)


def measured(handler: Handler) -> Handler:
    """The handler, whose metrics are emitted as it ends, also when it raises; nothing is emitted for nothing."""

    @functools.wraps(handler)
    def run(event: dict[str, object], context: LambdaContext) -> dict[str, object]:
        try:
            return handler(event, context)
        finally:
            if metrics.metric_set:
                metrics.flush_metrics()

    return run


def record_run(run: RunFacts) -> None:
    """Logs and counts what one look at one cluster did."""
    pools = run.plan.pools if run.plan is not None else ()
    for pool in pools:
        _log_decision(pool)
    _count_decisions(pools)
    count(Metric.BUDGETS_OPENED, len(run.opened))
    count(Metric.BUDGETS_CLOSED, len(run.closed))
    measure_rolls(run.rolls, run.closed)
    logger.info("Looked at a cluster", extra=run.to_object())


def count(name: Metric, value: int) -> None:
    """Adds to a counter; nothing is emitted for nothing."""
    if value:
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)


def _log_decision(pool: PoolPlan) -> None:
    """One info line per decision, with its reasons; debug for pools where nothing is to be done."""
    (logger.debug if pool.is_quiet else logger.info)(
        "Decided on a pool",
        extra={
            "nodepool": pool.name,
            "verdict": str(pool.verdict),
            "action": str(pool.action.kind),
            "reasons": [str(hold.code) for hold in pool.action.reasons],
        },
    )


def _count_decisions(pools: Sequence[PoolPlan]) -> None:
    """RollHeld by the first reason of a hold, and ClusterUnread where a verdict was not possible.

    One line of the log per reason, however many pools: each line is billed.
    """
    for reason, held in Counter(str(pool.action.reasons[0].code) for pool in pools if pool.is_held).items():
        _count_by_reason(Metric.ROLL_HELD, reason, held)
    count(Metric.CLUSTER_UNREAD, sum(pool.is_unknown for pool in pools))


def measure_rolls(rolls: Iterable[Roll], closed: Iterable[str]) -> None:
    """Seconds from sign to closed gate, of the pools whose gates this run closed; the length of rolls that ended.

    A roll that is merely followed is not measured again.
    """
    shut = frozenset(closed)
    for roll in rolls:
        if roll.pool in shut and roll.sign_at is not None and roll.closed_at is not None:
            count(Metric.SIGN_SEEN, 1)
            _seconds(Metric.SIGN_TO_CLOSED, max(0.0, (roll.closed_at - roll.sign_at).total_seconds()))
        if roll.is_finished and roll.ended_at is not None and roll.opened_at is not None:
            _seconds(Metric.ROLL_DURATION, (roll.ended_at - roll.opened_at).total_seconds())
            count(_ENDED[roll.state], 1)


_ENDED = {
    RollState.DONE: Metric.ROLL_ENDED,
    RollState.CLOSED_UNUSED: Metric.ROLL_ENDED,
    RollState.FAILED: Metric.ROLL_FAILED,
    RollState.SUSPECT: Metric.ROLL_FAILED,
}


def _seconds(name: Metric, value: float) -> None:
    metrics.add_metric(name=name, unit=MetricUnit.Seconds, value=value)


def _count_by_reason(name: Metric, reason: str, value: int) -> None:
    with single_metric(name=name, unit=MetricUnit.Count, value=value, namespace=METRIC_NAMESPACE) as metric:
        metric.add_dimension(name=Dimension.SERVICE, value=_service)
        metric.add_dimension(name=Dimension.REASON, value=reason)
