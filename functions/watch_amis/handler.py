"""Polls the image parameters in use and mirrors what changed."""

from __future__ import annotations

from aws_lambda_powertools.utilities.typing import LambdaContext

from driftgate import bootstrap
from driftgate.app.watch_amis import watch_amis
from driftgate.contract import Metric
from driftgate.events import Poll, parse_event
from driftgate.observability import count, logger, measured, traced


@logger.inject_lambda_context(clear_state=True)
@traced
@measured
def handler(event: dict[str, object], _context: LambdaContext) -> dict[str, object]:
    """One poll. Anything that is not a poll is logged and dropped."""
    parsed = parse_event(event)
    if not isinstance(parsed, Poll):
        logger.warning("Dropped an event that is not a poll", extra={"event": type(parsed).__name__})
        return {"polled": 0}
    deployment = bootstrap.deployment()
    report = watch_amis(bootstrap.pipeline(), deployment.name, deployment.region)
    count(Metric.IMAGE_CHANGED, report.news)
    logger.info("Polled the image parameters", extra=report.to_object())
    report.raise_failures()
    count(Metric.IMAGES_POLLED, 0 if report.held_by else 1)
    return report.to_object()
