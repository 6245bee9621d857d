"""The topic that carries driftgate's messages: who may publish, under which key, and who reads."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.templates import ACCOUNT
from tests.infra.told import told

KEY_USE = {"kms:Decrypt", "kms:GenerateDataKey*"}
RULES = "arn:aws:events:eu-central-1:111122223333:rule/*"


def of_service(policy: Any, service: str) -> list[Any]:
    """The statements that speak of the service."""
    return [s for s in policy["Statement"] if s["Principal"] == {"Service": service}]


def the_key() -> Any:
    return told().one("AWS::KMS::Key", "Messages")


def the_policy() -> Any:
    return told().one("AWS::SNS::TopicPolicy", "Messages")["PolicyDocument"]


def test_the_topic_is_encrypted_with_a_key_of_its_own_that_is_rotated():
    topic = told().one("AWS::SNS::Topic", "Messages")

    assert topic["KmsMasterKeyId"] == "MessagesKey.Arn"
    assert the_key()["EnableKeyRotation"] is True


def test_rules_may_use_the_key_without_a_condition_which_eventbridge_could_not_meet():
    (statement,) = of_service(the_key()["KeyPolicy"], "events.amazonaws.com")

    assert set(statement["Action"]) == KEY_USE
    assert "Condition" not in statement


def test_alarms_of_this_account_may_use_the_key():
    (statement,) = of_service(the_key()["KeyPolicy"], "cloudwatch.amazonaws.com")

    assert set(statement["Action"]) == KEY_USE
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}


@pytest.mark.parametrize(
    ("service", "condition"),
    [
        ("cloudwatch.amazonaws.com", {"StringEquals": {"aws:SourceAccount": ACCOUNT}}),
        ("events.amazonaws.com", {"ArnLike": {"aws:SourceArn": RULES}}),
    ],
)
def test_alarms_and_rules_of_this_account_alone_may_publish(service, condition):
    (statement,) = of_service(the_policy(), service)

    assert (statement["Effect"], statement["Action"]) == ("Allow", "sns:Publish")
    assert statement["Condition"] == condition


def test_nobody_publishes_without_tls():
    denied = [s for s in the_policy()["Statement"] if s["Effect"] == "Deny"]

    assert [(s["Principal"], s["Condition"]) for s in denied] == [("*", {"Bool": {"aws:SecureTransport": "false"}})]


@pytest.mark.parametrize("function", ["reconcile_cluster@eu", "close_budgets@eu", "watch_amis"])
def test_whoever_tells_may_publish_and_use_the_key_through_sns_alone(function):
    role = told().functions()[function]["Role"].partition(".")[0]
    statements = told().one("AWS::IAM::Role", role)["Policies"][0]["PolicyDocument"]["Statement"]

    (publish,) = [s for s in statements if s["Action"] == "sns:Publish"]
    (key,) = [s for s in statements if s["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]]
    assert publish["Resource"] == "MessagesTopic"
    assert key["Resource"] == "MessagesKey.Arn"
    assert key["Condition"] == {"StringEquals": {"kms:ViaService": "sns.eu-central-1.amazonaws.com"}}


def test_every_address_gets_mail():
    subscriptions = told().of_type("AWS::SNS::Subscription").values()

    mail = [each["Endpoint"] for each in subscriptions if each["Protocol"] == "email"]
    assert mail == ["ops@example.com", "night@example.com"]


def test_amazon_q_shows_the_topic_in_the_channel_and_can_do_nothing():
    chat = told().one("AWS::Chatbot::SlackChannelConfiguration", "Messages")

    assert (chat["SlackWorkspaceId"], chat["SlackChannelId"]) == ("T0123ABCD", "C0123ABCD")
    assert (chat["ConfigurationName"], chat["SnsTopicArns"]) == ("driftgate-prod", ["MessagesTopic"])
    assert chat["GuardrailPolicies"] == ["arn:aws:iam::aws:policy/AWSDenyAll"]
    role = told().one("AWS::IAM::Role", chat["IamRoleArn"].partition(".")[0])
    assert "Policies" not in role
    assert "ManagedPolicyArns" not in role


def test_without_settings_nobody_is_subscribed(small):
    assert small.of_type("AWS::SNS::Subscription") == {}
    assert small.of_type("AWS::Chatbot::SlackChannelConfiguration") == {}
