"""The template's rules: which events they match (by moto's own matcher), and what they do with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moto.events.models import EventPattern

from infra.local.cloud.account import Account, NotAllowedError, service
from infra.local.routing.inputs import input_of
from infra.local.template.document import TemplateError
from infra.local.template.loading import Deployed, Stack

Event = dict[str, Any]
Send = Callable[[str, Any, str], None]
"""(target's ARN, payload, rule's ARN). Raises NotAllowedError."""

DEFAULT_BUS = "default"
UNDERSTOOD = frozenset({"Arn", "Id", "Input", "InputPath", "InputTransformer", "DeadLetterConfig", "RetryPolicy"})
EVENTS = service("events")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    name: str
    arn: str
    bus: str
    pattern: EventPattern
    targets: tuple[Mapping[str, Any], ...]

    def matches(self, event: Event) -> bool:
        asked: Any = event
        return bool(self.pattern.matches_event(asked))


def rules_of(stack: Stack) -> tuple[Rule, ...]:
    """The enabled ones that match events. Raises TemplateError."""
    return tuple(_rule(found) for found in stack.of_type("AWS::Events::Rule") if _is_enabled(found))


def _is_enabled(rule: Deployed) -> bool:
    return bool(rule.properties.get("State", "ENABLED") == "ENABLED")


def _rule(deployed: Deployed) -> Rule:
    found = deployed.properties
    if "ScheduleExpression" in found:
        raise TemplateError(f"{deployed.logical_id}: a rule by schedule is not run here; use EventBridge Scheduler")
    targets = tuple(found.get("Targets", ()))
    for target in targets:
        unknown = sorted(set(target) - UNDERSTOOD)
        if unknown:
            raise TemplateError(f"{deployed.logical_id}: {', '.join(unknown)} of a target is not understood here")
    return Rule(
        name=deployed.physical.ref,
        arn=deployed.arn,
        bus=str(found.get("EventBusName", DEFAULT_BUS)).rsplit("/", 1)[-1],
        pattern=EventPattern.load(json.dumps(found["EventPattern"])),
        targets=targets,
    )


class EventBuses:
    """All buses of the account. `senders` deliver by the service in the target's ARN.

    What a target does not take goes to its dead-letter queue, or is `lost`.
    Source: aws docs, eb-rule-dlq (2026): what is not permitted is not retried.
    """

    def __init__(self, rules: Sequence[Rule], account: Account, senders: Mapping[str, Send]) -> None:
        self.rules = rules
        self._account = account
        self._senders = senders
        self.lost: list[str] = []
        for rule in rules:
            for target in rule.targets:
                self._sender(rule, target)

    def put(self, event: Event, bus: str = DEFAULT_BUS) -> tuple[str, ...]:
        """Delivers the event by every rule that matches; gives their names."""
        matching = [rule for rule in self.rules if rule.bus == bus and rule.matches(event)]
        for rule in matching:
            for target in rule.targets:
                self._deliver(rule, target, event)
        return tuple(rule.name for rule in matching)

    def _sender(self, rule: Rule, target: Mapping[str, Any]) -> Send:
        kind = str(target["Arn"]).split(":")[2]
        if kind not in self._senders:
            raise TemplateError(f"the rule {rule.name} has a target of {kind}, which is not served here")
        return self._senders[kind]

    def _deliver(self, rule: Rule, target: Mapping[str, Any], event: Event) -> None:
        try:
            self._sender(rule, target)(target["Arn"], input_of(target, event), rule.arn)
        except NotAllowedError as error:
            self._bury(rule, target, event, str(error))

    def _bury(self, rule: Rule, target: Mapping[str, Any], event: Event, why: str) -> None:
        queue = target.get("DeadLetterConfig", {}).get("Arn")
        said = {"ERROR_CODE": "NO_PERMISSIONS", "ERROR_MESSAGE": why, "RULE_ARN": rule.arn, "TARGET_ARN": target["Arn"]}
        try:
            if queue is None:
                raise NotAllowedError("it has no dead-letter queue")
            self._account.send(EVENTS, queue, json.dumps(event), said, source=rule.arn)
        except NotAllowedError as error:
            self.lost.append(f"{rule.name} could not deliver: {why}; {error}")
