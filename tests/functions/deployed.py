"""What a deployment would have created, in moto on the loopback, and the variables that its functions would get."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from moto.moto_api._internal.models import moto_api_backend
from moto.server import ThreadedMotoServer

from driftgate.adapters.ledger_dynamodb import create_table

REGION = "eu-central-1"
TABLE = "driftgate"
ALWAYS = """\
mode: act
cluster: demo
pools: [app]
windows: [{name: always, timezone: UTC, cron: "0 0 * * *", duration: 24h}]
open: {expected_roll: 1m}
guards: {alarms: none}
"""
NEVER = "mode: act\ncluster: demo\npools: [app]\nguards: {alarms: none}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aws:
    """The server's variables, and the queue's address."""

    env: dict[str, str]
    queue_url: str
    topic_queue_url: str

    def client(self, service: str) -> Any:
        return _client(service, self.env["AWS_ENDPOINT_URL"])

    def queued(self) -> list[str]:
        """The bodies that wait in the work queue."""
        return _bodies(self.client("sqs"), self.queue_url)

    def told(self) -> list[str]:
        """What the topic delivered."""
        return _bodies(self.client("sqs"), self.topic_queue_url)


def _bodies(sqs: Any, url: str) -> list[str]:
    found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    return [message["Body"] for message in found]


def _client(service: str, url: str) -> Any:
    make: Any = boto3.client
    return make(
        service, region_name=REGION, endpoint_url=url, aws_access_key_id="testing", aws_secret_access_key="testing"
    )


@contextmanager
def deployed(config: Path) -> Iterator[Aws]:
    """A deployment called `local`; every function of it would get `env`."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    moto_api_backend.reset()
    try:
        yield _created(url, config)
    finally:
        server.stop()


def _created(url: str, config: Path) -> Aws:
    sqs, sns = _client("sqs", url), _client("sns", url)
    _client("events", url).create_event_bus(Name="driftgate")
    create_table(_client("dynamodb", url), TABLE)
    work = sqs.create_queue(QueueName="driftgate-work.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    heard = sqs.create_queue(QueueName="heard")["QueueUrl"]
    topic = sns.create_topic(Name="driftgate")["TopicArn"]
    arn = sqs.get_queue_attributes(QueueUrl=heard, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    env = {
        "AWS_ENDPOINT_URL": url,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "DRIFTGATE_DEPLOYMENT": "local",
        "DRIFTGATE_TABLE": TABLE,
        "DRIFTGATE_QUEUE_URL": work,
        "DRIFTGATE_EVENT_BUS": "driftgate",
        "DRIFTGATE_CLOSER": "driftgate-close",
        "DRIFTGATE_TOPIC_ARN": topic,
        "DRIFTGATE_CONFIG": str(config),
    }
    return Aws(env=env, queue_url=work, topic_queue_url=heard)
