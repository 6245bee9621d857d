"""The notifier of Slack: what it is told, what it may do, and where lies what it could not tell."""

from __future__ import annotations

from typing import Any

from driftgate.contract import Env
from tests.infra.told import SECRET, WEBHOOK, told


def the_function() -> Any:
    return told().functions()["notify_slack"]


def its_statements() -> list[Any]:
    role = the_function()["Role"].partition(".")[0]
    statements: list[Any] = told().one("AWS::IAM::Role", role)["Policies"][0]["PolicyDocument"]["Statement"]
    return statements


def its_invocations() -> Any:
    return told().one("AWS::Lambda::EventInvokeConfig", "Notifier")


def test_the_notifier_is_outside_of_any_vpc():
    assert "VpcConfig" not in the_function()


def test_the_notifier_is_told_what_it_uses_and_not_the_secret_itself():
    assert the_function()["Environment"]["Variables"] == {
        Env.SERVICE: "driftgate-prod",
        Env.TABLE: "LedgerTable",
        Env.SLACK_SECRET: SECRET,
        Env.SLACK_CHANNEL: "C0456EFGH",
    }


def test_a_webhook_needs_no_channel():
    variables = told(WEBHOOK).functions()["notify_slack"]["Environment"]["Variables"]

    assert Env.SLACK_CHANNEL not in variables


def test_the_notifier_may_read_the_one_secret_and_touch_its_own_threads_and_nothing_else():
    allowed = {str(s["Action"]): (s["Resource"], s.get("Condition")) for s in its_statements()}

    assert allowed == {
        "['dynamodb:BatchGetItem', 'dynamodb:PutItem']": (
            "LedgerTable.Arn",
            {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["slack#*"]}},
        ),
        "secretsmanager:GetSecretValue": (SECRET, None),
        "['logs:CreateLogStream', 'logs:PutLogEvents']": ("NotifierNotifySlackLogs.Arn", None),
        "['xray:PutTelemetryRecords', 'xray:PutTraceSegments']": ("*", None),
        "sqs:SendMessage": ("NotifierUntoldQueue.Arn", None),
    }


def test_the_topic_may_call_the_notifier_and_does():
    subscription = told().one("AWS::SNS::Subscription", "Notifier")
    permission = told().one("AWS::Lambda::Permission", "Notifier")

    function = f"{the_function()['Name']}.Arn"
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("lambda", function)
    assert (subscription["TopicArn"], permission["SourceArn"]) == ("MessagesTopic", "MessagesTopic")
    assert (permission["FunctionName"], permission["Principal"]) == (function, "sns.amazonaws.com")
    assert "FilterPolicy" not in subscription


def test_what_could_not_be_told_waits_in_one_queue_whoever_gave_up():
    subscription = told().one("AWS::SNS::Subscription", "Notifier")
    (policy,) = [
        each["PolicyDocument"]["Statement"]
        for each in told().of_type("AWS::SQS::QueuePolicy").values()
        if each["Queues"] == ["NotifierUntoldQueue"]
    ]

    assert subscription["RedrivePolicy"] == {"deadLetterTargetArn": "NotifierUntoldQueue.Arn"}
    assert its_invocations()["DestinationConfig"] == {"OnFailure": {"Destination": "NotifierUntoldQueue.Arn"}}
    (sns,) = [s for s in policy if s["Principal"] == {"Service": "sns.amazonaws.com"}]
    assert (sns["Action"], sns["Condition"]) == ("sqs:SendMessage", {"ArnEquals": {"aws:SourceArn": "MessagesTopic"}})
    assert told().one("AWS::SQS::Queue", "NotifierUntold")["MessageRetentionPeriod"] == 14 * 86400


def test_a_message_is_tried_three_times_and_each_try_has_time_to_wait_for_slack():
    assert its_invocations()["MaximumRetryAttempts"] == 2
    assert its_invocations()["MaximumEventAgeInSeconds"] == 6 * 3600
    assert the_function()["Timeout"] == 60


def test_without_slack_there_is_no_notifier(small):
    assert "notify_slack" not in small.functions()
