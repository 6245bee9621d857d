"""moto behind IAM, asked by real clients: who may, who may not, and what is heard."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from infra.local.cloud.answering import CallError
from infra.local.cloud.server import ACCOUNT, REGION, CloudServer
from infra.local.iam.evaluation import Authority
from infra.local.iam.record import Permission
from infra.local.iam.statements import statements_of

ROLE = f"arn:aws:iam::{ACCOUNT}:role/watcher"
KEY = "ASIAWATCHER000000001"
SSM = f"arn:aws:ssm:{REGION}:{ACCOUNT}"
PUBLIC = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"


@pytest.fixture
def cloud():
    with CloudServer() as found:
        yield found


def allow(cloud, **resources_by_action):
    statements = [
        {"Effect": "Allow", "Action": action.replace("_", ":", 1), "Resource": resource}
        for action, resource in resources_by_action.items()
    ]
    cloud.front.authority = Authority(ACCOUNT, {ROLE: statements_of({"Statement": statements}, "Policy")})
    cloud.front.admit(KEY, ROLE, "watch_amis")


def refused(call, **params):
    with pytest.raises(ClientError) as raised:
        call(**params)
    return raised.value.response["Error"]


def test_what_the_role_is_allowed_is_answered(cloud):
    allow(
        cloud, ssm_PutParameter=f"{SSM}:parameter/driftgate/*", ssm_GetParameters=f"arn:aws:ssm:{REGION}::parameter/*"
    )
    ssm = cloud.client("ssm", KEY)

    ssm.put_parameter(Name="/driftgate/seen", Value="ami-1", Type="String")

    assert ssm.get_parameters(Names=[PUBLIC])["Parameters"][0]["Name"] == PUBLIC
    assert cloud.front.record.refusals == []


def test_what_it_is_not_allowed_is_refused_in_awss_words_and_kept(cloud):
    allow(cloud, ssm_PutParameter=f"{SSM}:parameter/driftgate/*")

    error = refused(cloud.client("ssm", KEY).put_parameter, Name="/other", Value="ami-1", Type="String")

    assert error["Code"] == "AccessDeniedException"
    assert error["Message"] == (
        f"User: arn:aws:sts::{ACCOUNT}:assumed-role/watcher/watch_amis is not authorized to perform: ssm:PutParameter"
        f" on resource: {SSM}:parameter/other because no policy allows it"
    )
    assert [str(refusal) for refusal in cloud.front.record.refusals] == [
        f"{ROLE} may not ssm:PutParameter on {SSM}:parameter/other: no policy allows it"
    ]
    assert cloud.client("ssm").get_parameters(Names=["/other"])["Parameters"] == []


def test_one_forbidden_name_among_several_refuses_the_whole_call(cloud):
    allow(cloud, ssm_GetParameters=f"{SSM}:parameter/driftgate/*")

    error = refused(cloud.client("ssm", KEY).get_parameters, Names=["/driftgate/a", "/secret"])

    assert "parameter/secret" in error["Message"]


@pytest.mark.parametrize(
    ("service", "operation", "params", "code"),
    [
        ("ec2", "describe_images", {}, "UnauthorizedOperation"),
        ("sns", "publish", {"TopicArn": f"arn:aws:sns:{REGION}:{ACCOUNT}:t", "Message": "x"}, "AuthorizationError"),
        ("cloudwatch", "describe_alarms", {}, "AccessDeniedException"),
        ("eks", "describe_cluster", {"name": "demo"}, "AccessDeniedException"),
        ("sqs", "receive_message", {"QueueUrl": f"https://x/{ACCOUNT}/q"}, "AccessDeniedException"),
        ("sts", "assume_role", {"RoleArn": ROLE, "RoleSessionName": "me"}, "AccessDenied"),
    ],
)
def test_each_service_has_its_own_code_for_it(cloud, service, operation, params, code):
    allow(cloud)

    assert refused(getattr(cloud.client(service, KEY), operation), **params)["Code"] == code


def test_a_transaction_needs_what_each_of_its_items_stands_for(cloud):
    dynamodb = cloud.client("dynamodb")
    dynamodb.create_table(
        TableName="rolls",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    table = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/rolls"
    key = {"TableName": "rolls", "Key": {"pk": {"S": "b"}}}
    items = [
        {"Put": {"TableName": "rolls", "Item": {"pk": {"S": "a"}}}},
        {"ConditionCheck": key | {"ConditionExpression": "attribute_not_exists(pk)"}},
    ]

    allow(cloud, dynamodb_PutItem=table)
    error = refused(cloud.client("dynamodb", KEY).transact_write_items, TransactItems=items)
    allow(cloud, dynamodb_PutItem=table, dynamodb_ConditionCheckItem=table)
    cloud.client("dynamodb", KEY).transact_write_items(TransactItems=items)

    assert "dynamodb:ConditionCheckItem" in error["Message"]


def test_a_key_that_nobody_gave_out_is_refused_and_kept_as_a_fault(cloud):
    error = refused(cloud.client("ssm", "ASIANOBODY").get_parameters, Names=["/a"])

    assert error["Code"] == "UnrecognizedClientException"
    assert cloud.front.faults == ["ssm:GetParameters with the unknown key ASIANOBODY"]


def test_a_call_whose_needs_nobody_wrote_down_is_a_fault_and_never_passes(cloud):
    allow(cloud, **{"ssm_*": "*"})

    refused(cloud.client("ssm", KEY).get_parameter_history, Name="/a")

    assert "ssm:GetParameterHistory is not known here" in cloud.front.faults[0]


def test_an_encrypted_topic_needs_its_key_too(cloud):
    topic = cloud.client("sns").create_topic(Name="told")["TopicArn"]
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"
    cloud.front.keys = {topic: key}
    allow(cloud, sns_Publish=topic)

    error = refused(cloud.client("sns", KEY).publish, TopicArn=topic, Message="x")

    assert f"kms:GenerateDataKey on resource: {key}" in error["Message"]


def test_what_was_allowed_and_never_asked_for_is_reported(cloud):
    allow(cloud, ssm_GetParameters="*", ssm_PutParameter=f"{SSM}:parameter/driftgate/*")

    cloud.client("ssm", KEY).get_parameters(Names=["/a"])

    assert cloud.front.record.unused(cloud.front.authority.roles) == (
        Permission(role=ROLE, action="ssm:PutParameter", resource=f"{SSM}:parameter/driftgate/*"),
    )


def test_an_operation_that_moto_lacks_is_answered_by_the_declared_layer(cloud):
    allow(cloud, ssm_GetCalendarState="*")
    cloud.front.answers[("ssm", "GetCalendarState")] = lambda call: {"State": call.params["CalendarNames"][0]}

    assert cloud.client("ssm", KEY).get_calendar_state(CalendarNames=["OPEN"])["State"] == "OPEN"


def test_an_answer_that_the_services_model_does_not_know_never_leaves(cloud):
    cloud.front.answers[("ssm", "GetCalendarState")] = lambda _: {"Status": "OPEN"}

    assert "500" in refused(cloud.client("ssm").get_calendar_state, CalendarNames=["a"])["Code"]


def test_the_declared_layer_may_answer_with_an_error_of_the_service(cloud):
    def unknown(call):
        raise CallError("InvalidDocument", "There is no such calendar")

    cloud.front.answers[("ssm", "GetCalendarState")] = unknown

    assert refused(cloud.client("ssm").get_calendar_state, CalendarNames=["a"])["Code"] == "InvalidDocument"


def test_listeners_hear_what_succeeded_and_nothing_else(cloud):
    heard = []
    cloud.front.listeners.append(lambda call, result: heard.append((call.operation, result.get("Version"))))
    allow(cloud)
    ssm = cloud.client("ssm")

    ssm.put_parameter(Name="/a", Value="1", Type="String")
    refused(ssm.put_parameter, Name="/a", Value="2", Type="String")
    refused(cloud.client("ssm", KEY).put_parameter, Name="/b", Value="1", Type="String")

    assert heard == [("PutParameter", 1)]
