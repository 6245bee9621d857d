"""IAM's answers: what allows, what denies, and that nothing unknown passes."""

from __future__ import annotations

import pytest

from infra.local.iam.evaluation import Authority, Need, Principal, PrincipalKind
from infra.local.iam.statements import UnknownPolicyElementError, statements_of

ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/watcher"
TABLE = f"arn:aws:dynamodb:eu-central-1:{ACCOUNT}:table/rolls"
TOPIC = f"arn:aws:sns:eu-central-1:{ACCOUNT}:rolls"
KEY = f"arn:aws:kms:eu-central-1:{ACCOUNT}:key/1"
WATCHER = Principal(kind=PrincipalKind.ROLE, name=ROLE)
EVENTS = Principal(kind=PrincipalKind.SERVICE, name="events.amazonaws.com")


def policy(*statements, origin="Policy"):
    return statements_of({"Version": "2012-10-17", "Statement": list(statements)}, origin)


def allow(action, resource=TABLE, **more):
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def deny(action, resource=TABLE, **more):
    return allow(action, resource, **more) | {"Effect": "Deny"}


def may(action, resource=TABLE, *, own=(), of_resource=None, by=WATCHER, **context):
    authority = Authority(ACCOUNT, {ROLE: policy(*own)}, {r: policy(*s) for r, s in (of_resource or {}).items()})
    found = {key.replace("_", ":"): (value,) for key, value in context.items()}
    return authority.decide(by, Need(action=action, resource=resource, context=found)).is_allowed


def test_nothing_is_allowed_by_itself():
    assert not may("dynamodb:Query")


@pytest.mark.parametrize(
    ("action", "resource", "allowed"),
    [
        ("dynamodb:Query", TABLE, True),
        ("DynamoDB:query", TABLE, True),
        ("dynamodb:Q*", TABLE, True),
        ("dynamodb:Quer?", TABLE, True),
        ("dynamodb:GetItem", TABLE, False),
        ("dynamodb:Query", "*", True),
        ("dynamodb:Query", f"{TABLE}/index/*", False),
        ("dynamodb:Query", "arn:aws:dynamodb:*:*:table/rolls", True),
        ("dynamodb:Query", TABLE.replace("rolls", "Rolls"), False),
        ("dynamodb:Query", TABLE.replace("rolls", "rol[l]s"), False),
    ],
)
def test_an_allowance_fits_by_action_and_resource(action, resource, allowed):
    assert may("dynamodb:Query", own=[allow(action, resource)]) is allowed


def test_a_list_of_resources_does_not_allow_an_action_that_knows_none():
    assert not may("ec2:DescribeImages", "*", own=[allow("ec2:DescribeImages", "arn:aws:ec2:*:*:image/*")])


def test_an_explicit_denial_wins_over_an_allowance():
    assert not may("dynamodb:Query", own=[allow("dynamodb:*", "*"), deny("dynamodb:Query")])


def test_a_resources_own_policy_allows_whom_it_names():
    names = allow("sns:Publish", TOPIC, Principal={"AWS": ROLE})

    assert may("sns:Publish", TOPIC, of_resource={TOPIC: [names]})
    assert not may("sns:Publish", TOPIC, of_resource={TOPIC: [names | {"Principal": {"AWS": ROLE + "2"}}]})
    assert not may("sns:Publish", TOPIC, of_resource={TOPIC + "2": [names]})


def test_a_resources_denial_for_everybody_reaches_a_role_that_its_own_policy_allows():
    insecure = deny("sns:*", TOPIC, Principal="*", Condition={"Bool": {"aws:SecureTransport": "false"}})

    def publish(secure):
        return may(
            "sns:Publish",
            TOPIC,
            own=[allow("sns:Publish", TOPIC)],
            of_resource={TOPIC: [insecure]},
            aws_securetransport=secure,
        )

    assert publish("true")
    assert not publish("false")


def test_a_service_is_allowed_only_by_the_resources_policy():
    names = allow("sns:Publish", TOPIC, Principal={"Service": "events.amazonaws.com"})

    assert may("sns:Publish", TOPIC, by=EVENTS, of_resource={TOPIC: [names]})
    assert not may("sns:Publish", TOPIC, by=EVENTS, own=[allow("sns:Publish", TOPIC)])


def test_a_key_hands_over_to_the_roles_own_policy_only_if_it_says_so():
    own = [allow("kms:Decrypt", KEY)]
    root = allow("kms:*", "*", Principal={"AWS": f"arn:aws:iam::{ACCOUNT}:root"})

    assert may("kms:Decrypt", KEY, own=own, of_resource={KEY: [root]})
    assert not may("kms:Decrypt", KEY, own=own, of_resource={KEY: []})
    assert not may("kms:Decrypt", KEY, own=[], of_resource={KEY: [root]})


@pytest.mark.parametrize(
    ("condition", "found", "allowed"),
    [
        ({"StringEquals": {"events:source": ["driftgate", "other"]}}, "driftgate", True),
        ({"StringEquals": {"events:source": "drift*"}}, "driftgate", False),
        ({"StringLike": {"Events:Source": "drift*"}}, "driftgate", True),
        ({"StringNotEquals": {"events:source": "driftgate"}}, "driftgate", False),
        ({"StringNotLike": {"events:source": "x*"}}, "driftgate", True),
        ({"Null": {"events:source": "true"}}, "driftgate", False),
        ({"ForAnyValue:StringEquals": {"events:source": "driftgate"}}, "driftgate", True),
        ({"StringEquals": {"events:source": "driftgate"}}, None, False),
        ({"StringEqualsIfExists": {"events:source": "driftgate"}}, None, True),
        ({"StringNotEquals": {"events:source": "driftgate"}}, None, True),
        ({"Null": {"events:source": "true"}}, None, True),
        ({"ForAllValues:StringEquals": {"events:source": "driftgate"}}, None, True),
    ],
)
def test_a_condition_is_held_against_what_the_call_says_of_itself(condition, found, allowed):
    context = {} if found is None else {"events_source": found}

    assert may("events:PutEvents", own=[allow("events:PutEvents", Condition=condition)], **context) is allowed


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        ("arn:aws:events:eu-central-1:123456789012:rule/*", True),
        ("arn:aws:events:*:123456789012:rule/alarm", True),
        ("arn:aws:events:*:rule/alarm", False),
        ("arn:aws:events:eu-central-1:123456789012:rule/other", False),
    ],
)
def test_an_arns_wildcard_does_not_reach_over_a_colon(pattern, allowed):
    statement = allow(
        "sns:Publish",
        TOPIC,
        Principal={"Service": "events.amazonaws.com"},
        Condition={"ArnLike": {"aws:SourceArn": pattern}},
    )
    source = "arn:aws:events:eu-central-1:123456789012:rule/alarm"

    assert may("sns:Publish", TOPIC, by=EVENTS, of_resource={TOPIC: [statement]}, aws_sourcearn=source) is allowed


@pytest.mark.parametrize(
    "statement",
    [
        {"Effect": "Allow", "NotAction": "sns:*", "Resource": "*"},
        {"Effect": "Allow", "Action": "sns:*", "NotResource": TOPIC},
        {"Effect": "Perhaps", "Action": "sns:*", "Resource": "*"},
        allow("sns:*", "arn:aws:sns:*:*:${aws:username}"),
        allow("sns:*", {"Ref": "Topic"}),
    ],
)
def test_what_is_not_evaluated_is_refused_as_it_is_read(statement):
    with pytest.raises(UnknownPolicyElementError, match="Policy"):
        policy(statement)


@pytest.mark.parametrize(
    "condition", [{"DateLessThan": {"events:source": "2026"}}, {"StringEquals": {"aws:MultiFactorAuthAge": "1"}}]
)
def test_a_condition_that_is_not_known_is_refused_as_it_is_asked(condition):
    with pytest.raises(UnknownPolicyElementError, match="not known here"):
        may("sns:Publish", own=[allow("sns:Publish", "*", Condition=condition)], events_source="x")
