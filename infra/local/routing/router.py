"""The account at work: what is called is heard, and goes where the template sends it. Nothing is wired here.

moto neither raises events of its own nor invokes functions; this does, and judges every step by the policies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from infra.local.cloud.account import Account, NotAllowedError, service
from infra.local.cloud.alarms import AlarmBook, Change
from infra.local.cloud.calendars import ChangeCalendars
from infra.local.cloud.server import CloudServer
from infra.local.iam.calls import Call
from infra.local.routing import happenings
from infra.local.routing.custom_resources import CustomResources
from infra.local.routing.mappings import Poller, mappings_of
from infra.local.routing.rules import EVENTS, EventBuses, rules_of
from infra.local.routing.schedules import Scheduler, schedules_of
from infra.local.routing.subscriptions import Topics, subscriptions_of
from infra.local.runtime.function import Function, functions_of
from infra.local.runtime.invocations import Invocations, Runtime, patience_of
from infra.local.template.document import TemplateError
from infra.local.template.loading import Stack
from infra.local.template.policies import authority_of, keys_of
from infra.local.tempo import Tempo

CLOUDWATCH = service("cloudwatch")
_ACTIONS = {"ALARM": "AlarmActions", "OK": "OKActions", "INSUFFICIENT_DATA": "InsufficientDataActions"}
Hear = Callable[[Call, Mapping[str, Any]], None]


class Router:
    """From the moment it is made, the account acts by this stack. `start` lets schedules and queues go."""

    def __init__(self, stack: Stack, cloud: CloudServer, tempo: Tempo, runtime: Runtime) -> None:
        self._cloud = cloud
        self._tempo = tempo
        cloud.front.authority, cloud.front.keys = authority_of(stack), keys_of(stack)
        self.functions: tuple[Function, ...] = functions_of(stack)
        self._account = Account(cloud)
        self.alarms = AlarmBook(tempo.clock)
        self.calendars = ChangeCalendars(tempo.clock)
        self.invocations = Invocations(self.functions, patience_of(stack), runtime, self._account, tempo)
        self.topics = Topics(subscriptions_of(stack), self._account, tempo.clock, self.invocations.accept)
        self.buses = EventBuses(
            rules_of(stack), self._account, {"lambda": self._to_function, "sns": self._to_topic, "sqs": self._to_queue}
        )
        self.scheduler = Scheduler(schedules_of(stack), self._account, tempo, self.invocations.accept)
        self.pollers = tuple(
            Poller(mapped, self.invocations.named(mapped.function), cloud, tempo, self.invocations.call)
            for mapped in mappings_of(stack)
        )
        self.custom = CustomResources(stack, cloud, self.invocations.accept)
        self.lost_actions: list[str] = []
        self._heard: dict[tuple[str, str], Hear] = {
            ("ssm", "PutParameter"): self._parameter_put,
            ("cloudwatch", "SetAlarmState"): self._alarm_set,
            ("events", "PutEvents"): self._events_put,
            ("sns", "Publish"): self._published,
            ("sqs", "SendMessage"): self._sent,
        }
        cloud.front.answers |= {**self.alarms.answers, **self.calendars.answers, ("lambda", "Invoke"): self._invoked}
        cloud.front.listeners.append(self._hear)

    def start(self) -> None:
        self.custom.ask("Create")
        for poller in self.pollers:
            poller.start()
        self.scheduler.start()

    def remove(self) -> None:
        """CloudFormation asks what must be asked before the stack goes; nothing else of it goes here."""
        self.custom.ask("Delete")

    def calendar(self, name: str, state: str) -> None:
        """The calendar is in this state from now on, and says so."""
        now = self._tempo.clock.now()
        self.calendars.put(name, (now, state))
        self._put(happenings.calendar_changed(name, state, now, None))

    def troubles(self) -> list[str]:
        """Everything that did not go as the template promises: refusals, failures, losses, and faults of this layer."""
        front = self._cloud.front
        return [
            *map(str, front.record.refusals),
            *front.faults,
            *self.invocations.failures,
            *self.invocations.lost,
            *self.buses.lost,
            *self.scheduler.lost,
            *self.topics.lost,
            *(failure for poller in self.pollers for failure in poller.failures),
            *(str(reply) for reply in self.custom.replies if reply.is_refusal),
            *self.lost_actions,
            *self._tempo.faults,
        ]

    # --- what was called ---------------------------------------------------------------------------

    def _hear(self, call: Call, result: Mapping[str, Any]) -> None:
        heard = self._heard.get((call.service, call.operation))
        if heard is not None:
            heard(call, result)

    def _parameter_put(self, call: Call, result: Mapping[str, Any]) -> None:
        self._put(happenings.parameter_changed(call.params, int(result["Version"]), self._tempo.clock.now()))

    def _alarm_set(self, call: Call, _result: Mapping[str, Any]) -> None:
        change = self.alarms.set(call)
        if change.now == change.before:
            return
        (described,) = self._cloud.client("cloudwatch").describe_alarms(AlarmNames=[change.alarm])["MetricAlarms"]
        self._put(happenings.alarm_changed(change, described))
        self._tempo.after(0.0, lambda: self._act(change, described))

    def _act(self, change: Change, described: Mapping[str, Any]) -> None:
        """An alarm's actions: here, topics alone."""
        subject, message = happenings.alarm_message(change, described)
        for action in described.get(_ACTIONS[change.now], ()) if described.get("ActionsEnabled", True) else ():
            if ":sns:" not in action:
                raise TemplateError(f"the alarm {change.alarm} acts on {action}, which is not served here")
            source = str(described["AlarmArn"])
            try:
                self._account.publish(CLOUDWATCH, action, message, subject, source=source)
            except NotAllowedError as error:
                self.lost_actions.append(f"the alarm {change.alarm} could not tell: {error}")

    def _events_put(self, call: Call, _result: Mapping[str, Any]) -> None:
        for entry in call.params["Entries"]:
            bus = str(entry.get("EventBusName", "default")).rsplit("/", 1)[-1]
            self._put(happenings.put_event(entry, self._tempo.clock.now()), bus)

    def _put(self, event: happenings.Event, bus: str = "default") -> None:
        """Later, and not by whoever made the call: nobody waits for EventBridge."""
        self._tempo.after(0.0, lambda: self._deliver(event, bus))

    def _deliver(self, event: happenings.Event, bus: str) -> None:
        self.buses.put(event, bus)

    def _published(self, call: Call, _result: Mapping[str, Any]) -> None:
        message = dict(call.params)
        self._tempo.after(0.0, lambda: self.topics.published(message))

    def _sent(self, call: Call, _result: Mapping[str, Any]) -> None:
        name = str(call.params["QueueUrl"]).rsplit("/", 1)[-1]
        for poller in self.pollers:
            if poller.mapped.queue_arn.rsplit(":", 1)[-1] == name:
                poller.wake(float(call.params.get("DelaySeconds", 0)))

    def _invoked(self, call: Call) -> Mapping[str, Any]:
        """Lambda's own API: events alone, which is what driftgate asks for."""
        if call.params.get("InvocationType") != "Event":
            raise NotImplementedError("only asynchronous invocations are served here")
        self.invocations.accept(call.params["FunctionName"], json.loads(call.params.get("Payload") or b"{}"))
        return {"StatusCode": 202}

    # --- where rules send --------------------------------------------------------------------------

    def _to_function(self, arn: str, payload: Any, rule_arn: str) -> None:
        self._account.require(EVENTS, "lambda:InvokeFunction", arn, source=rule_arn)
        self.invocations.accept(arn, payload)

    def _to_topic(self, arn: str, payload: Any, rule_arn: str) -> None:
        self._account.publish(EVENTS, arn, _text(payload), source=rule_arn)

    def _to_queue(self, arn: str, payload: Any, rule_arn: str) -> None:
        self._account.send(EVENTS, arn, _text(payload), {}, source=rule_arn)


def _text(payload: Any) -> str:
    return payload if isinstance(payload, str) else json.dumps(payload)
