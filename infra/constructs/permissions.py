"""What the functions may do in AWS, said once: exact actions, named resources, conditions where AWS has them.

Nothing here can end an instance, evict a pod, pass a role, or read a secret.
Source: aws docs, service authorization reference (2026); the reasons for `*` stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from infra.settings import EksCluster

PUBLIC_IMAGES = ("eks/optimized-ami", "bottlerocket", "ami-windows-latest")
"""The trees of AWS's public parameters that name node images."""


def allow(
    actions: Sequence[str], resources: Iterable[str], conditions: Mapping[str, object] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(resources), conditions=conditions or None)


def arn(service: str, resource: str, *, region: str | None = None, account: str | None = None) -> str:
    """None: the region and account of the stack."""
    where = (Aws.REGION if region is None else region, Aws.ACCOUNT_ID if account is None else account)
    return f"arn:{Aws.PARTITION}:{service}:{':'.join(where)}:{resource}"


def write_logs(group_arn: str) -> iam.PolicyStatement:
    return allow(["logs:CreateLogStream", "logs:PutLogEvents"], [group_arn])


def trace() -> iam.PolicyStatement:
    """X-Ray has no resources to name."""
    return allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], ["*"])


def live_in_a_vpc() -> iam.PolicyStatement:
    """What Lambda needs to give a function its network interfaces."""
    return allow(
        [
            "ec2:CreateNetworkInterface",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeSubnets",
            "ec2:DeleteNetworkInterface",
            "ec2:AssignPrivateIpAddresses",
            "ec2:UnassignPrivateIpAddresses",
        ],
        ["*"],
    )


def send_to(queue_arns: Iterable[str]) -> iam.PolicyStatement:
    return allow(["sqs:SendMessage"], queue_arns)


def receive_from(queue_arn: str) -> iam.PolicyStatement:
    """What Lambda needs to work a queue."""
    return allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], [queue_arn])


def use_table(table_arn: str, *actions: str) -> iam.PolicyStatement:
    return allow([f"dynamodb:{action}" for action in actions], [table_arn])


def invoke(function_arns: Iterable[str]) -> iam.PolicyStatement:
    return allow(["lambda:InvokeFunction"], function_arns)


def tell(bus_arn: str, topic_arn: str) -> list[iam.PolicyStatement]:
    return [allow(["events:PutEvents"], [bus_arn]), allow(["sns:Publish"], [topic_arn])]


def read_public_images() -> iam.PolicyStatement:
    """AWS's own parameters, which have no account, in every region."""
    return allow(
        ["ssm:GetParameters"],
        [arn("ssm", f"parameter/aws/service/{t}/*", region="*", account="") for t in PUBLIC_IMAGES],
    )


def read_parameters(prefix: str) -> iam.PolicyStatement:
    return allow(["ssm:GetParameters"], [arn("ssm", f"parameter{prefix}*")])


def write_parameters(prefix: str) -> iam.PolicyStatement:
    return allow(["ssm:PutParameter"], [arn("ssm", f"parameter{prefix}*")])


def read_images() -> iam.PolicyStatement:
    """EC2 has no resources to name for it."""
    return allow(["ec2:DescribeImages"], ["*"])


def read_alarms() -> iam.PolicyStatement:
    """On `*`: scoped to alarms, CloudWatch leaves composite ones out of its answers."""
    return allow(
        ["cloudwatch:DescribeAlarms", "cloudwatch:DescribeAlarmHistory", "cloudwatch:ListAlarmMuteRules"], ["*"]
    )


def read_calendars(names: Iterable[str]) -> list[iam.PolicyStatement]:
    """By name or ARN; nothing where there are none."""
    arns = [name if name.startswith("arn:") else arn("ssm", f"document/{name}") for name in names]
    return [allow(["ssm:GetCalendarState"], arns)] if arns else []


def reach_clusters(clusters: Iterable[EksCluster]) -> list[iam.PolicyStatement]:
    """To ask EKS for the address of those of this account, and to take the roles of the others."""
    own = [arn("eks", f"cluster/{each.name}", region=each.region) for each in clusters if each.role is None]
    return [allow(["eks:DescribeCluster"], own)] if own else []


def take_roles(roles: Iterable[str]) -> list[iam.PolicyStatement]:
    taken = list(dict.fromkeys(roles))
    return [allow(["sts:AssumeRole"], taken)] if taken else []
