"""What the functions may do in AWS, said once: exact actions, named resources, conditions where AWS has them.

Nothing here can end an instance, evict a pod, pass a role, or read a secret.
Source: aws docs, service authorization reference (2026).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import aws_cdk as cdk
from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from driftgate.contract import EVENT_SOURCE, channel_prefix, seen_prefix
from infra.patterns import fitted, length
from infra.settings import EksCluster, StackSettings

ROOM = 2400
"""Characters for one list of resources, of the 10,240 that all inline policies of a role may have.

Source: aws docs, IAM/latest/UserGuide/reference_iam-quotas (2026).
"""

CLUSTER_ARN = len("arn:aws-us-gov:eks:us-gov-west-1:111122223333:cluster/")
"""Of the longest kind, without the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One statement. `why` says why a `*` stands among its resources; where none does, it is ""."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, object] = field(default_factory=dict)
    why: str = ""
    is_denial: bool = False

    def statement(self) -> iam.PolicyStatement:
        return iam.PolicyStatement(
            effect=iam.Effect.DENY if self.is_denial else iam.Effect.ALLOW,
            actions=list(self.actions),
            resources=list(self.resources),
            conditions=self.conditions,
        )


def allow(
    actions: Iterable[str],
    resources: Iterable[str],
    conditions: Mapping[str, object] | None = None,
    *,
    why: str = "",
) -> Grant:
    return Grant(actions=tuple(actions), resources=tuple(resources), conditions=conditions or {}, why=why)


def policy(grants: Iterable[Grant]) -> dict[str, iam.PolicyDocument]:
    """The inline policy of a role that may do this and nothing else."""
    return {"driftgate": iam.PolicyDocument(statements=[grant.statement() for grant in grants])}


def explain(role: IConstruct, grants: Iterable[Grant]) -> None:
    """Tells cdk-nag why each `*` of the role's policy is there. One without a reason is left for it to find."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for grant in grants:
        for resource in grant.resources:
            if "*" in resource and grant.why:
                reasons[_as_nag_has_it(resource)].append(grant.why)
    found = [
        cdk.Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=" ".join(dict.fromkeys(why)))
        for resource, why in reasons.items()
    ]
    if found:
        cdk.Validations.of(role).acknowledge(*found)


def _as_nag_has_it(resource: str) -> str:
    for token, name in ((Aws.PARTITION, "Partition"), (Aws.REGION, "Region"), (Aws.ACCOUNT_ID, "AccountId")):
        resource = resource.replace(token, f"<AWS::{name}>")
    return resource


def arn(service: str, resource: str, *, region: str | None = None, account: str | None = None) -> str:
    """None: the region and account of the stack."""
    where = (Aws.REGION if region is None else region, Aws.ACCOUNT_ID if account is None else account)
    return f"arn:{Aws.PARTITION}:{service}:{':'.join(where)}:{resource}"


def write_logs(group_arn: str) -> Grant:
    return allow(["logs:CreateLogStream", "logs:PutLogEvents"], [group_arn])


def trace() -> Grant:
    actions = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
    return allow(actions, ["*"], why="X-Ray has no resources to name.")


INTERFACES = (
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
)


def live_in_a_vpc() -> list[Grant]:
    """What Lambda needs to give a function its network interfaces; the function's own code may not do it.

    Source: aws docs, lambda/latest/dg/configuration-vpc (2026).
    """
    code = {"ArnLike": {"lambda:SourceFunctionArn": arn("lambda", "function:*")}}
    why = "Lambda asks for its network interfaces on *, and the same is denied to the function's code."
    return [
        allow(INTERFACES, ["*"], why=why),
        Grant(actions=INTERFACES, resources=("*",), conditions=code, why=why, is_denial=True),
    ]


def send_to(queue_arns: Iterable[str]) -> Grant:
    return allow(["sqs:SendMessage"], queue_arns)


def receive_from(queue_arn: str) -> Grant:
    """What Lambda needs to work a queue."""
    return allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], [queue_arn])


def use_table(table_arn: str, *actions: str) -> Grant:
    return allow([f"dynamodb:{action}" for action in actions], [table_arn])


def invoke(function_arns: Iterable[str]) -> Grant:
    return allow(["lambda:InvokeFunction"], function_arns)


def put_events(bus_arn: str) -> Grant:
    """In no other name than ours."""
    return allow(["events:PutEvents"], [bus_arn], {"StringEquals": {"events:source": EVENT_SOURCE}})


def publish_to(topic_arn: str, key_arn: str) -> list[Grant]:
    """To an encrypted topic; SNS uses its key in the publisher's name."""
    through_sns = {"StringEquals": {"kms:ViaService": f"sns.{Aws.REGION}.{Aws.URL_SUFFIX}"}}
    return [
        allow(["sns:Publish"], [topic_arn]),
        allow(["kms:GenerateDataKey", "kms:Decrypt"], [key_arn], through_sns),
    ]


def read_image_parameters(settings: StackSettings) -> list[Grant]:
    """AWS's public parameters; of our own the channels, and what the settings name.

    What an EC2NodeClass of this account follows beside them is refused, and told, until the settings name it.
    """
    public = arn("ssm", "parameter/aws/service/*", region="*", account="")
    channel = arn("ssm", f"parameter{channel_prefix(settings.deployment.name)}*")
    named = [_parameter(name, region) for name, region in settings.parameters]
    read = ["ssm:GetParameters"]
    return [
        allow(read, [public], why="AWS's public parameters are for everybody to read."),
        allow(read, [channel, *named], why="Which images are promoted is decided later."),
    ]


def _parameter(name: str, region: str | None) -> str:
    if name.startswith("arn:"):
        return name
    return arn("ssm", f"parameter/{name.removeprefix('/')}", region=region)


def mirror_images(settings: StackSettings) -> Grant:
    """To keep our own copies of what AWS offers."""
    ours = arn("ssm", f"parameter{seen_prefix(settings.deployment.name)}*")
    why = "Which images the clusters follow is seen at run time; the tree is this deployment's alone."
    return allow(["ssm:GetParameters", "ssm:PutParameter"], [ours], why=why)


def read_images(settings: StackSettings) -> Grant:
    why = "EC2 has no resources to name for reading images."
    return allow(["ec2:DescribeImages"], ["*"], _in_regions(settings), why=why)


def read_alarms(settings: StackSettings) -> Grant:
    actions = ["cloudwatch:DescribeAlarms", "cloudwatch:DescribeAlarmHistory", "cloudwatch:ListAlarmMuteRules"]
    why = "Scoped to alarms, CloudWatch leaves composite alarms out of its answers."
    return allow(actions, ["*"], _in_regions(settings), why=why)


def read_calendars(names: Iterable[str]) -> list[Grant]:
    """By name or ARN; nothing where there are none."""
    arns = [calendar(name) for name in names]
    return [allow(["ssm:GetCalendarState"], arns)] if arns else []


def calendar(name: str) -> str:
    """The ARN of a Change Calendar, which may be called by it already."""
    return name if name.startswith("arn:") else arn("ssm", f"document/{name}")


def reach_clusters(clusters: Sequence[EksCluster]) -> list[Grant]:
    """To ask EKS for the address of those of this account, and to take the roles of the others."""
    of_region: dict[str | None, list[str]] = defaultdict(list)
    for cluster in clusters:
        if cluster.role is None:
            of_region[cluster.region].append(cluster.name)
    own = [
        arn("eks", f"cluster/{name}", region=region)
        for region, names in of_region.items()
        for name in fitted(names, ROOM // len(of_region), each=CLUSTER_ARN)
    ]
    why = "The clusters are too many to be listed in a role's policy; these are the beginnings of their names."
    asked = [allow(["eks:DescribeCluster"], own, why=why)] if own else []
    return asked + take_roles([each.role for each in clusters if each.role is not None])


def take_roles(roles: Iterable[str]) -> list[Grant]:
    """Those of other accounts; where they are too many to be listed, by their names in any account."""
    taken = list(dict.fromkeys(roles))
    if length(taken) > ROOM:
        taken = list(dict.fromkeys(":".join([*role.split(":")[:4], "*", role.split(":")[5]]) for role in taken))
    why = "The roles are too many to be listed in a role's policy, and each says itself who may take it."
    return [allow(["sts:AssumeRole"], taken, why=why)] if taken else []


def _in_regions(settings: StackSettings) -> dict[str, object]:
    return {"StringEquals": {"aws:RequestedRegion": [Aws.REGION, *settings.regions]}}
