"""SQS to Lambda: what an event source mapping does, with the function's own role.

Source: aws docs, lambda/latest/dg/services-sqs-errorhandling and with-sqs-example (2026).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from infra.local.cloud.server import REGION, CloudServer
from infra.local.runtime.function import Function
from infra.local.runtime.process import FunctionFailedError
from infra.local.template.document import TemplateError
from infra.local.template.loading import Deployed, Stack
from infra.local.tempo import Tempo

DEFAULT_BATCH = 10
Call = Callable[[str, object], object]
Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """`reports_items`: the function's answer names the messages that must come again."""

    queue_arn: str
    queue_url: str
    visibility_s: float
    function: str
    batch_size: int
    reports_items: bool


def mappings_of(stack: Stack) -> tuple[Mapped, ...]:
    """The enabled ones. Raises TemplateError for a source that is no queue of the template."""
    return tuple(
        _mapped(stack, found)
        for found in stack.of_type("AWS::Lambda::EventSourceMapping")
        if found.properties.get("Enabled", True)
    )


def _mapped(stack: Stack, deployed: Deployed) -> Mapped:
    found = deployed.properties
    queue = stack.by_ref("AWS::SQS::Queue", found["EventSourceArn"])
    if found.get("MaximumBatchingWindowInSeconds"):
        raise TemplateError(f"{deployed.logical_id}: a batching window is not waited for here")
    return Mapped(
        queue_arn=queue.arn,
        queue_url=queue.physical.ref,
        visibility_s=float(queue.properties.get("VisibilityTimeout", 30)),
        function=found["FunctionName"],
        batch_size=int(found.get("BatchSize", DEFAULT_BATCH)),
        reports_items="ReportBatchItemFailures" in found.get("FunctionResponseTypes", ()),
    )


class Poller:
    """Works one queue for one function. It is woken when something may be there, and then takes all there is."""

    def __init__(self, mapped: Mapped, function: Function, cloud: CloudServer, tempo: Tempo, call: Call) -> None:
        self.mapped = mapped
        self._function = function
        self._cloud = cloud
        self._sqs = cloud.client("sqs", function.key)
        self._tempo = tempo
        self._call = call
        self.failures: list[str] = []

    def start(self) -> None:
        """Lambda looks at the queue's attributes first; a role that may not has a mapping that does nothing."""
        self._asked(lambda: self._sqs.get_queue_attributes(QueueUrl=self.mapped.queue_url, AttributeNames=["All"]))
        self.wake()

    def wake(self, after_s: float = 0.0) -> None:
        self._tempo.after(after_s, lambda: self._tempo.hand(self._function.name, self._poll))

    def _poll(self) -> None:
        messages = self._received()
        if messages:
            self._work(messages)
            self.wake()

    def _received(self) -> list[Message]:
        answer = self._asked(
            lambda: self._sqs.receive_message(
                QueueUrl=self.mapped.queue_url,
                MaxNumberOfMessages=min(self.mapped.batch_size, 10),
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
        )
        found: list[Message] = (answer or {}).get("Messages", [])
        return found

    def _work(self, messages: list[Message]) -> None:
        event = {"Records": [_record(message, self.mapped.queue_arn) for message in messages]}
        try:
            answer = self._call(self.mapped.function, event)
        except FunctionFailedError:
            again = {message["MessageId"] for message in messages}
        else:
            again = self._again(answer, messages)
        for message in messages:
            if message["MessageId"] in again:
                self._leave(message)
            else:
                self._done(message)

    def _again(self, answer: object, messages: Iterable[Message]) -> set[str]:
        """The ids of what failed; an answer that names unknown messages, or is none, fails the whole batch."""
        everything = {message["MessageId"] for message in messages}
        if not self.mapped.reports_items:
            return set()
        failures: Any = answer.get("batchItemFailures") if isinstance(answer, Mapping) else answer
        try:
            named = {failure["itemIdentifier"] for failure in failures or ()}
        except (TypeError, KeyError):
            return everything
        return named if named <= everything else everything

    def _done(self, message: Message) -> None:
        handle = message["ReceiptHandle"]
        self._asked(lambda: self._sqs.delete_message(QueueUrl=self.mapped.queue_url, ReceiptHandle=handle))

    def _leave(self, message: Message) -> None:
        """It stays invisible until its time is over, in the cluster's time, which moto does not know."""

        def reappear() -> None:
            self._cloud.client("sqs").change_message_visibility(
                QueueUrl=self.mapped.queue_url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
            )
            self.wake()

        self._tempo.after(self.mapped.visibility_s, reappear)

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except ClientError as error:
            self.failures.append(f"{self.mapped.queue_arn}: {error}")
            return None


def _record(message: Message, queue_arn: str) -> dict[str, object]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": json.loads(json.dumps(message.get("Attributes", {}))),
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }
