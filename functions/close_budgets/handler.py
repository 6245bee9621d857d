"""Shuts gates now: for an alarm that fired, a roll that is overdue or abandoned, or a person."""

from __future__ import annotations

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from driftgate import bootstrap
from driftgate.app.close_budgets import close_budgets
from driftgate.contract import Metric
from driftgate.events import parse_event
from driftgate.observability import count, logger, measured, traced


@logger.inject_lambda_context(clear_state=True, correlation_id_path=correlation_paths.EVENT_BRIDGE)
@traced
@measured
def handler(event: dict[str, object], _context: LambdaContext) -> dict[str, object]:
    """One request. A gate that could not be shut raises, so that Lambda tries again."""
    report = close_budgets(bootstrap.pipeline(), parse_event(event))
    count(Metric.BUDGETS_CLOSED, len(report.closed))
    logger.info("Handled a request to close", extra=report.to_object())
    report.raise_failures()
    return report.to_object()
