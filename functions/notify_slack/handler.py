"""Tells in Slack what the topic carries: driftgate's own messages, and its alarms."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from aws_lambda_powertools.utilities.typing import LambdaContext

from driftgate import bootstrap
from driftgate.app.notify_slack import notify_slack
from driftgate.app.notify_slack_event import notices_of
from driftgate.contract import Metric
from driftgate.observability import count, logger, measured, traced


@logger.inject_lambda_context(clear_state=True)
@traced
@measured
def handler(event: dict[str, object], context: LambdaContext) -> dict[str, object]:
    """One delivery. What could not be told is counted and raises, so that Lambda tries again; nothing is lost."""
    try:
        return _told(event, context)
    except Exception:
        count(Metric.MESSAGE_FAILED, 1)
        logger.exception("A message could not be told; it comes again")
        raise


def _told(event: dict[str, object], context: LambdaContext) -> dict[str, object]:
    notifier, told = bootstrap.notifier(), list[object]()
    for notice in notices_of(event):
        if notice is None:
            logger.warning("Dropped a message that is not for people")
            continue
        ends = notifier.clock.now() + timedelta(milliseconds=context.get_remaining_time_in_millis())
        report = notify_slack(notifier, notice, holder=uuid4().hex, deadline=ends)
        (logger.warning if report.problems else logger.info)("Told people in Slack", extra=report.to_object())
        told.append(report.to_object())
    return {"told": told}
