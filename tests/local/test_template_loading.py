"""A template becomes an account: functions resolved, resources created in their order, nothing skipped."""

from __future__ import annotations

import json

import pytest

from infra.local.cloud.server import ACCOUNT, REGION, CloudServer
from infra.local.iam.evaluation import Need, Principal, PrincipalKind
from infra.local.template.document import TemplateError, template_from_object
from infra.local.template.intrinsics import Physical, Resolver
from infra.local.template.loading import load
from infra.local.template.policies import authority_of, keys_of

PSEUDO = {"AWS::Region": REGION, "AWS::Partition": "aws"}


def resolved(value, *, conditions=None, parameters=None, mappings=None):
    template = template_from_object(
        {
            "Resources": {},
            "Conditions": conditions or {},
            "Parameters": {name: {"Default": default} for name, default in (parameters or {}).items()},
            "Mappings": mappings or {},
        }
    )
    resolver = Resolver(template, PSEUDO, {})
    resolver.made["Queue"] = Physical(ref="http://queue", attributes={"Arn": "arn:queue"})
    return resolver.value(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        ({"Ref": "Queue"}, "http://queue"),
        ({"Ref": "AWS::Region"}, REGION),
        ({"Ref": "Stage"}, "dev"),
        ({"Fn::GetAtt": ["Queue", "Arn"]}, "arn:queue"),
        ({"Fn::GetAtt": "Queue.Arn"}, "arn:queue"),
        ({"Fn::Join": [":", ["arn", {"Ref": "AWS::Partition"}, "sqs"]]}, "arn:aws:sqs"),
        ({"Fn::Sub": "${AWS::Region}/${Queue.Arn}/${Queue}/${!kept}"}, f"{REGION}/arn:queue/http://queue/${{kept}}"),
        ({"Fn::Sub": ["${name}-x", {"name": {"Ref": "Stage"}}]}, "dev-x"),
        ({"Fn::Select": [1, {"Fn::Split": [",", "a,b,c"]}]}, "b"),
        ({"Fn::If": ["IsDev", "yes", "no"]}, "yes"),
        ({"a": {"Fn::If": ["IsProd", 1, {"Ref": "AWS::NoValue"}]}, "b": [{"Ref": "AWS::NoValue"}, 2]}, {"b": [2]}),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Stage"}, "memory"]}, 512),
    ],
)
def test_a_function_of_cloudformation_gives_its_value(value, expected):
    conditions = {
        "IsDev": {"Fn::Equals": [{"Ref": "Stage"}, "dev"]},
        "IsProd": {"Fn::And": [{"Fn::Not": [{"Condition": "IsDev"}]}, {"Fn::Equals": ["a", "a"]}]},
    }
    mappings = {"Sizes": {"dev": {"memory": 512}}}

    assert resolved(value, conditions=conditions, parameters={"Stage": "dev"}, mappings=mappings) == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"Fn::ImportValue": "other-stack"}, "Fn::ImportValue is not resolved"),
        ({"Ref": "Nobody"}, "Nobody is referred to"),
        ({"Fn::GetAtt": ["Queue", "Colour"]}, "Queue.Colour is not known"),
        ({"Ref": "Given"}, "the parameter Given has no default"),
        ("{{resolve:ssm:/a}}", "dynamic reference"),
        ({"Fn::If": ["Nobody", 1, 2]}, "no condition Nobody"),
    ],
)
def test_what_cannot_be_resolved_is_said_by_name(value, said):
    with pytest.raises(TemplateError, match=said):
        resolved(value, parameters={"Given": None})


@pytest.fixture
def cloud():
    with CloudServer() as found:
        yield found


def loaded(cloud, resources, **parts):
    return load(template_from_object({"Resources": resources, **parts}), cloud, "demo")


def statement(action, resource, **more):
    return {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": action, "Resource": resource, **more}],
    }


WORK = {
    "Work": {
        "Type": "AWS::SQS::Queue",
        "Properties": {
            "FifoQueue": True,
            "VisibilityTimeout": 120,
            "RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": 3},
        },
    },
    "Dead": {"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": True, "QueueName": "dead.fifo"}},
}


def test_resources_are_created_after_what_they_refer_to(cloud):
    stack = loaded(cloud, WORK)

    url = stack.resources["Work"].physical.ref
    found = cloud.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert url.endswith(".fifo")
    assert found["VisibilityTimeout"] == "120"
    assert json.loads(found["RedrivePolicy"]) == {
        "deadLetterTargetArn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:dead.fifo",
        "maxReceiveCount": 3,
    }


def test_names_that_nobody_gave_are_the_same_each_time_and_not_too_long(cloud):
    long = "A" * 100
    first = loaded(cloud, {long: {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}})

    name = first.resources[long].physical.ref
    with CloudServer() as again:
        second = loaded(again, {long: {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}})
    assert second.resources[long].physical.ref == name
    assert len(name) == 64


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ({"Type": "AWS::EC2::Instance"}, "X: the type AWS::EC2::Instance is not known"),
        ({"Type": "AWS::SQS::Queue", "CreationPolicy": {}}, "X: CreationPolicy is not understood"),
        ({"Type": "AWS::SNS::TopicPolicy", "Properties": {"Colour": 1}}, r"X \(AWS::SNS::TopicPolicy\): Colour"),
        ({"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Ref": "Nobody"}}}, "X: Nobody is referred to"),
        ({"Type": "AWS::SQS::Queue", "DependsOn": "X"}, "in a circle: X → X"),
    ],
)
def test_nothing_is_skipped_in_silence(cloud, resource, said):
    with pytest.raises(TemplateError, match=said):
        loaded(cloud, {"X": resource})


def test_a_property_that_the_service_does_not_know_is_refused_by_its_client(cloud):
    with pytest.raises(Exception, match="Colour"):
        loaded(cloud, {"X": {"Type": "AWS::Events::EventBus", "Properties": {"Name": "own", "Colour": 1}}})


def test_a_resource_whose_condition_does_not_hold_is_not_there(cloud):
    stack = loaded(
        cloud,
        {"X": {"Type": "AWS::SQS::Queue", "Condition": "Never"}},
        Conditions={"Never": {"Fn::Equals": ["a", "b"]}},
    )

    assert stack.resources == {}


def test_a_table_is_made_with_its_protection_and_its_backups(cloud):
    properties = {
        "TableName": "rolls",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True},
        "Replicas": [
            {
                "Region": {"Ref": "AWS::Region"},
                "DeletionProtectionEnabled": True,
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            }
        ],
    }

    loaded(cloud, {"T": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": properties}})

    client = cloud.client("dynamodb")
    backups = client.describe_continuous_backups(TableName="rolls")["ContinuousBackupsDescription"]
    assert client.describe_table(TableName="rolls")["Table"]["DeletionProtectionEnabled"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    assert client.describe_time_to_live(TableName="rolls")["TimeToLiveDescription"]["AttributeName"] == "ttl"


def test_the_slack_channel_hears_the_topics_that_it_is_given(cloud):
    stack = loaded(
        cloud,
        {
            "Topic": {"Type": "AWS::SNS::Topic"},
            "Chat": {
                "Type": "AWS::Chatbot::SlackChannelConfiguration",
                "Properties": {"SlackChannelId": "C1", "SnsTopicArns": [{"Ref": "Topic"}]},
            },
        },
    )

    cloud.client("sns").publish(TopicArn=stack.resources["Topic"].physical.ref, Message="hello")

    queue = stack.resources["Chat"].physical.attributes["ChannelQueueUrl"]
    (message,) = cloud.client("sqs").receive_message(QueueUrl=queue)["Messages"]
    assert json.loads(message["Body"])["Message"] == "hello"


SECURED = {
    "Key": {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {"Statement": []}}},
    "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"KmsMasterKeyId": {"Fn::GetAtt": ["Key", "Arn"]}}},
    "TopicPolicy": {
        "Type": "AWS::SNS::TopicPolicy",
        "Properties": {
            "Topics": [{"Ref": "Topic"}],
            "PolicyDocument": statement(
                "sns:Publish", {"Ref": "Topic"}, Principal={"Service": "cloudwatch.amazonaws.com"}
            ),
        },
    },
    "Role": {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Statement": []},
            "Policies": [{"PolicyName": "own", "PolicyDocument": statement("sns:Publish", {"Ref": "Topic"})}],
            "ManagedPolicyArns": ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"],
        },
    },
    "Function": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "close"}},
    "MayInvoke": {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "Action": "lambda:InvokeFunction",
            "FunctionName": {"Fn::GetAtt": ["Function", "Arn"]},
            "Principal": "events.amazonaws.com",
            "SourceArn": f"arn:aws:events:{REGION}:{ACCOUNT}:rule/alarm",
        },
    },
}


def test_the_policies_of_roles_and_resources_are_those_of_the_template(cloud):
    stack = loaded(cloud, SECURED)
    authority = authority_of(stack)
    topic = stack.resources["Topic"].physical.ref
    role = Principal(kind=PrincipalKind.ROLE, name=stack.resources["Role"].arn)

    def may(principal, action, resource, **context):
        return authority.decide(principal, Need(action=action, resource=resource, context=context)).is_allowed

    def service(name):
        return Principal(kind=PrincipalKind.SERVICE, name=f"{name}.amazonaws.com")

    function, rule = stack.resources["Function"].arn, f"arn:aws:events:{REGION}:{ACCOUNT}:rule"
    assert may(role, "sns:Publish", topic)
    assert may(role, "logs:PutLogEvents", "arn:aws:logs:x")
    assert not may(role, "sns:Subscribe", topic)
    assert may(service("cloudwatch"), "sns:Publish", topic)
    assert not may(service("events"), "sns:Publish", topic)
    assert may(service("events"), "lambda:InvokeFunction", function, **{"aws:sourcearn": (f"{rule}/alarm",)})
    assert not may(service("events"), "lambda:InvokeFunction", function, **{"aws:sourcearn": (f"{rule}/other",)})
    assert keys_of(stack) == {topic: stack.resources["Key"].arn}
