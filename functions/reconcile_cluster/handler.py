"""Looks at one cluster per message: closes, decides, opens at most one gate and watches it for a slice."""

from __future__ import annotations

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from driftgate import bootstrap
from driftgate.app.reconcile import reconcile
from driftgate.events import work_message_from_body
from driftgate.observability import logger, measured, record_run, traced

processor = SqsFifoPartialProcessor(skip_group_on_error=True)


def look(record: SQSRecord) -> None:
    """One look. An error is told and leaves the message on the queue, in its group's order."""
    logger.append_keys(correlation_id=record.message_id, cluster=record.attributes.message_group_id, cause="")
    try:
        message = work_message_from_body(record.body)
        logger.append_keys(correlation_id=message.dedup, cluster=message.cluster, cause=message.cause)
        record_run(reconcile(bootstrap.pipeline(), message))
    except Exception:
        logger.exception("A look failed; its message comes again")
        raise


@logger.inject_lambda_context(clear_state=True)
@traced
@measured
def handler(event: dict[str, object], context: LambdaContext) -> dict[str, object]:
    """A batch of looks, one cluster each; the answer names the messages that must come again."""
    return dict(process_partial_response(event=event, record_handler=look, processor=processor, context=context))
