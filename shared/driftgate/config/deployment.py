"""The shape of `deployment` in driftgate.yaml: what stands in AWS, whom it tells, from where it reaches clusters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from driftgate.config.map import Map
from driftgate.config.refusal import refusal
from driftgate.config.scalars import (
    DeploymentName,
    Email,
    GroupName,
    PlacementName,
    SecretArn,
    SecurityGroupId,
    SlackChannel,
    SlackWorkspace,
    SubnetId,
)
from driftgate.domain.policy import ClusterPolicy
from driftgate.domain.rights import DEFAULT_GROUP

# Source: aws docs, AWS::Logs::LogGroup, RetentionInDays (2026).
RetentionDays = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653
]


def _some(entries: tuple[str, ...]) -> tuple[str, ...]:
    if not entries:
        raise refusal("is empty", "Name one.")
    return entries


_SOME = AfterValidator(_some)


class Chat(Map):
    """A Slack channel behind Amazon Q Developer in chat applications; the workspace is authorised by hand first."""

    workspace: SlackWorkspace = Field(examples=["T0123ABCD"])
    channel: SlackChannel = Field(examples=["C0123ABCD"])


class Slack(Map):
    """A Slack channel that driftgate writes to itself, with the bot token or webhook URL in that secret."""

    secret: SecretArn = Field(examples=["arn:aws:secretsmanager:eu-central-1:111122223333:secret:slack-a1B2c3"])
    channel: SlackChannel | None = Field(default=None, examples=["C0123ABCD"])


class Placement(Map):
    """A VPC from which clusters with private endpoints are reached, by a worker and a closer of its own."""

    name: PlacementName = Field(examples=["eu-private"])
    subnets: Annotated[tuple[SubnetId, ...], _SOME] = Field(examples=["[subnet-0a1b2c3d4e5f60718]"])
    security_groups: Annotated[tuple[SecurityGroupId, ...], _SOME] = Field(examples=["[sg-0a1b2c3d4e5f60718]"])


class Deployment(Map):
    """One deployment of driftgate in an account and region. Its name is in use once in an account."""

    name: DeploymentName = ClusterPolicy(cluster="").deployment
    log_retention_days: RetentionDays = 90
    archive_days: Annotated[int, Field(ge=1)] | None = None
    closer_concurrency: Annotated[int, Field(ge=0)] = 10
    access_entries: Literal["create", "print"] = "create"
    kubernetes_group: GroupName = DEFAULT_GROUP
    emails: tuple[Email, ...] = ()
    chat: Chat | None = None
    slack: Slack | None = None
    placements: tuple[Placement, ...] = ()
