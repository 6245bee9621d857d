"""What roles are allowed against what a night asks of IAM: nothing is missing, and what is left over is said here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infra.local.cloud.server import ACCOUNT
from infra.local.iam.evaluation import Authority
from infra.local.iam.record import Permission
from tests.infra.template_night import Night, baseline

pytestmark = pytest.mark.slow
FUNCTIONS = ("evaluate_drift", "watch_amis", "reconcile_cluster", "close_budgets", "close_fleet")
ONLY_WHERE_SOMETHING_FAILS = {
    ("Schedules", "sqs:SendMessage", "FailuresQueue"),
    # what the topic does not take is kept there
    ("reconcile_cluster", "sqs:SendMessage", "FailuresQueue"),
    ("evaluate_drift", "lambda:InvokeFunction", "CloserFunction"),
}
ONLY_WHERE_A_GATE_STANDS_OPEN_AS_THE_STACK_GOES = {("close_fleet", "lambda:InvokeFunction", "CloserFunction")}
ONLY_IN_A_PROCESS_OF_ITS_OWN = {
    (name, action, "log-group") for name in FUNCTIONS for action in ("logs:CreateLogStream", "logs:PutLogEvents")
}
ONLY_ON_OTHER_NIGHTS = {
    # an image that was taken back is told
    ("watch_amis", "events:PutEvents", "event-bus"),
    ("watch_amis", "sns:Publish", "Topic"),
    ("watch_amis", "kms:GenerateDataKey", "key"),
    ("watch_amis", "kms:Decrypt", "key"),
    # a node class that follows a channel
    ("watch_amis", "ssm:GetParameters", "channel"),
    ("reconcile_cluster", "ssm:GetParameters", "channel"),
    # a roll that outlasts its slice queues the next
    ("reconcile_cluster", "sqs:SendMessage", "WorkQueue"),
    # a roll, a stop or a count that somebody else wrote meanwhile
    ("reconcile_cluster", "dynamodb:UpdateItem", "table"),
    ("close_budgets", "dynamodb:DeleteItem", "table"),
}
AS_FAR_AS_IS_KNOWN_NEVER = {("close_budgets", "dynamodb:BatchGetItem", "table")}
NAMES = ("FailuresQueue", "WorkQueue", "CloserFunction", "log-group", "event-bus", "Topic", "channel", "table", "key")


def named(night: Night, permission: Permission) -> tuple[str, str, str]:
    """The permission in words that do not change with a digest."""
    labels = {function.role_arn: function.label for function in night.functions}
    role = labels.get(permission.role) or ("Schedules" if "Schedules" in permission.role else permission.role)
    return role, permission.action, next((name for name in NAMES if name in permission.resource), permission.resource)


def test_what_is_allowed_and_not_used_in_a_night_is_known_and_for_a_reason():
    night = baseline()

    unused = {named(night, permission) for permission in night.unused}

    assert unused - AS_FAR_AS_IS_KNOWN_NEVER == (
        ONLY_WHERE_SOMETHING_FAILS
        | ONLY_WHERE_A_GATE_STANDS_OPEN_AS_THE_STACK_GOES
        | ONLY_IN_A_PROCESS_OF_ITS_OWN
        | ONLY_ON_OTHER_NIGHTS
    )


def is_missed(night: Night, permission: Permission) -> bool:
    """Whether the same night would be refused something without this permission."""
    roles = dict(night.authority.roles)
    roles[permission.role] = tuple(
        replace(
            statement,
            actions=tuple(action for action in statement.actions if action != permission.action)
            if permission.resource in statement.resources
            else statement.actions,
        )
        for statement in roles[permission.role]
    )
    without = Authority(ACCOUNT, roles, night.authority.resources)
    return not all(without.decide(principal, need).is_allowed for principal, need in night.asked)


def test_no_permission_that_the_night_used_could_be_left_out():
    night = baseline()
    used = {
        Permission(role=role, action=action, resource=resource)
        for role, statements in night.authority.roles.items()
        for statement in statements
        for action in statement.actions
        for resource in statement.resources
    } - set(night.unused)

    assert [named(night, permission) for permission in sorted(used) if not is_missed(night, permission)] == []
    assert len(used) > 40
