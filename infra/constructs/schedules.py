"""The two clocks: the heartbeat of every minute, and the image poll. There is no schedule per roll.

Their payloads are our own; `driftgate.events` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs import permissions
from infra.constructs.function import PipelineFunction

# Source: aws docs, scheduler/latest/UserGuide/managing-schedule-context-attributes (2026).
SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """`patience_s`: older than that, an invocation is dropped, because the next one says the same. At least 60."""

    payload: str
    minutes: int
    patience_s: int
    description: str

    @property
    def rate(self) -> str:
        return "rate(1 minute)" if self.minutes == 1 else f"rate({self.minutes} minutes)"


HEARTBEAT = Clock(
    payload="heartbeat",
    minutes=1,
    patience_s=60,
    description="Shuts what is overdue or abandoned, and queues whoever is due for a look",
)
POLL = Clock(payload="poll", minutes=15, patience_s=600, description="Looks for new node images")


class Schedules(Construct):
    """Each clock calls one function, by a role that may call these functions and nothing else."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        group: str,
        targets: Mapping[Clock, PipelineFunction],
        failures: sqs.Queue,
    ) -> None:
        super().__init__(scope, id_)
        made = scheduler.CfnScheduleGroup(self, "Group", name=group)
        role = _role(self, group, targets, failures)
        for clock, function in targets.items():
            schedule = scheduler.CfnSchedule(
                self,
                clock.payload.capitalize(),
                name=clock.payload,
                group_name=group,
                description=clock.description,
                schedule_expression=clock.rate,
                flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
                target=scheduler.CfnSchedule.TargetProperty(
                    arn=function.arn,
                    role_arn=role.role_arn,
                    input=json.dumps({"driftgate": clock.payload, "scheduledAt": SCHEDULED_TIME}),
                    dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=failures.queue_arn),
                    retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                        maximum_event_age_in_seconds=clock.patience_s, maximum_retry_attempts=3
                    ),
                ),
            )
            schedule.add_resource_dependency(made)


def _role(scope: Construct, group: str, targets: Mapping[Clock, PipelineFunction], failures: sqs.Queue) -> iam.Role:
    """Taken by EventBridge Scheduler alone, and for the schedules of this group alone.

    Source: aws docs, scheduler/latest/UserGuide/cross-service-confused-deputy-prevention (2026).
    """
    ours = {
        "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
        "ArnEquals": {"aws:SourceArn": permissions.arn("scheduler", f"schedule-group/{group}")},
    }
    grants = [
        permissions.invoke(function.arn for function in targets.values()),
        permissions.send_to([failures.queue_arn]),
    ]
    return iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=ours),
        inline_policies=permissions.policy(grants),
    )
