"""Turns a hint (an event, or the minute's tick) into looks at clusters and requests to shut gates."""

from __future__ import annotations

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from driftgate import bootstrap
from driftgate.app.evaluate_drift import EvaluationReport, evaluate_drift
from driftgate.contract import Metric
from driftgate.events import Event, Heartbeat, UnknownEvent, parse_event
from driftgate.observability import count, logger, measured, traced


@logger.inject_lambda_context(clear_state=True, correlation_id_path=correlation_paths.EVENT_BRIDGE)
@traced
@measured
def handler(event: dict[str, object], _context: LambdaContext) -> dict[str, object]:
    """One event. What this version does not know, and every replayed event, is logged and dropped."""
    parsed = parse_event(event)
    if isinstance(parsed, UnknownEvent):
        logger.info("Dropped an event", extra={"why": parsed.why, "detail_type": parsed.detail_type})
        return {"queued": [], "closing": [], "why": parsed.why}
    report = _evaluated(parsed)
    logger.info("Evaluated an event", extra=report.to_object())
    return report.to_object()


def _evaluated(event: Event) -> EvaluationReport:
    """What was found open is counted also where not everybody could be asked; only a whole heartbeat counts as one."""
    report = EvaluationReport()
    try:
        evaluate_drift(bootstrap.pipeline(), event, report)
    finally:
        count(Metric.GATE_LEFT_OPEN, len(report.left_open))
        count(Metric.ROLL_OVERDUE, len(report.overdue))
    count(Metric.HEARTBEAT_DONE, 1 if isinstance(event, Heartbeat) else 0)
    return report
