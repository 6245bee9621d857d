"""Turns a hint (an event, or the minute's tick) into looks at clusters and requests to shut gates."""

from __future__ import annotations

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from driftgate import bootstrap
from driftgate.app.evaluate_drift import evaluate_drift
from driftgate.contract import Metric
from driftgate.events import UnknownEvent, parse_event
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
    report = evaluate_drift(bootstrap.pipeline(), parsed)
    count(Metric.ROLL_OVERDUE, len(report.closing))
    logger.info("Evaluated an event", extra=report.to_object())
    return report.to_object()
