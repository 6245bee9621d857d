"""Messages as the template carries them: alarm and event, topic, notifier, Slack; and what waits while Slack is down.

The stack is loaded into the local AWS; the topic's policy, its key's and the notifier's role are judged there. The
notifier is the real one, with the template's environment and, of this machine, a Slack on the loopback.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from driftgate import bootstrap
from driftgate.domain.errors import AwsUnavailableError
from driftgate.domain.message import DomainEvent, EventKind
from driftgate.ports import EventPublisher
from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock
from functions.notify_slack.handler import handler
from infra.local.cloud.server import CloudServer
from infra.local.routing.router import Router
from infra.local.runtime.function import Function, Surroundings, environment_of
from infra.local.runtime.process import FunctionFailedError
from infra.local.synthesis import synthesized
from infra.local.template.document import Template
from infra.local.template.loading import load
from infra.local.tempo import Tempo
from tests.fakes.slack_server import CHANNEL, TOKEN, Fault, SlackServer

NOW = datetime(2026, 10, 17, 2, 10, tzinfo=UTC)
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:slack-a1B2c3"
CONFIG = f"""\
cluster: demo
guards: {{alarms: none}}
deployment: {{name: prod, slack: {{secret: "{SECRET}", channel: {CHANNEL}}}}}
"""
HEARTBEAT = "driftgate-prod-heartbeat-silent"
OPENED = DomainEvent(
    kind=EventKind.BUDGETS_OPENED, at=NOW, cluster="demo", pool="app", title="app: opens", text="now", thread="roll-1"
)
CLOSED = DomainEvent(
    kind=EventKind.BUDGETS_CLOSED, at=NOW, cluster="demo", pool="app", title="app: is shut", text="so", thread="roll-1"
)


@cache
def template() -> Template:
    return synthesized(CONFIG)


class Context:
    """What Lambda gives beside the event."""

    function_name = "notify-slack"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn"
    aws_request_id = "request-1"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


class Notifying:
    """The runtime: the notifier in this process, with exactly its own environment and the way to Slack."""

    def __init__(self, surroundings: Surroundings, slack: SlackServer) -> None:
        self._surroundings = surroundings
        self._slack = slack

    def run(self, function: Function, event: Any, request_id: str) -> object:
        variables = environment_of(function, self._surroundings) | {"DRIFTGATE_SLACK_URL": self._slack.api}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            bootstrap.use(None)
            try:
                return handler(event, Context())  # type: ignore[arg-type]
            except Exception as error:
                raise FunctionFailedError(function.name, type(error).__name__, str(error)) from error


class Deployed:
    """The stack at work."""

    def __init__(self, cloud: CloudServer, slack: SlackServer, template: Template, root: Path) -> None:
        (root / "driftgate.yaml").write_text(CONFIG, encoding="utf-8")
        self.cloud, self.slack, self._clock = cloud, slack, ManualClock(NOW)
        self._surroundings = Surroundings(endpoint=cloud.url, task_root=root)
        self._agenda = Agenda(self._clock, threading.RLock())
        self.stack = load(template, cloud, "driftgate-prod")
        runtime = Notifying(self._surroundings, slack)
        self.router = Router(self.stack, cloud, Tempo(self._agenda, is_threaded=False), runtime)
        for function in self.router.functions:
            cloud.front.admit(function.key, function.role_arn, function.name)
        # moto gives secrets other ARNs than the template names, but finds one whose name ends so
        cloud.client("secretsmanager").create_secret(Name=SECRET.rpartition(":")[2], SecretString=TOKEN)

    def advance(self, minutes: float = 0.1) -> None:
        self._agenda.run_until(self._clock.now() + timedelta(minutes=minutes))

    def fire(self, state: str = "ALARM") -> None:
        client = self.cloud.client("cloudwatch")
        client.set_alarm_state(AlarmName=HEARTBEAT, StateValue=state, StateReason="no heartbeat")
        self.advance()

    def tell(self, *events: DomainEvent) -> None:
        with self.as_worker() as publisher:
            for event in events:
                publisher.publish(event)
        self.advance()

    @contextmanager
    def as_worker(self) -> Iterator[EventPublisher]:
        """What the worker tells through, with its environment and the rights of its role."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment_of(self.worker(), self._surroundings).items():
                patch.setenv(name, value)
            bootstrap.use(None)
            yield bootstrap.pipeline().publisher

    def waiting(self, whose: str = "Notifier") -> list[Any]:
        """What a queue of failures holds: the notifier's own, or everybody's."""
        (queue,) = [each for each in self.stack.of_type("AWS::SQS::Queue") if each.logical_id.startswith(whose)]
        found = self.cloud.client("sqs").receive_message(QueueUrl=queue.physical.ref, MaxNumberOfMessages=10)
        return [json.loads(message["Body"]) for message in found.get("Messages", [])]

    def notifier(self) -> Function:
        return next(each for each in self.router.functions if each.label == "notify_slack")

    def worker(self) -> Function:
        return next(each for each in self.router.functions if each.label == "reconcile_cluster")


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with SlackServer() as server:
        yield server
        bootstrap.use(None)


@pytest.fixture
def cloud() -> Iterator[CloudServer]:
    with CloudServer() as server:
        yield server


@pytest.fixture
def deployed(cloud, slack, tmp_path) -> Deployed:
    return Deployed(cloud, slack, template(), tmp_path)


def without(principal: str, kind: str) -> Template:
    """The template whose policy in resources of this kind no longer speaks of the service."""
    whole, resources = template(), {}
    for name, resource in whole.resources.items():
        properties = deepcopy(dict(resource.properties))
        if resource.type == kind:
            policy = properties.get("KeyPolicy") or properties["PolicyDocument"]
            policy["Statement"] = [s for s in policy["Statement"] if s["Principal"] != {"Service": principal}]
        resources[name] = replace(resource, properties=properties)
    return replace(whole, resources=resources)


def test_an_alarm_reaches_slack_and_its_end_stands_in_the_same_thread(deployed):
    deployed.fire("ALARM")
    deployed.fire("OK")

    fired, over = deployed.slack.messages
    assert fired.text.startswith(f"{HEARTBEAT}: ALARM\n")
    assert "docs/operate.md, heartbeat-silent" in fired.text
    assert (over.text.splitlines()[0], over.thread, over.is_broadcast) == (f"{HEARTBEAT}: OK", fired.ts, True)
    assert deployed.router.troubles() == []


def test_a_roll_is_one_thread_and_an_event_published_twice_one_message(deployed):
    deployed.tell(OPENED, CLOSED, CLOSED)

    first, second = deployed.slack.messages
    assert (first.text, first.thread) == ("[demo] app: opens\nnow", "")
    assert (second.text, second.thread) == ("[demo] app: is shut\nso", first.ts)
    assert deployed.router.troubles() == []


def test_a_slack_that_is_down_for_a_minute_loses_nothing(deployed):
    deployed.slack.faults += [Fault(status=503), Fault(status=503)]

    deployed.tell(OPENED)
    deployed.advance(minutes=5)

    assert [message.text for message in deployed.slack.messages] == ["[demo] app: opens\nnow"]
    assert deployed.waiting() == []


def test_a_slack_that_stays_down_leaves_the_message_in_the_queue_from_which_it_can_be_told(deployed):
    deployed.slack.faults += [Fault(status=503)] * 3

    deployed.tell(OPENED)
    deployed.advance(minutes=10)
    (kept,) = deployed.waiting()
    deployed.router.invocations.accept(deployed.notifier().arn, kept["requestPayload"])
    deployed.advance()

    assert [message.text for message in deployed.slack.messages] == ["[demo] app: opens\nnow"]


@pytest.mark.parametrize("kind", ["AWS::KMS::Key", "AWS::SNS::TopicPolicy"])
def test_without_its_policies_an_alarm_would_tell_nobody(cloud, slack, tmp_path, kind):
    deployed = Deployed(cloud, slack, without("cloudwatch.amazonaws.com", kind), tmp_path)

    deployed.fire("ALARM")

    assert slack.messages == []
    assert "could not tell" in " ".join(deployed.router.troubles())


def test_the_notifier_uses_all_that_it_may_do(deployed):
    deployed.tell(OPENED)

    front, role = deployed.cloud.front, deployed.notifier().role_arn
    unused = {each.action for each in front.record.unused(front.authority.roles) if each.role == role}
    # what Lambda does with the role for its log, which is a file here
    assert unused == {"logs:CreateLogStream", "logs:PutLogEvents"}


def test_the_notifier_may_touch_no_record_of_a_roll(deployed):
    table = deployed.notifier().variables["DRIFTGATE_TABLE"]
    dynamodb = deployed.cloud.client("dynamodb", deployed.notifier().key)
    thread, roll = ({"pk": {"S": pk}, "sk": {"S": "thread"}} for pk in ("slack#roll-1", "cluster#demo"))

    dynamodb.put_item(TableName=table, Item=thread)
    with pytest.raises(ClientError, match="AccessDenied"):
        dynamodb.put_item(TableName=table, Item=roll)
    with pytest.raises(ClientError, match="AccessDenied"):
        dynamodb.batch_get_item(RequestItems={table: {"Keys": [thread, roll]}})


def test_what_the_topic_does_not_take_is_kept_where_an_alarm_looks(deployed):
    topic = deployed.worker().variables["DRIFTGATE_TOPIC_ARN"]
    deployed.cloud.client("sns").delete_topic(TopicArn=topic)

    with deployed.as_worker() as publisher, pytest.raises(AwsUnavailableError):
        publisher.publish(CLOSED)

    (kept,) = deployed.waiting("Failures")
    assert kept["publish"]["TopicArn"] == topic
    assert json.loads(json.loads(kept["publish"]["Message"])["default"])["content"]["title"] == "[demo] app: is shut"
