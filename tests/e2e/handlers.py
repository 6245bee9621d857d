"""The functions of a deployment in this process, fed with the events that AWS would send; nothing runs by itself.

A test says when the minute's tick comes, and the queue is worked off before it goes on: so what is seen follows from
what was done. moto neither raises events for parameters nor invokes functions.
"""

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

ACCOUNT = "123456789012"
Event = dict[str, Any]
Parameters = dict[str, tuple[int, str]]


class Context:
    """What Lambda gives a handler beside the event."""

    function_name = "driftgate-e2e"
    memory_limit_in_mb = 512
    invoked_function_arn = f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:driftgate-e2e"
    aws_request_id = "e2e"

    def get_remaining_time_in_millis(self) -> int:
        return 120_000


class Handlers:
    """Delivers events. `client` makes a client of a service; `tree` is where the deployment's own parameters are."""

    def __init__(self, client: Callable[[str], Any], region: str, queue_url: str, tree: str) -> None:
        self._ssm, self._sqs = client("ssm"), client("sqs")
        self._region, self._queue_url, self._tree = region, queue_url, tree
        self._minute = datetime.now(UTC).replace(second=0, microsecond=0)

    def beat(self) -> None:
        """The minute's tick, and every look that it asks for. Called sooner than that, it is the next minute's:
        the queue takes only one of each."""
        self._minute += timedelta(minutes=1)
        self._invoke("evaluate_drift", {"driftgate": "heartbeat", "scheduledAt": text(self._minute)})
        self._work()

    def poll(self) -> Event:
        """The poll of the images, the events of what it wrote, and every look that they ask for."""
        before = self.parameters()
        answer = self._invoke("watch_amis", {"driftgate": "poll", "scheduledAt": text(self._minute)})
        for name, found in self.parameters().items():
            if before.get(name) != found:
                self.announce(name, "Update" if name in before else "Create")
        return answer

    def announce(self, parameter: str, operation: str) -> None:
        """The event of an own parameter that was written, and every look that it asks for."""
        event = {
            "version": "0",
            "id": str(uuid.uuid4()),
            "source": "aws.ssm",
            "detail-type": "Parameter Store Change",
            "account": ACCOUNT,
            "region": self._region,
            "time": text(datetime.now(UTC)),
            "resources": [f"arn:aws:ssm:{self._region}:{ACCOUNT}:parameter{parameter}"],
            "detail": {"name": parameter, "type": "String", "operation": operation},
        }
        self._invoke("evaluate_drift", event)
        self._work()

    def parameters(self) -> Parameters:
        """The deployment's own parameters: name to version and value."""
        pages = self._ssm.get_paginator("get_parameters_by_path").paginate(Path=self._tree, Recursive=True)
        return {entry["Name"]: (entry["Version"], entry["Value"]) for page in pages for entry in page["Parameters"]}

    def _work(self) -> None:
        while messages := self._sqs.receive_message(QueueUrl=self._queue_url, MaxNumberOfMessages=1).get("Messages"):
            for message in messages:
                self._invoke("reconcile_cluster", {"Records": [self._record(message)]})
                self._sqs.delete_message(QueueUrl=self._queue_url, ReceiptHandle=message["ReceiptHandle"])

    def _record(self, message: Event) -> Event:
        return {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": {"MessageGroupId": json.loads(message["Body"])["cluster"]},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:{self._region}:{ACCOUNT}:driftgate.fifo",
            "awsRegion": self._region,
        }

    @staticmethod
    def _invoke(function: str, event: Event) -> Event:
        """The handler as Lambda finds it: imported once the environment is complete."""
        answer: Event = import_module(f"functions.{function}.handler").handler(event, Context())
        return answer


def text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
