"""A router over a small template in virtual time, with functions that a test writes in a line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock
from infra.local.cloud.server import CloudServer
from infra.local.routing.router import Router
from infra.local.runtime.function import Function
from infra.local.runtime.process import FunctionFailedError
from infra.local.template.document import template_from_object
from infra.local.template.loading import Stack, load
from infra.local.tempo import Tempo

NOW = datetime(2026, 10, 17, 2, 10, tzinfo=UTC)
Handler = Callable[[Any], object]


class Functions:
    """`Runtime` by callables, by function name; every event is kept in `seen`, with its time."""

    def __init__(self, clock: ManualClock, handlers: Mapping[str, Handler]) -> None:
        self._clock = clock
        self._handlers = handlers
        self.seen: list[tuple[str, Any]] = []
        self.times: list[float] = []

    def run(self, function: Function, event: object, request_id: str) -> object:
        self.seen.append((function.name, event))
        self.times.append((self._clock.now() - NOW).total_seconds())
        try:
            return self._handlers.get(function.name, lambda _: None)(event)
        except Exception as error:
            raise FunctionFailedError(function.name, type(error).__name__, str(error)) from error


class Stand:
    """Everything of one test. `advance` lets the cluster's time pass."""

    def __init__(self, cloud: CloudServer, resources: Mapping[str, Any], handlers: Mapping[str, Handler]) -> None:
        self.cloud = cloud
        self.clock = ManualClock(NOW)
        self._agenda = Agenda(self.clock, threading.RLock())
        self.stack: Stack = load(template_from_object({"Resources": resources}), cloud, "test")
        self.functions = Functions(self.clock, handlers)
        self.router = Router(self.stack, cloud, Tempo(self._agenda, is_threaded=False), self.functions)
        for function in self.router.functions:
            cloud.front.admit(function.key, function.role_arn, function.name)

    def advance(self, seconds: float = 1.0) -> None:
        self._agenda.run_until(self.clock.now() + timedelta(seconds=seconds))

    @property
    def events(self) -> list[Any]:
        """What functions were invoked with, in order."""
        return [event for _, event in self.functions.seen]

    def queue(self, logical_id: str) -> str:
        return self.stack.resources[logical_id].physical.ref

    def waiting(self, logical_id: str) -> list[dict[str, Any]]:
        """The messages in a queue; they stay away from others for a while."""
        found: list[dict[str, Any]] = (
            self.cloud.client("sqs")
            .receive_message(QueueUrl=self.queue(logical_id), MaxNumberOfMessages=10, MessageAttributeNames=["All"])
            .get("Messages", [])
        )
        return found

    def bodies(self, logical_id: str) -> list[Any]:
        return [json.loads(message["Body"]) for message in self.waiting(logical_id)]


@contextmanager
def standing(resources: Mapping[str, Any], **handlers: Handler) -> Iterator[Stand]:
    with CloudServer() as cloud:
        yield Stand(cloud, resources, handlers)


def policy(*statements: Mapping[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(action: str | list[str], resource: object = "*", **more: object) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def role(*statements: Mapping[str, Any], service: str = "lambda", **condition: object) -> dict[str, Any]:
    """A role that this service may take."""
    trust: dict[str, Any] = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": f"{service}.amazonaws.com"},
    }
    properties = {"AssumeRolePolicyDocument": policy(trust | ({"Condition": condition} if condition else {}))}
    if statements:
        properties["Policies"] = [{"PolicyName": "own", "PolicyDocument": policy(*statements)}]  # type: ignore[assignment]
    return {"Type": "AWS::IAM::Role", "Properties": properties}


def function(name: str, **more: object) -> dict[str, Any]:
    """A function with the role `Role`."""
    properties = {
        "FunctionName": name,
        "Handler": f"functions.{name}.handler.handler",
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "Code": {},
    }
    return {"Type": "AWS::Lambda::Function", "Properties": properties | more}


def permission(name: str, service: str, source: object) -> dict[str, Any]:
    properties = {
        "Action": "lambda:InvokeFunction",
        "FunctionName": {"Fn::GetAtt": [name, "Arn"]},
        "Principal": f"{service}.amazonaws.com",
        "SourceArn": source,
    }
    return {"Type": "AWS::Lambda::Permission", "Properties": properties}


def queue_policy(queue: str, service: str) -> dict[str, Any]:
    said = allow("sqs:SendMessage", {"Fn::GetAtt": [queue, "Arn"]}, Principal={"Service": f"{service}.amazonaws.com"})
    return {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": [{"Ref": queue}], "PolicyDocument": policy(said)}}


QUEUE = {"Type": "AWS::SQS::Queue"}
