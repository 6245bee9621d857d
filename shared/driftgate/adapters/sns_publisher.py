"""Tells people through an SNS topic: Slack by Amazon Q, a notifier of one's own, or e-mail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from driftgate.adapters.aws_errors import aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.q_notification import cut, notification_of, title_of
from driftgate.adapters.stdout_publisher import lines_of
from driftgate.domain.message import DomainEvent
from driftgate.domain.slack_message import readable

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sns.type_defs import PublishInputTypeDef


# Source: aws docs, sns/latest/api/API_Publish (2026): ASCII, no line breaks, less than 100 characters.
MAX_SUBJECT = 99
# A message as a whole may have 256 KB; a character that can be shown takes up to four bytes.
MAX_EMAIL = 10_000


class SnsPublisher:
    """E-mail gets plain lines, every other subscriber the notification.

    Message attributes `kind` and `cluster` are there for subscriptions to filter by.
    """

    def __init__(self, aws: AwsSession, topic_arn: str, region: str | None = None) -> None:
        self._aws = aws
        self._topic_arn = topic_arn
        self._region = region

    def publish(self, event: DomainEvent) -> None:
        client: SNSClient = self._aws.client("sns", region=self._region)
        with aws_call("sns:Publish", self._topic_arn):
            client.publish(**self.request_of(event))

    def request_of(self, event: DomainEvent) -> PublishInputTypeDef:
        """What is asked of SNS."""
        return {
            "TopicArn": self._topic_arn,
            "Subject": subject_of(event),
            "MessageStructure": "json",
            "Message": json.dumps(messages_of(event), ensure_ascii=False),
            "MessageAttributes": {
                "kind": {"DataType": "String", "StringValue": event.kind.value},
                "cluster": {"DataType": "String", "StringValue": event.cluster},
            },
        }


def messages_of(event: DomainEvent) -> dict[str, str]:
    """What each kind of subscriber gets."""
    notification = json.dumps(notification_of(event), ensure_ascii=False)
    return {"default": notification, "email": cut(readable("\n".join(lines_of(event))), MAX_EMAIL)}


def subject_of(event: DomainEvent) -> str:
    """The title as a mail's subject."""
    title = " ".join(title_of(event).replace("…", "...").split())
    printable = "".join(character if 32 <= ord(character) < 127 else "?" for character in title)
    return cut(printable, MAX_SUBJECT).replace("…", "~")
