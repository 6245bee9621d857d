"""SNS to Lambda: topics hand their messages to the functions that subscribed.

Source: aws docs, sns/latest/dg/sns-lambda-as-subscriber and lambda/latest/dg/with-sns (2026).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from driftgate.ports import Clock
from infra.local.cloud.account import Account, NotAllowedError, service
from infra.local.template.document import TemplateError
from infra.local.template.loading import Stack

SNS = service("sns")
Accept = Callable[[str, object], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A function that hears a topic. `dead_letters` "" : what it may not be given is lost."""

    arn: str
    topic_arn: str
    function_arn: str
    dead_letters: str = ""


def subscriptions_of(stack: Stack) -> tuple[Subscription, ...]:
    """Those of functions. Raises TemplateError for a filter, which is not evaluated here."""
    found = []
    for each in stack.of_type("AWS::SNS::Subscription"):
        properties = each.properties
        if properties["Protocol"] != "lambda":
            continue
        if "FilterPolicy" in properties:
            raise TemplateError(
                f"{each.logical_id}: a filter policy of a function's subscription is not evaluated here"
            )
        found.append(
            Subscription(
                arn=each.physical.ref,
                topic_arn=properties["TopicArn"],
                function_arn=properties["Endpoint"],
                dead_letters=_dead_letters(properties),
            )
        )
    return tuple(found)


def _dead_letters(properties: Mapping[str, Any]) -> str:
    policy = properties.get("RedrivePolicy", {})
    return str((json.loads(policy) if isinstance(policy, str) else policy).get("deadLetterTargetArn", ""))


class Topics:
    """Delivers what is published. `accept` hands an event to a function."""

    def __init__(self, subscriptions: tuple[Subscription, ...], account: Account, clock: Clock, accept: Accept) -> None:
        self._subscriptions = subscriptions
        self._account = account
        self._clock = clock
        self._accept = accept
        self.lost: list[str] = []

    def published(self, message: Mapping[str, Any]) -> None:
        """`message` is what was given to Publish."""
        for subscription in self._subscriptions:
            if subscription.topic_arn == message["TopicArn"]:
                self._deliver(subscription, self._event(subscription, message))

    def _deliver(self, to: Subscription, event: Mapping[str, Any]) -> None:
        try:
            self._account.require(SNS, "lambda:InvokeFunction", to.function_arn, source=to.topic_arn)
        except NotAllowedError as error:
            self._bury(to, event, str(error))
        else:
            self._accept(to.function_arn, event)

    def _bury(self, to: Subscription, event: Mapping[str, Any], why: str) -> None:
        try:
            if not to.dead_letters:
                raise NotAllowedError("it has no dead-letter queue")
            self._account.send(SNS, to.dead_letters, json.dumps(event), {}, source=to.topic_arn)
        except NotAllowedError as error:
            self.lost.append(f"{to.arn} could not deliver: {why}; {error}")

    def _event(self, to: Subscription, message: Mapping[str, Any]) -> dict[str, Any]:
        attributes = {
            name: {"Type": value["DataType"], "Value": value.get("StringValue", "")}
            for name, value in message.get("MessageAttributes", {}).items()
        }
        told = {
            "Type": "Notification",
            "MessageId": str(uuid.uuid4()),
            "TopicArn": message["TopicArn"],
            "Subject": message.get("Subject"),
            "Message": _for_a_function(message),
            "Timestamp": self._clock.now().strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "SignatureVersion": "1",
            "MessageAttributes": attributes,
        }
        return {
            "Records": [{"EventSource": "aws:sns", "EventVersion": "1.0", "EventSubscriptionArn": to.arn, "Sns": told}]
        }


def _for_a_function(message: Mapping[str, Any]) -> str:
    """What subscribers of the protocol `lambda` get of a message that has a text for each."""
    if message.get("MessageStructure") != "json":
        return str(message["Message"])
    texts = json.loads(message["Message"])
    return str(texts.get("lambda", texts["default"]))
