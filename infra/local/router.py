"""How events reach the handlers on one machine: a small table, in place of EventBridge, Scheduler and Lambda.

Every event is the JSON that AWS would send, and every handler is the real one. moto neither raises SSM and alarm
events nor invokes Lambdas, so this does.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Any

from driftgate.ports import Clock
from infra.local.aws import ACCOUNT, REGION, LocalAws

FUNCTIONS = ("watch_amis", "evaluate_drift", "reconcile_cluster", "close_budgets")
Event = dict[str, Any]
Handler = Callable[[Event, Any], dict[str, object]]


def handler_of(function: str) -> Handler:
    """The handler as Lambda finds it: imported when the environment is complete, not before."""
    found: Handler = import_module(f"functions.{function}.handler").handler
    return found


class Context:
    """What Lambda gives a handler beside the event."""

    function_name = "driftgate-local"
    memory_limit_in_mb = 512
    invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:driftgate-local"
    aws_request_id = "local"

    def get_remaining_time_in_millis(self) -> int:
        return 120_000


class Router:
    """Delivers events, and works the queue in a thread of its own as SQS and Lambda would."""

    def __init__(self, aws: LocalAws, clock: Clock) -> None:
        self._aws = aws
        self._clock = clock
        self._handlers = {name: handler_of(name) for name in FUNCTIONS}
        self._stopping = threading.Event()
        self._worker = threading.Thread(target=self._work, name="reconcile", daemon=True)
        self.failures: list[str] = []

    def start(self) -> None:
        self._worker.start()

    def stop(self) -> None:
        self._stopping.set()
        self._worker.join(timeout=30)

    def heartbeat(self) -> dict[str, object]:
        """The minute's tick of EventBridge Scheduler."""
        return self._invoke("evaluate_drift", {"driftgate": "heartbeat", "scheduledAt": _text(self._clock.now())})

    def poll(self) -> dict[str, object]:
        """The image poll of EventBridge Scheduler. What it wrote raises events, as our own parameters do."""
        before = self._mirror()
        answer = self._invoke("watch_amis", {"driftgate": "poll", "scheduledAt": _text(self._clock.now())})
        for name, version in self._mirror().items():
            if before.get(name) != version:
                self._deliver(self._parameter_event(name, "Create" if name not in before else "Update"))
        return answer

    def alarm(self, name: str, state: str, previous: str) -> None:
        """CloudWatch changes the alarm's state: its event goes to the closer at once, and to the evaluation."""
        self._aws.client("cloudwatch").set_alarm_state(AlarmName=name, StateValue=state, StateReason="local")
        event = self._event("aws.cloudwatch", "CloudWatch Alarm State Change", [f"alarm/{name}"])
        event["detail"] = {"alarmName": name, "state": {"value": state}, "previousState": {"value": previous}}
        if state == "ALARM":
            self._invoke("close_budgets", event)
        self._deliver(event)

    def _invoke(self, function: str, event: Event) -> dict[str, object]:
        return self._handlers[function](event, Context())

    def _deliver(self, event: Event) -> None:
        self._invoke("evaluate_drift", event)

    def _mirror(self) -> dict[str, int]:
        pages = self._aws.client("ssm").get_paginator("get_parameters_by_path")
        found = pages.paginate(Path="/driftgate/", Recursive=True)
        return {entry["Name"]: entry["Version"] for page in found for entry in page["Parameters"]}

    def _parameter_event(self, name: str, operation: str) -> Event:
        event = self._event("aws.ssm", "Parameter Store Change", [f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter{name}"])
        return event | {"detail": {"name": name, "type": "String", "operation": operation}}

    def _event(self, source: str, detail_type: str, resources: list[str]) -> Event:
        return {
            "version": "0",
            "id": str(uuid.uuid4()),
            "source": source,
            "detail-type": detail_type,
            "account": ACCOUNT,
            "region": REGION,
            "time": _text(self._clock.now()),
            "resources": resources,
        }

    def _work(self) -> None:
        client = self._aws.client("sqs")
        while not self._stopping.is_set():
            answer = client.receive_message(QueueUrl=self._aws.queue_url, MaxNumberOfMessages=1, WaitTimeSeconds=1)
            for message in answer.get("Messages", []):
                self._reconcile(client, message)

    def _reconcile(self, client: Any, message: dict[str, Any]) -> None:
        record = {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": {"MessageGroupId": json.loads(message["Body"])["cluster"]},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:driftgate.fifo",
            "awsRegion": REGION,
        }
        try:
            answer = self._invoke("reconcile_cluster", {"Records": [record]})
        except Exception as error:  # as Lambda would: the message stays on the queue
            self.failures.append(f"{type(error).__name__}: {error}")
            return
        if not answer.get("batchItemFailures"):
            client.delete_message(QueueUrl=self._aws.queue_url, ReceiptHandle=message["ReceiptHandle"])


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
