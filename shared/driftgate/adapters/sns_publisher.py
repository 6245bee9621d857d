"""Tells people through an SNS topic: Slack by Amazon Q, a notifier of one's own, or e-mail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from driftgate.adapters.aws_errors import aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.q_notification import notification_of
from driftgate.domain.message import DomainEvent

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient


class SnsPublisher:
    """Message attributes `kind` and `cluster` are there for subscriptions to filter by."""

    def __init__(self, aws: AwsSession, topic_arn: str, region: str | None = None) -> None:
        self._aws = aws
        self._topic_arn = topic_arn
        self._region = region

    def publish(self, event: DomainEvent) -> None:
        client: SNSClient = self._aws.client("sns", region=self._region)
        with aws_call("sns:Publish", self._topic_arn):
            client.publish(
                TopicArn=self._topic_arn,
                Message=json.dumps(notification_of(event), ensure_ascii=False),
                MessageAttributes={
                    "kind": {"DataType": "String", "StringValue": event.kind.value},
                    "cluster": {"DataType": "String", "StringValue": event.cluster},
                },
            )
