"""The template on a bad day: what no function does and nobody takes is left where the alarms look, never lost."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock
from infra.local.cloud.server import CloudServer
from infra.local.routing.router import Router
from infra.local.template.loading import load
from infra.local.tempo import Tempo
from tests.infra.changing import changed, without, without_action
from tests.infra.template_night import ALARM, STACK, template
from tests.local.stand import NOW, Functions

pytestmark = pytest.mark.slow


def broken(_):
    raise RuntimeError("out of memory")


class Day:
    """The template, and functions that all fail."""

    def __init__(self, cloud, by):
        self.cloud = cloud
        self._clock = ManualClock(NOW)
        self._agenda = Agenda(self._clock, threading.RLock())
        self._stack = load(by, cloud, STACK)
        functions = [found.physical.ref for found in self._stack.of_type("AWS::Lambda::Function")]
        self._runtime = Functions(self._clock, dict.fromkeys(functions, broken))
        self.router = Router(self._stack, cloud, Tempo(self._agenda, is_threaded=False), self._runtime)
        for function in self.router.functions:
            cloud.front.admit(function.key, function.role_arn, function.name)

    def advance(self, seconds: float) -> None:
        self._agenda.run_until(self._clock.now() + timedelta(seconds=seconds))

    def invoked(self) -> set[str]:
        labels = {function.name: function.label for function in self.router.functions}
        return {labels[name] for name, _ in self._runtime.seen}

    def found_in(self, name: str) -> list[dict[str, Any]]:
        """The messages of the queues whose logical id this is a part of."""
        sqs, found = self.cloud.client("sqs"), []
        for queue in self._stack.of_type("AWS::SQS::Queue"):
            while name in queue.logical_id and (
                batch := sqs.receive_message(
                    QueueUrl=queue.physical.ref, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
                ).get("Messages")
            ):
                found += batch
        return found

    def queue_of_work(self) -> str:
        (mapping,) = self.router.pollers
        return mapping.mapped.queue_url


@contextmanager
def day(by=None):
    with CloudServer() as cloud:
        yield Day(cloud, by or template())


def set_alarm(on: Day) -> None:
    client = on.cloud.client("cloudwatch")
    client.put_metric_alarm(
        AlarmName=ALARM, ComparisonOperator="GreaterThanThreshold", EvaluationPeriods=1, MetricName="m", Namespace="n",
        Period=60, Statistic="Sum", Threshold=1,
    )  # fmt: skip
    client.set_alarm_state(AlarmName=ALARM, StateValue="ALARM", StateReason="test")


def test_what_functions_cannot_do_is_left_in_the_queue_of_failures():
    with day() as on:
        on.router.start()
        set_alarm(on)
        on.advance(16 * 60 + 200)

        records = [json.loads(message["Body"]) for message in on.found_in("Failures")]
        payloads = [record["requestPayload"] for record in records]
        kinds = {
            payload.get("driftgate") or payload.get("detail-type") or payload["RequestType"] for payload in payloads
        }
        assert kinds == {
            "Create",
            "heartbeat",
            "poll",
            "CloudWatch Alarm State Change",
        }
        assert on.router.invocations.lost == []
        assert on.cloud.front.record.refusals == []


def test_a_look_that_fails_three_times_goes_behind_the_queue_and_lets_the_next_one_through():
    with day() as on:
        for number in ("1", "2"):
            on.cloud.client("sqs").send_message(
                QueueUrl=on.queue_of_work(), MessageBody=number, MessageGroupId="demo", MessageDeduplicationId=number
            )
        on.advance(15 * 60)

        assert [message["Body"] for message in on.found_in("DeadLetters")] == ["1", "2"]
        assert [event["Records"][0]["body"] for _, event in on._runtime.seen] == ["1", "1", "1", "2", "2", "2"]


def test_an_event_that_no_function_lets_in_is_buried_and_not_lost():
    with day(without(template(), "AWS::Lambda::Permission", "Rules")) as on:
        set_alarm(on)
        on.advance(1)

        assert on.invoked() == set()
        assert {message["MessageAttributes"]["ERROR_CODE"]["StringValue"] for message in on.found_in("Failures")} == {
            "NO_PERMISSIONS"
        }
        assert on.router.buses.lost == []


def test_a_beat_that_the_schedulers_role_may_not_give_is_buried_and_not_lost():
    by = changed(template(), "AWS::IAM::Role", without_action("lambda:InvokeFunction"), "Schedules")
    with day(by) as on:
        on.router.scheduler.fire("heartbeat")
        on.advance(1)

        assert on.invoked() == set()
        assert [json.loads(message["Body"])["driftgate"] for message in on.found_in("Failures")] == ["heartbeat"]
        assert on.router.scheduler.lost == []
