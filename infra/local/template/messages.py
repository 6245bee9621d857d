"""Queues and topics."""

from __future__ import annotations

from infra.local.template.document import TemplateError
from infra.local.template.intrinsics import Physical
from infra.local.template.making import Creator, Making, arn, as_json, as_text, tags_as_map

BY_THE_ROUTER = "lambda"
"""Subscriptions that moto would serve with Docker: the router delivers to them."""

BY_NOBODY = frozenset({"email", "email-json"})
"""Subscriptions of people: moto keeps them, and no mail is sent."""


def _queue(making: Making) -> Physical:
    is_fifo = bool(making.properties.get("FifoQueue"))
    name = making.name(making.properties.get("QueueName"), 80, ".fifo" if is_fifo else "")
    attributes = {key: as_text(value) for key, value in making.without("QueueName", "Tags").items()}
    sqs = making.client("sqs")
    url = sqs.create_queue(QueueName=name, Attributes=attributes, tags=tags_as_map(making.properties.get("Tags", [])))[
        "QueueUrl"
    ]
    return Physical(ref=url, attributes={"Arn": arn("sqs", name), "QueueName": name, "QueueUrl": url})


def _queue_policy(making: Making) -> Physical:
    found = making.only("Queues", "PolicyDocument")
    for url in found["Queues"]:
        attributes = {"Policy": as_json(found["PolicyDocument"])}
        making.client("sqs").set_queue_attributes(QueueUrl=url, Attributes=attributes)
    return Physical(ref=making.name(None, 128))


def _topic(making: Making) -> Physical:
    name = making.name(making.properties.get("TopicName"), 256)
    attributes = {key: as_text(value) for key, value in making.without("TopicName", "Tags").items()}
    topic = making.client("sns").create_topic(Name=name, Attributes=attributes)["TopicArn"]
    return Physical(ref=topic, attributes={"TopicArn": topic, "TopicName": name})


def _topic_policy(making: Making) -> Physical:
    found = making.only("Topics", "PolicyDocument")
    for topic in found["Topics"]:
        making.client("sns").set_topic_attributes(
            TopicArn=topic, AttributeName="Policy", AttributeValue=as_json(found["PolicyDocument"])
        )
    return Physical(ref=making.name(None, 128))


def _subscription(making: Making) -> Physical:
    found = making.only(
        "TopicArn", "Protocol", "Endpoint", "FilterPolicy", "FilterPolicyScope", "RawMessageDelivery", "RedrivePolicy"
    )
    if found["Protocol"] == BY_THE_ROUTER:
        return Physical(ref=f"{found['TopicArn']}:{making.logical_id}")
    if found["Protocol"] not in BY_NOBODY:
        raise TemplateError(f"{making.logical_id}: a subscription by {found['Protocol']} is not served here")
    attributes = {key: as_text(value) for key, value in making.without("TopicArn", "Protocol", "Endpoint").items()}
    made = making.client("sns").subscribe(
        TopicArn=found["TopicArn"],
        Protocol=found["Protocol"],
        Endpoint=found["Endpoint"],
        Attributes=attributes,
        ReturnSubscriptionArn=True,
    )
    return Physical(ref=made["SubscriptionArn"])


CREATORS: dict[str, Creator] = {
    "AWS::SQS::Queue": _queue,
    "AWS::SQS::QueuePolicy": _queue_policy,
    "AWS::SNS::Topic": _topic,
    "AWS::SNS::TopicPolicy": _topic_policy,
    "AWS::SNS::Subscription": _subscription,
}
