"""The deployed pipeline's pieces, with the simulated cluster behind the real Kubernetes client."""

from __future__ import annotations

from dataclasses import replace

from driftgate import bootstrap
from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.cloudwatch_alarms import CloudWatchAlarms
from driftgate.adapters.ec2_images import Ec2Images
from driftgate.adapters.eventbridge_publisher import EventBridgePublisher
from driftgate.adapters.fan_out_publisher import FanOutPublisher
from driftgate.adapters.image_history_dynamodb import DynamoDbImageHistory
from driftgate.adapters.kubernetes_client import KubernetesClient
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.kubernetes_parts import new_configuration
from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
from driftgate.adapters.local_process import LocalCloser
from driftgate.adapters.sns_publisher import SnsPublisher
from driftgate.adapters.sqs_work_queue import SqsWorkQueue
from driftgate.adapters.ssm_calendars import SsmCalendars
from driftgate.adapters.ssm_parameters import SsmParameters
from driftgate.app.pipeline import Pipeline
from driftgate.config.load import Config
from driftgate.domain.location import Location
from driftgate.ports import Clock
from driftgate.sim.cluster import Served
from infra.local.aws import REGION, TABLE, LocalAws

DEPLOYMENT = "demo"


class ServedClusters:
    """The one simulated cluster, over HTTP and the real client."""

    def __init__(self, served: Served) -> None:
        configuration = new_configuration(host=served.url, api_key={"authorization": f"Bearer {served.token}"})
        self._cluster = KubernetesCluster(KubernetesClient(configuration))

    def connect(self, cluster: str) -> KubernetesCluster:
        return self._cluster


def use_local_pipeline(aws: LocalAws, served: Served, config: Config, clock: Clock) -> Pipeline:
    """From now on the handlers of this process work on this cluster and this AWS."""
    session = AwsSession(clock, REGION)
    pipeline = Pipeline(
        clock=clock,
        ledger=DynamoDbLedger(session, TABLE, clock),
        clusters=ServedClusters(served),
        alarms=CloudWatchAlarms(session),
        calendars=SsmCalendars(session),
        parameters=SsmParameters(session),
        images=Ec2Images(session),
        history=DynamoDbImageHistory(session, TABLE, clock),
        publisher=FanOutPublisher([EventBridgePublisher(session, "driftgate"), SnsPublisher(session, aws.topic_arn)]),
        queue=SqsWorkQueue(session, aws.queue_url),
        closer=LocalCloser(),
        policy=lambda name: replace(config.cluster(name), deployment=DEPLOYMENT, location=Location(REGION)),
        cluster_names=config.cluster_names(),
        holder="reconcile_cluster",
    )
    bootstrap.use(pipeline, bootstrap.Deployment(name=DEPLOYMENT, region=REGION))
    return pipeline
