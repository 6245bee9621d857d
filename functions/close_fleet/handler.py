"""Shuts every gate before the stack goes; CloudFormation asks, and waits for the answer."""

from __future__ import annotations

from datetime import timedelta

from aws_lambda_powertools.utilities.typing import LambdaContext

from driftgate import bootstrap
from driftgate.app.close_fleet import close_for_removal
from driftgate.events import stack_request_of
from driftgate.observability import logger, measured, traced

ANSWERING = timedelta(seconds=30)
"""What is kept of the function's time to answer in."""


@logger.inject_lambda_context(clear_state=True)
@traced
@measured
def handler(event: dict[str, object], context: LambdaContext) -> dict[str, object]:
    """One request. Whatever comes of it is answered: else CloudFormation waits in vain."""
    request, answers = stack_request_of(event), bootstrap.stack_answers()
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    try:
        report = close_for_removal(bootstrap.pipeline(), request, left - ANSWERING)
    except Exception as error:
        logger.exception("It is not known whether a gate stands open")
        answers.answer(request, f"It is not known whether a gate stands open: {error}")
        raise
    logger.info("Handled a request of CloudFormation", extra=report.to_object())
    answers.answer(request, report.problem)
    return report.to_object()
