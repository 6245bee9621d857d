"""The FIFO queue of a placement: one group per cluster, so one worker per cluster.

A FIFO queue takes no delay per message; a message is for now, or it is not sent.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from driftgate.adapters.aws_errors import aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.events import work_message_to_body
from driftgate.ports import WorkMessage

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# What SQS takes as group and deduplication id: 128 of ASCII's letters, digits and punctuation.
ALLOWED = re.compile(r"[!-~]{1,128}")


class SqsWorkQueue:
    """`url` names the queue, which must be FIFO."""

    def __init__(self, aws: AwsSession, url: str, region: str | None = None) -> None:
        self._aws = aws
        self._url = url
        self._region = region

    def send(self, message: WorkMessage) -> None:
        """The message is queued, or one with the same deduplication id was within the last 5 minutes.

        Raises AwsForbiddenError, AwsUnavailableError.
        """
        client: SQSClient = self._aws.client("sqs", region=self._region)
        with aws_call("sqs:SendMessage", self._url):
            client.send_message(
                QueueUrl=self._url,
                MessageBody=work_message_to_body(message),
                MessageGroupId=allowed_id(message.cluster),
                MessageDeduplicationId=allowed_id(message.dedup),
            )


def allowed_id(text: str) -> str:
    """The text if SQS takes it as an id, else a digest of it: still the same for the same text."""
    if ALLOWED.fullmatch(text):
        return text
    return hashlib.sha256(text.encode()).hexdigest()
