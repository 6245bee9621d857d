"""What lies outside of moto's AWS: who may enter a cluster, and the chat that people read.

The access entry is kept by the simulated cluster's authenticator; the Slack channel is a queue that hears the same
topics as Amazon Q would.
"""

from __future__ import annotations

from infra.local.template.intrinsics import Physical
from infra.local.template.making import Creator, Making, arn


def _access_entry(making: Making) -> Physical:
    found = making.only("ClusterName", "PrincipalArn", "Type", "KubernetesGroups", "Username", "Tags")
    entry = arn("eks", f"access-entry/{found['ClusterName']}/{found['PrincipalArn']}")
    return Physical(ref=entry, attributes={"AccessEntryArn": entry})


def _slack_channel(making: Making) -> Physical:
    found = making.only(
        "ConfigurationName",
        "CustomizationResourceArns",
        "GuardrailPolicies",
        "IamRoleArn",
        "LoggingLevel",
        "SlackChannelId",
        "SlackWorkspaceId",
        "SnsTopicArns",
        "Tags",
        "UserRoleRequired",
    )
    name = f"slack-{found['SlackChannelId']}"
    url = making.client("sqs").create_queue(QueueName=name)["QueueUrl"]
    for topic in found.get("SnsTopicArns", []):
        making.client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn("sqs", name))
    channel = f"arn:aws:chatbot::{making.name(None, 64)}"
    return Physical(ref=channel, attributes={"Arn": channel, "ChannelQueueUrl": url})


def custom(making: Making) -> Physical:
    """A resource of somebody's own: its function is asked when the account is at work."""
    return Physical(ref=making.name(None, 128))


CREATORS: dict[str, Creator] = {
    "AWS::EKS::AccessEntry": _access_entry,
    "AWS::Chatbot::SlackChannelConfiguration": _slack_channel,
}
