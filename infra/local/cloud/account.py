"""What services do in an account on their own: each act is judged by the template's policies before it is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from infra.local.cloud.server import ACCOUNT, CloudServer
from infra.local.iam.evaluation import Authority, Need, Principal, PrincipalKind
from infra.local.iam.record import reason_of


class NotAllowedError(Exception):
    """No policy lets this service or role do it."""


def service(name: str) -> Principal:
    """`events` is `events.amazonaws.com`."""
    return Principal(kind=PrincipalKind.SERVICE, name=f"{name}.amazonaws.com")


def role(arn: str) -> Principal:
    return Principal(kind=PrincipalKind.ROLE, name=arn)


class Account:
    """The account's policies, and the acts that services do in it. `source` is the ARN on whose behalf they act."""

    def __init__(self, cloud: CloudServer) -> None:
        self._cloud = cloud

    @property
    def _authority(self) -> Authority:
        return self._cloud.front.authority

    def require(self, who: Principal, action: str, resource: str, source: str = "") -> None:
        """Raises NotAllowedError; what was asked is in the front's record either way."""
        context = {"aws:sourceaccount": (ACCOUNT,), "aws:securetransport": ("true",)}
        if source:
            context["aws:sourcearn"] = (source,)
        need = Need(action=action, resource=resource, context=context)
        decision = self._authority.decide(who, need)
        self._cloud.front.record.note(who, need, decision)
        if not decision.is_allowed:
            raise NotAllowedError(f"{who.name} may not {action} on {resource}: {reason_of(decision)}")

    def assume(self, who: Principal, role_arn: str, source: str = "") -> Principal:
        """The role, taken by a service that its trust policy lets in. Raises NotAllowedError."""
        self.require(who, "sts:AssumeRole", role_arn, source)
        return role(role_arn)

    def send(self, who: Principal, queue_arn: str, body: str, attributes: Mapping[str, str], source: str = "") -> None:
        """A message in a standard queue. Raises NotAllowedError."""
        self.require(who, "sqs:SendMessage", queue_arn, source)
        self._require_key(who, queue_arn, ("kms:GenerateDataKey", "kms:Decrypt"))
        self._cloud.client("sqs").send_message(
            QueueUrl=self._queue_url(queue_arn),
            MessageBody=body,
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value[:1000] or "-"} for name, value in attributes.items()
            },
        )

    def publish(self, who: Principal, topic_arn: str, message: str, subject: str = "", source: str = "") -> None:
        """A message on a topic. Raises NotAllowedError."""
        self.require(who, "sns:Publish", topic_arn, source)
        self._require_key(who, topic_arn, ("kms:GenerateDataKey", "kms:Decrypt"))
        more: dict[str, Any] = {"Subject": subject[:100]} if subject else {}
        self._cloud.client("sns").publish(TopicArn=topic_arn, Message=message, **more)

    def _require_key(self, who: Principal, encrypted_arn: str, actions: Iterable[str]) -> None:
        """Without a source: EventBridge tells keys none. Source: aws docs, sns-key-management (2026)."""
        key = self._cloud.front.keys.get(encrypted_arn)
        for action in actions if key is not None else ():
            self.require(who, action, str(key))

    def _queue_url(self, queue_arn: str) -> str:
        name = queue_arn.rsplit(":", 1)[-1]
        url: str = self._cloud.client("sqs").get_queue_url(QueueName=name)["QueueUrl"]
        return url
