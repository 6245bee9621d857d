"""Which events of AWS wake which function: the default bus, because service events come there and nowhere else.

The rules are written as CloudFormation has them: CDK's own targets would add a permission per rule and function, and
with 2,000 alarms the stack would have too many resources. One permission for all rules of the deployment does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aws_cdk import Aws
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from driftgate import contract
from driftgate.contract import EventType
from infra.constructs import permissions
from infra.constructs.function import PipelineFunction
from infra.patterns import LIVE, MOST_CHARACTERS, length, split
from infra.settings import StackSettings

MOST_TARGETS = 5
MOST_RULES = 200
"""Of the 300 that a bus takes: others use it too."""

MOST_ACCOUNTS = 40
HINT_AGE_S = 3600
"""How late an event may wake somebody: after an hour the heartbeat has seen what it told."""

Pattern = dict[str, Any]


class EventRules(Construct):
    """Rules from the settings to `evaluate_drift` and to every placement's closer."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: StackSettings,
        evaluate: PipelineFunction,
        closers: Mapping[str, PipelineFunction],
        failures: sqs.Queue,
    ) -> None:
        super().__init__(scope, id_)
        self._prefix = f"{settings.prefix}."
        self._failures = failures
        self._let_rules_in([evaluate, *closers.values()])
        looks, closings = {"evaluate-drift": evaluate}, {f"close-{name}": closer for name, closer in closers.items()}
        for name, pattern in _hints(settings):
            self._rule(name, pattern, looks)
        for name, pattern in _alarms(settings, most=MOST_RULES // (1 + len(list(_fives(closings))))):
            self._rule(f"{name}-changed", pattern, looks)
            for index, some in enumerate(_fives(closings)):
                self._rule(f"{name}-fired-{index}", _fired(pattern), some)

    def _let_rules_in(self, functions: Iterable[PipelineFunction]) -> None:
        rules = permissions.arn("events", f"rule/{self._prefix}*")
        for function in functions:
            lambda_.CfnPermission(
                function,
                "Rules",
                action="lambda:InvokeFunction",
                function_name=function.arn,
                principal="events.amazonaws.com",
                source_arn=rules,
            )
        self._failures.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[self._failures.queue_arn],
                conditions={"ArnLike": {"aws:SourceArn": rules}},
            )
        )

    def _rule(self, name: str, pattern: Pattern, targets: Mapping[str, PipelineFunction]) -> None:
        events.CfnRule(
            self,
            name,
            name=self._prefix + name,
            event_pattern=pattern,
            targets=[
                events.CfnRule.TargetProperty(
                    id=target,
                    arn=function.arn,
                    dead_letter_config=events.CfnRule.DeadLetterConfigProperty(arn=self._failures.queue_arn),
                    retry_policy=events.CfnRule.RetryPolicyProperty(maximum_event_age_in_seconds=HINT_AGE_S),
                )
                for target, function in targets.items()
            ],
        )


def _pattern(event: EventType, **more: object) -> Pattern:
    return {"source": [event.source], "detail-type": [event.detail_type], **LIVE, **more}


def _own(event: EventType, **more: object) -> Pattern:
    """Of this account alone, whoever else may put events on the bus."""
    return _pattern(event, account=[Aws.ACCOUNT_ID], **more)


def _hints(settings: StackSettings) -> Iterator[tuple[str, Pattern]]:
    """What only asks for a look: an image, a calendar."""
    deployment = settings.deployment.name
    ours = [{"prefix": contract.seen_prefix(deployment)}, {"prefix": contract.channel_prefix(deployment)}]
    yield "parameters", _own(contract.PARAMETER_CHANGED, detail={"name": ours, "operation": ["Create", "Update"]})
    arns = [permissions.calendar(name) for name in settings.calendars]
    empty = _own(contract.CALENDAR_CHANGED, resources=[])
    for index, some in enumerate(split(arns, MOST_CHARACTERS - length(empty), MOST_RULES)):
        yield f"calendars-{index}", {**empty, "resources": some}


def _alarms(settings: StackSettings, most: int) -> Iterator[tuple[str, Pattern]]:
    """The changes of every configured alarm, those of other accounts apart."""
    accounts: list[object] = list(settings.alarm_accounts)
    if len(accounts) > MOST_ACCOUNTS:
        accounts = [{"anything-but": [Aws.ACCOUNT_ID]}]
    groups = {
        "alarms": (_own(contract.ALARM_CHANGED), settings.alarms),
        "foreign-alarms": (_pattern(contract.ALARM_CHANGED, account=accounts), settings.foreign_alarms),
    }
    asked = {name: group for name, group in groups.items() if group[1]}
    for name, (pattern, alarms) in asked.items():
        room = MOST_CHARACTERS - length(_fired({**pattern, "detail": {"alarmName": []}}))
        for index, some in enumerate(split(alarms, room, most // len(asked))):
            yield f"{name}-{index}", {**pattern, "detail": {"alarmName": some}}


def _fired(pattern: Pattern) -> Pattern:
    return {**pattern, "detail": {**pattern["detail"], "state": {"value": ["ALARM"]}}}


def _fives(targets: Mapping[str, PipelineFunction]) -> Iterator[dict[str, PipelineFunction]]:
    """In parts that one rule takes."""
    listed = list(targets.items())
    for start in range(0, len(listed), MOST_TARGETS):
        yield dict(listed[start : start + MOST_TARGETS])
