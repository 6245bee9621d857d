"""Everything around the functions of a deployment, in a process of its own: `deployed_process DRIFTGATE_YAML`.

AWS (moto), EKS with a simulated cluster behind TLS, and Slack, all on the loopback. It is ready with the variables
that a function gets, and answers with the requests that the cluster refused and served.
"""

from __future__ import annotations

import base64
import os
import sys
import tempfile
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding
from moto.eks.models import eks_backends

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
from driftgate.adapters.system_clock import SystemClock
from driftgate.contract import Env
from driftgate.ports import PutLook
from driftgate.sim.access import DRIFTGATE, User
from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import SimCluster
from tests.bench.cluster_process import SHUT, VERSION
from tests.bench.helper import Facts, serve
from tests.fakes.certificates import Certificate, authority, loopback
from tests.fakes.slack_server import CHANNEL, TOKEN, SlackServer
from tests.functions.deployed import REGION, TABLE, Aws, deployed

ANSWERS = "ANSWERS"
"""The address, in S3, where CloudFormation waits for its answer."""

CLUSTER = "quiet"
NODES = 3
PARAMETER = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
ACCOUNT = "123456789012"


def main(config: Path) -> None:
    """Serves until its input ends."""
    trust = authority("bench")
    with deployed(config) as aws, SimCluster(WallClock(), karpenter=VERSION) as sim, SlackServer() as slack:
        os.environ.update(aws.env)
        _furnish(sim)
        _join(aws, sim, trust)
        secret = aws.client("secretsmanager").create_secret(Name="slack", SecretString=TOKEN)
        _remember_look(aws, config)
        ready: Facts = {
            **aws.env,
            # tokens are signed for the real address, which nobody calls
            "AWS_ENDPOINT_URL_STS": f"https://sts.{REGION}.amazonaws.com",
            ANSWERS: _presigned(aws),
            Env.CLUSTERS.value: CLUSTER,
            Env.SLACK_SECRET.value: secret["ARN"],
            Env.SLACK_CHANNEL.value: CHANNEL,
            Env.SLACK_URL.value: slack.api,
        }
        serve(ready, lambda _: _requests(sim))


def _presigned(aws: Aws) -> str:
    """An address in S3 that takes a PUT, as CloudFormation gives one."""
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="answers", CreateBucketConfiguration={"LocationConstraint": REGION})
    url: str = s3.generate_presigned_url("put_object", Params={"Bucket": "answers", "Key": "answer"})
    return url


def _furnish(sim: SimCluster) -> None:
    """A trapped pool outside of its window: a look reads everything and opens nothing."""
    sim.add_node_class()
    sim.add_nodepool("app", SHUT)
    for number in range(NODES):
        sim.add_node("app", f"a{number}", drifted_since=sim.clock.now() - timedelta(days=2))
    sim.access.webhook = lambda token: (
        User(name="driftgate", rules=DRIFTGATE) if token.startswith("k8s-aws-v1.") else None
    )


def _join(aws: Aws, sim: SimCluster, trust: Certificate) -> None:
    """From now on DescribeCluster tells where the cluster is."""
    aws.client("eks").create_cluster(
        name=CLUSTER, roleArn=f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}", resourcesVpcConfig={}
    )
    made: Any = eks_backends[ACCOUNT][REGION].clusters[CLUSTER]
    made.endpoint = sim.serve(_server_context(loopback(trust))).url
    made.certificate_authority = {"data": base64.b64encode(trust.made.public_bytes(Encoding.PEM)).decode()}


def _server_context(certificate: Certificate) -> SSLContext:
    context = SSLContext(PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        context.load_cert_chain(certificate.write(Path(folder, "server.pem")))
    return context


def _remember_look(aws: Aws, config: Path) -> None:
    """The cluster was looked at just now under this driftgate.yaml, and follows one image parameter."""
    clock = SystemClock()
    ledger = DynamoDbLedger(
        AwsSession(
            clock,
            REGION,
        ),
        TABLE,
        clock,
    )
    now = clock.now()
    digest = sha256(config.read_bytes()).hexdigest()
    ledger.commit(CLUSTER, PutLook(now, (PARAMETER,), due_at=now + timedelta(minutes=30), config=digest))


def _requests(sim: SimCluster) -> Facts:
    statuses = [logged.status for logged in sim.serve().server.requests]
    return {
        "served": sum(200 <= status < 300 for status in statuses),
        "refused": sum(status >= 400 for status in statuses),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
