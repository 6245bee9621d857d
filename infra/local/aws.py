"""AWS on the loopback: moto as a server, with what the pipeline needs in it.

What moto lacks is one declared layer, here: the alarm history and mute rules of CloudWatch (answered as empty), and
public SSM parameters, whose names nobody but AWS may write.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import boto3
from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.server import ThreadedMotoServer
from moto.ssm.models import Parameter, ssm_backends

from driftgate.adapters.ledger_dynamodb import create_table

ACCOUNT = "123456789012"
REGION = "eu-central-1"
TABLE = "driftgate"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "POWERTOOLS_TRACE_DISABLED": "true",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAws:
    """The server and the names of what was created in it."""

    server: ThreadedMotoServer
    queue_url: str
    messages_url: str
    topic_arn: str

    def client(self, service: str) -> Any:
        make: Any = boto3.client
        return make(service)

    def stop(self) -> None:
        self.server.stop()


def start_aws() -> LocalAws:
    """moto on a free loopback port, and everything that a deployment would have created."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    _fill_gaps()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(ENVIRONMENT | {"AWS_ENDPOINT_URL": f"http://{host}:{port}"})
    create_table(boto3.client("dynamodb"), TABLE)
    boto3.client("events").create_event_bus(Name="driftgate")
    sqs, sns = boto3.client("sqs"), boto3.client("sns")
    work = sqs.create_queue(QueueName="driftgate.fifo", Attributes={"FifoQueue": "true", "VisibilityTimeout": "120"})
    heard = sqs.create_queue(QueueName="messages")
    topic = sns.create_topic(Name="driftgate")["TopicArn"]
    arn = sqs.get_queue_attributes(QueueUrl=heard["QueueUrl"], AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    return LocalAws(server=server, queue_url=work["QueueUrl"], messages_url=heard["QueueUrl"], topic_arn=topic)


def publish_parameter(name: str, value: str, region: str = REGION) -> None:
    """AWS sets one of its public parameters; no event is raised, as in a customer's account."""
    made: Any = Parameter
    versions = ssm_backends[ACCOUNT][region]._parameters[name]
    versions.append(
        made(
            account_id=ACCOUNT,
            name=name,
            value=value,
            parameter_type="String",
            description="",
            allowed_pattern=None,
            keyid=None,
            last_modified_date=datetime.now(UTC).timestamp(),
            version=len(versions) + 1,
            data_type="text",
        )
    )


def publish_image(name: str, created: datetime) -> str:
    """AWS publishes a node image; gives its id."""
    image: str = boto3.client("ec2").register_image(Name=name, Architecture="x86_64")["ImageId"]
    ec2_backends[ACCOUNT][REGION].amis[image].creation_date = created
    return image


def create_alarm(name: str) -> None:
    """A metric alarm that is OK."""
    client = boto3.client("cloudwatch")
    client.put_metric_alarm(
        AlarmName=name,
        Namespace="AWS/ApplicationELB",
        MetricName="HTTPCode_Target_5XX_Count",
        ComparisonOperator="GreaterThanThreshold",
        EvaluationPeriods=1,
        Threshold=5,
        Period=60,
        Statistic="Sum",
    )
    client.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="Threshold not crossed")


def _fill_gaps() -> None:
    cloudwatch: Any = CloudWatchResponse
    cloudwatch.list_alarm_mute_rules = lambda _: ActionResult({"AlarmMuteRuleSummaries": []})
    cloudwatch.describe_alarm_history = lambda _: ActionResult({"AlarmHistoryItems": []})


def read_messages(aws: LocalAws) -> list[dict[str, Any]]:
    """What the topic delivered since the last call, in order."""
    found: list[dict[str, Any]] = []
    client = aws.client("sqs")
    while batch := client.receive_message(QueueUrl=aws.messages_url, MaxNumberOfMessages=10).get("Messages"):
        for message in batch:
            client.delete_message(QueueUrl=aws.messages_url, ReceiptHandle=message["ReceiptHandle"])
            found.append(json.loads(message["Body"]))
    return found
