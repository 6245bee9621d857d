"""Keeps what the topic did not take in a queue, from where a person can tell it when the topic is well again.

A closing is told once, by who closed. If SNS is down in that moment, nobody else would ever tell it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from driftgate.adapters.aws_errors import aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.sns_publisher import SnsPublisher
from driftgate.domain.errors import AwsUnavailableError, DriftgateError
from driftgate.domain.message import DomainEvent

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class KeptPublisher:
    """Raises what the publisher raises: the message was not told. Where it was not kept either, the text says so."""

    def __init__(self, publisher: SnsPublisher, aws: AwsSession, queue_url: str) -> None:
        self._publisher = publisher
        self._aws = aws
        self._queue_url = queue_url

    def publish(self, event: DomainEvent) -> None:
        try:
            self._publisher.publish(event)
        except DriftgateError as error:
            self._keep(event, error)
            raise

    def _keep(self, event: DomainEvent, error: DriftgateError) -> None:
        """As a request that `aws sns publish --cli-input-json` takes, beside why."""
        kept = {"publish": self._publisher.request_of(event), "why": str(error)}
        try:
            client: SQSClient = self._aws.client("sqs")
            with aws_call("sqs:SendMessage", self._queue_url):
                client.send_message(QueueUrl=self._queue_url, MessageBody=json.dumps(kept, ensure_ascii=False))
        except DriftgateError as second:
            raise AwsUnavailableError(f"{error}; and it could not be kept: {second}") from error
