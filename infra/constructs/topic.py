"""Where driftgate's messages and its alarms go, and who reads them there: e-mail, and Slack through Amazon Q.

The topic is encrypted with a key of its own: AWS's key for SNS cannot be used by the services that publish here, and
with a wrong key policy their messages are lost without a word.
Source: aws docs, sns/latest/dg/sns-key-management and chatbot/latest/adminguide (2026).
"""

from __future__ import annotations

from collections.abc import Iterable

import aws_cdk as cdk
from aws_cdk import Aws
from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from driftgate.config.deployment import Chat
from infra.constructs import permissions

ALARMS = iam.ServicePrincipal("cloudwatch.amazonaws.com")
RULES = iam.ServicePrincipal("events.amazonaws.com")
KEY_USE = ["kms:GenerateDataKey*", "kms:Decrypt"]
"""What a service needs to publish to an encrypted topic, as AWS's documentation has it."""

GUARDRAIL = f"arn:{Aws.PARTITION}:iam::aws:policy/AWSDenyAll"
"""The most that anybody may do from the channel. Amazon Q's own default would be AdministratorAccess."""

KEY_PENDING = cdk.Duration.days(7)


class MessageTopic(Construct):
    """`name` is the chat configuration's, which can never be changed; `chat` None: no Amazon Q."""

    def __init__(self, scope: Construct, id_: str, *, name: str, emails: Iterable[str], chat: Chat | None) -> None:
        super().__init__(scope, id_)
        self.key = kms.Key(
            self,
            "Key",
            description="driftgate's messages to people",
            enable_key_rotation=True,
            pending_window=KEY_PENDING,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.topic = sns.Topic(self, "Topic", display_name="driftgate", master_key=self.key, enforce_ssl=True)
        self._let_services_publish()
        for index, address in enumerate(emails):
            sns.CfnSubscription(
                self, f"Email-{index}", topic_arn=self.topic.topic_arn, protocol="email", endpoint=address
            )
        if chat is not None:
            self._show_in(chat, name)

    @property
    def arn(self) -> str:
        return self.topic.topic_arn

    def _let_services_publish(self) -> None:
        """Alarms and rules of this account.

        The key's statement for rules has no condition: EventBridge tells KMS neither account nor rule, so with one
        its messages would be lost. The topic's own policy says whose rules may publish.
        """
        of_account = {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
        of_rules = {"ArnLike": {"aws:SourceArn": permissions.arn("events", "rule/*")}}
        for principal, on_topic, on_key in ((ALARMS, of_account, of_account), (RULES, of_rules, None)):
            self.topic.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[principal],
                    actions=["sns:Publish"],
                    resources=[self.topic.topic_arn],
                    conditions=on_topic,
                )
            )
            self.key.add_to_resource_policy(
                iam.PolicyStatement(principals=[principal], actions=KEY_USE, resources=["*"], conditions=on_key)
            )

    def _show_in(self, chat: Chat, name: str) -> None:
        """The channel shows what comes and can do nothing: its role is empty, and the guardrail denies the rest."""
        role = iam.Role(self, "ChatRole", assumed_by=iam.ServicePrincipal("chatbot.amazonaws.com"))
        chatbot.CfnSlackChannelConfiguration(
            self,
            "Chat",
            configuration_name=name,
            slack_workspace_id=chat.workspace,
            slack_channel_id=chat.channel,
            iam_role_arn=role.role_arn,
            guardrail_policies=[GUARDRAIL],
            sns_topic_arns=[self.topic.topic_arn],
            logging_level="ERROR",
        )
