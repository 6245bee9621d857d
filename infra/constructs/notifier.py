"""Slack without Amazon Q: a function that reads the topic and writes to a channel with a secret of its own.

It lives outside of any VPC, for Slack is on the internet. What it could not tell after all its tries waits in a queue
of its own, as Lambda got it, so that nothing is lost while Slack is down.
"""

from __future__ import annotations

from dataclasses import replace

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from driftgate.config.deployment import Slack
from driftgate.contract import SLACK_PARTITION, Env
from infra.constructs import permissions
from infra.constructs.function import FunctionSettings, PipelineFunction, Shared
from infra.constructs.permissions import Grant
from infra.constructs.topic import MessageTopic
from infra.constructs.work_queue import FailureQueue

TIMEOUT = cdk.Duration.seconds(60)
"""Long enough to wait as long as Slack usually asks to."""


class SlackNotifier(Construct):
    """`shared` is what all functions have in common; of its variables the notifier gets what it uses."""

    def __init__(
        self, scope: Construct, id_: str, *, shared: Shared, topic: MessageTopic, table_arn: str, slack: Slack
    ) -> None:
        super().__init__(scope, id_)
        self.untold = FailureQueue(self, "Untold")
        used = {name: shared.environment[name] for name in (Env.SERVICE.value, Env.TABLE.value)}
        self.notify = PipelineFunction(
            self,
            "NotifySlack",
            shared=replace(shared, environment=used, failures=self.untold.queue),
            settings=FunctionSettings(
                name="notify_slack",
                description="Tells in Slack what the topic carries",
                timeout=TIMEOUT,
                memory_mb=512,
                patience=cdk.Duration.hours(6),
                environment={
                    Env.SLACK_SECRET.value: slack.secret,
                    **({Env.SLACK_CHANNEL.value: slack.channel} if slack.channel is not None else {}),
                },
            ),
            grants=[_use_threads(table_arn), permissions.allow(["secretsmanager:GetSecretValue"], [slack.secret])],
        )
        self._subscribe(topic)

    def _subscribe(self, topic: MessageTopic) -> None:
        """A message that SNS cannot hand over waits in the same queue."""
        lambda_.CfnPermission(
            self,
            "Topic",
            action="lambda:InvokeFunction",
            function_name=self.notify.arn,
            principal="sns.amazonaws.com",
            source_arn=topic.arn,
        )
        self.untold.queue.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("sns.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[self.untold.queue.queue_arn],
                conditions={"ArnEquals": {"aws:SourceArn": topic.arn}},
            )
        )
        sns.CfnSubscription(
            self,
            "Subscription",
            topic_arn=topic.arn,
            protocol="lambda",
            endpoint=self.notify.arn,
            redrive_policy={"deadLetterTargetArn": self.untold.queue.queue_arn},
        )


def _use_threads(table_arn: str) -> Grant:
    """Of the ledger's table only what it remembers of Slack's threads."""
    own = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{SLACK_PARTITION}#*"]}}
    return permissions.allow(["dynamodb:BatchGetItem", "dynamodb:PutItem"], [table_arn], own)
