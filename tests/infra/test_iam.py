"""What each role may do, action by action; what none of them may ever do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

LEDGER = "LedgerTable.Arn"
PUBLIC = "arn:aws:ssm:*::parameter/aws/service/*"
CHANNEL = "arn:aws:ssm:eu-central-1:111122223333:parameter/driftgate/prod/channel/*"
SEEN = "arn:aws:ssm:eu-central-1:111122223333:parameter/driftgate/prod/seen/*"
GOLDEN = "arn:aws:ssm:eu-west-1:111122223333:parameter/golden/image_id"
CALENDARS = (
    "arn:aws:ssm:eu-central-1:111122223333:document/holidays",
    "arn:aws:ssm:eu-central-1:111122223333:document/maintenance",
)
TEST, FAR, SHOP = (
    "arn:aws:eks:eu-central-1:111122223333:cluster/test",
    "arn:aws:eks:eu-west-1:111122223333:cluster/far",
    "arn:aws:eks:eu-central-1:111122223333:cluster/shop",
)
OTHER, ALARMS = "arn:aws:iam::444455556666:role/driftgate", "arn:aws:iam::444455556666:role/alarms"
TRACE = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
INTERFACES = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
}
TELL = {
    "EventsBus.Arn": {"events:PutEvents"},
    "MessagesTopic": {"sns:Publish"},
    "MessagesKey.Arn": {"kms:Decrypt", "kms:GenerateDataKey"},
}
CLOSE = {"dynamodb:BatchGetItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"}
WORK = {"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage", "sqs:SendMessage"}
LOOK = {
    "cloudwatch:DescribeAlarmHistory",
    "cloudwatch:DescribeAlarms",
    "cloudwatch:ListAlarmMuteRules",
    "ec2:DescribeImages",
}
FAILED = {"FailuresQueue.Arn": {"sqs:SendMessage"}}
EXPECTED = {
    "EvaluateDriftRole": {
        LEDGER: {"dynamodb:Query"},
        "PlacementdefaultWorkQueue.Arn": {"sqs:SendMessage"},
        "PlacementeuWorkQueue.Arn": {"sqs:SendMessage"},
        "PlacementdefaultCloserFunction.Arn": {"lambda:InvokeFunction"},
        "PlacementeuCloserFunction.Arn": {"lambda:InvokeFunction"},
        "EvaluateDriftLogs.Arn": LOGS,
        "*": TRACE,
        **FAILED,
    },
    "WatchAmisRole": {
        LEDGER: {"dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:Query"},
        PUBLIC: {"ssm:GetParameters"},
        CHANNEL: {"ssm:GetParameters"},
        GOLDEN: {"ssm:GetParameters"},
        SEEN: {"ssm:GetParameters", "ssm:PutParameter"},
        OTHER: {"sts:AssumeRole"},
        "WatchAmisLogs.Arn": LOGS,
        "*": TRACE | {"ec2:DescribeImages"},
        **TELL,
        **FAILED,
    },
    "PlacementdefaultCloserRole": {
        LEDGER: CLOSE,
        TEST: {"eks:DescribeCluster"},
        FAR: {"eks:DescribeCluster"},
        OTHER: {"sts:AssumeRole"},
        "PlacementdefaultCloserLogs.Arn": LOGS,
        "*": TRACE,
        **TELL,
        **FAILED,
    },
    "PlacementdefaultWorkerRole": {
        LEDGER: CLOSE | {"dynamodb:ConditionCheckItem"},
        "PlacementdefaultWorkQueue.Arn": WORK,
        TEST: {"eks:DescribeCluster"},
        FAR: {"eks:DescribeCluster"},
        OTHER: {"sts:AssumeRole"},
        ALARMS: {"sts:AssumeRole"},
        **{calendar: {"ssm:GetCalendarState"} for calendar in CALENDARS},
        PUBLIC: {"ssm:GetParameters"},
        CHANNEL: {"ssm:GetParameters"},
        GOLDEN: {"ssm:GetParameters"},
        "PlacementdefaultWorkerLogs.Arn": LOGS,
        "*": TRACE | LOOK,
        **TELL,
        **FAILED,
    },
    "PlacementeuCloserRole": {
        LEDGER: CLOSE,
        SHOP: {"eks:DescribeCluster"},
        "PlacementeuCloserLogs.Arn": LOGS,
        "*": TRACE | INTERFACES,
        **TELL,
        **FAILED,
    },
    "PlacementeuWorkerRole": {
        LEDGER: CLOSE | {"dynamodb:ConditionCheckItem"},
        "PlacementeuWorkQueue.Arn": WORK,
        SHOP: {"eks:DescribeCluster"},
        ALARMS: {"sts:AssumeRole"},
        **{calendar: {"ssm:GetCalendarState"} for calendar in CALENDARS},
        PUBLIC: {"ssm:GetParameters"},
        CHANNEL: {"ssm:GetParameters"},
        GOLDEN: {"ssm:GetParameters"},
        "PlacementeuWorkerLogs.Arn": LOGS,
        "*": TRACE | LOOK | INTERFACES,
        **TELL,
        **FAILED,
    },
    "NotifierNotifySlackRole": {
        LEDGER: {"dynamodb:BatchGetItem", "dynamodb:PutItem"},
        "arn:aws:secretsmanager:eu-central-1:111122223333:secret:slack-a1B2c3": {"secretsmanager:GetSecretValue"},
        "NotifierUntoldQueue.Arn": {"sqs:SendMessage"},
        "NotifierNotifySlackLogs.Arn": LOGS,
        "*": TRACE,
    },
    "FleetClosingCloseFleetRole": {
        LEDGER: {"dynamodb:Query", "dynamodb:UpdateItem"},
        "PlacementdefaultCloserFunction.Arn": {"lambda:InvokeFunction"},
        "PlacementeuCloserFunction.Arn": {"lambda:InvokeFunction"},
        "FleetClosingCloseFleetLogs.Arn": LOGS,
        "*": TRACE,
        **FAILED,
    },
    "MessagesChatRole": {},
    "SchedulesRole": {
        "EvaluateDriftFunction.Arn": {"lambda:InvokeFunction"},
        "WatchAmisFunction.Arn": {"lambda:InvokeFunction"},
        **FAILED,
    },
}
FORBIDDEN = re.compile(
    r"""
    \*                                                      # any wildcard of actions
    | iam: | sts:(?!AssumeRole$)                            # pass a role, or become somebody unnamed
    | ec2:(Terminate|Stop|Reboot|Run|Modify|Detach)         # end or change an instance
    | autoscaling: | eks:(?!DescribeCluster$)               # nodes, node groups, clusters
    | secretsmanager:(?!GetSecretValue$) | ssm:(Get|Delete)Parameter(sByPath)?$
    | kms:(?!(Decrypt|GenerateDataKey)$)
    | dynamodb:(Delete|Update|Create)Table | s3: | :(Create|Delete|Put)(Rule|Function|Queue|Role)
    """,
    re.VERBOSE,
)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(template: Any, role: str) -> list[Any]:
    found = template.one("AWS::IAM::Role", role).get("Policies", [])
    return [statement for policy in found for statement in policy["PolicyDocument"]["Statement"]]


def allowed(template: Any, role: str) -> dict[str, set[str]]:
    """Actions by resource."""
    found: dict[str, set[str]] = {}
    for statement in statements(template, role):
        for resource in listed(statement["Resource"]) if statement["Effect"] == "Allow" else ():
            found.setdefault(resource, set()).update(listed(statement["Action"]))
    return found


def every_statement(template: Any) -> Iterator[tuple[str, Any]]:
    for role in template.of_type("AWS::IAM::Role"):
        yield from ((role, statement) for statement in statements(template, role))


@pytest.mark.parametrize("role", EXPECTED)
def test_a_role_may_do_exactly_this(fleet, role):
    assert allowed(fleet, role) == EXPECTED[role]


def test_there_are_no_other_roles_and_policies_than_those(fleet):
    assert set(fleet.of_type("AWS::IAM::Role")) == set(EXPECTED)
    assert fleet.of_type("AWS::IAM::Policy") == {}
    assert fleet.of_type("AWS::IAM::ManagedPolicy") == {}
    assert all("ManagedPolicyArns" not in role for role in fleet.of_type("AWS::IAM::Role").values())


def test_no_role_may_end_a_node_pass_a_role_or_change_what_is_deployed(fleet):
    actions = {action for _, statement in every_statement(fleet) for action in listed(statement["Action"])}

    assert [action for action in sorted(actions) if FORBIDDEN.search(action)] == []


@pytest.mark.parametrize(
    "action",
    [
        "ec2:TerminateInstances",
        "iam:PassRole",
        "dynamodb:*",
        "sts:AssumeRoleWithWebIdentity",
        "eks:DeleteNodegroup",
        "autoscaling:TerminateInstanceInAutoScalingGroup",
        "secretsmanager:ListSecrets",
        "ssm:GetParameter",
        "kms:CreateGrant",
        "lambda:CreateFunction",
    ],
)
def test_what_is_forbidden_would_be_found(action):
    assert FORBIDDEN.search(action)


def test_only_the_notifier_reads_a_secret_and_only_that_one(fleet):
    found = {
        (role, resource)
        for role, statement in every_statement(fleet)
        for resource in listed(statement["Resource"])
        if any(action.startswith("secretsmanager:") for action in listed(statement["Action"]))
    }

    secret = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:slack-a1B2c3"
    assert found == {("NotifierNotifySlackRole", secret)}


def test_roles_are_taken_by_name_alone(fleet):
    taken = {
        resource
        for _, statement in every_statement(fleet)
        if "sts:AssumeRole" in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }

    assert taken == {OTHER, ALARMS}


def test_who_may_take_a_role_is_lambda_and_the_scheduler_and_chat(fleet):
    found = {}
    for name, role in fleet.of_type("AWS::IAM::Role").items():
        (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
        found[name] = (statement["Principal"]["Service"], statement.get("Condition", {}))

    scheduler = {
        "StringEquals": {"aws:SourceAccount": "111122223333"},
        "ArnEquals": {"aws:SourceArn": "arn:aws:scheduler:eu-central-1:111122223333:schedule-group/driftgate-prod"},
    }
    assert found.pop("SchedulesRole") == ("scheduler.amazonaws.com", scheduler)
    assert found.pop("MessagesChatRole")[0] == "chatbot.amazonaws.com"
    assert set(map(str, found.values())) == {"('lambda.amazonaws.com', {})"}


def test_reads_that_know_no_resources_are_kept_to_the_regions_in_use(fleet):
    regions = {"StringEquals": {"aws:RequestedRegion": ["eu-central-1", "eu-west-1", "us-east-1"]}}
    found = [
        statement["Condition"]
        for _, statement in every_statement(fleet)
        if statement["Resource"] == "*" and LOOK & set(listed(statement["Action"]))
    ]

    assert found == [regions] * 3


def test_events_are_put_in_no_other_name_than_ours(fleet):
    found = [
        statement.get("Condition")
        for _, statement in every_statement(fleet)
        if "events:PutEvents" in listed(statement["Action"])
    ]

    assert found == [{"StringEquals": {"events:source": "driftgate"}}] * 5


def test_code_in_a_vpc_may_not_touch_network_interfaces_itself(fleet):
    for role in ("PlacementeuWorkerRole", "PlacementeuCloserRole"):
        (denial,) = (each for each in statements(fleet, role) if each["Effect"] == "Deny")

        assert set(denial["Action"]) == INTERFACES
        assert denial["Resource"] == "*"
        assert denial["Condition"] == {
            "ArnLike": {"lambda:SourceFunctionArn": "arn:aws:lambda:eu-central-1:111122223333:function:*"}
        }


def test_roles_that_access_entries_name_have_names_that_never_change(fleet):
    named = {name: role["RoleName"] for name, role in fleet.of_type("AWS::IAM::Role").items() if "RoleName" in role}

    assert named == {
        "PlacementdefaultWorkerRole": "driftgate-prod-worker-default",
        "PlacementdefaultCloserRole": "driftgate-prod-closer-default",
        "PlacementeuWorkerRole": "driftgate-prod-worker-eu",
        "PlacementeuCloserRole": "driftgate-prod-closer-eu",
    }
