"""A cluster and an AWS account in which everything but the machines is real, and driftgate deployed into them.

Real are kube-apiserver, scheduler and controllers, Karpenter with its own AWS provider, and driftgate's handlers with
the rights that `driftgate cluster-manifests` prints. moto is the AWS of both: images, parameters, table, queue, topic.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from driftgate import bootstrap
from driftgate.adapters.kubeconfig import connect_context, find_context
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.ledger_dynamodb import create_table
from driftgate.adapters.local_process import LocalCloser
from driftgate.app.observe import observe
from driftgate.app.pipeline import Pipeline
from driftgate.contract import Env
from driftgate.domain.judge import judge
from driftgate.domain.observation import Observation
from driftgate.domain.plan import PoolPlan
from driftgate.domain.roll import Roll
from driftgate.ports import Cluster
from tests.e2e.handlers import Handlers
from tests.e2e.harness.api import Api, Object
from tests.e2e.harness.aws_world import CLUSTER, REGION, AwsWorld
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.rolls import grant
from tests.e2e.sightings import Onlooker

NEEDED = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl", "karpenter-aws", "oracle")
KARPENTER = "karpenter-aws"
DEPLOYMENT = "e2e"
TREE = f"/driftgate/{DEPLOYMENT}/"
PINNED, CHANNEL, LATEST = "pinned", "channel", "latest"


@dataclass(frozen=True, slots=True)
class OneCluster:
    """The cluster as driftgate reaches it, whatever it is called."""

    cluster: KubernetesCluster

    def connect(self, cluster: str) -> Cluster:
        return self.cluster


class RealWorld:
    """Everything at work while the block runs: some 600 MB, up in about 20 s; all of it is ended however it ends."""

    plane: ControlPlane
    aws: AwsWorld
    onlooker: Onlooker
    handlers: Handlers
    pipeline: Pipeline

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.aws = stack.enter_context(AwsWorld())
            self.plane = stack.enter_context(ControlPlane(karpenter=KARPENTER, env=self.aws.settings))
            self.plane.start_kubernetes_controllers()
            grant(self.plane)
            self.onlooker = stack.enter_context(Onlooker(self.admin))
            self._deploy(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @property
    def admin(self) -> Api:
        return self.plane.api("admin")

    def observe(self) -> Observation:
        """One look, as driftgate's own identity, with what its ledger knows."""
        sources = self.pipeline.sources(self.pipeline.clusters.connect(CLUSTER))
        ledger = self.pipeline.ledger.load(CLUSTER)
        return observe(sources, self.pipeline.policy(CLUSTER), ledger, self.pipeline.clock.now())

    def judged(self, pool: str) -> PoolPlan:
        """What driftgate makes of the pool now."""
        plan = judge(self.observe(), self.pipeline.policy(CLUSTER)).plan.of(pool)
        assert plan, f"driftgate does not know the pool {pool}"
        return plan

    def rolls(self, pool: str) -> list[Roll]:
        """Every roll of the pool in the ledger, oldest first."""
        found = (roll for roll in self.pipeline.ledger.load(CLUSTER).rolls if roll.pool == pool)
        return sorted(found, key=lambda roll: roll.id)

    def restart_karpenter(self) -> None:
        """Karpenter forgets what it has cached, as at an upgrade."""
        self.plane.run.stop(KARPENTER)
        self.plane.start_karpenter()

    def messages(self) -> list[Object]:
        """What the topic delivered since the last call, in order."""
        sqs, found = self.aws.client("sqs"), []
        while batch := sqs.receive_message(QueueUrl=self._heard, MaxNumberOfMessages=10).get("Messages"):
            for message in batch:
                sqs.delete_message(QueueUrl=self._heard, ReceiptHandle=message["ReceiptHandle"])
                found.append(json.loads(message["Body"]))
        return found

    def _deploy(self, stack: ExitStack) -> None:
        """What a deployment creates in AWS, its environment, and its pieces behind the handlers."""
        queue, topic = self._create_resources()
        config = self.plane.run.folder / "driftgate.yaml"
        config.write_text(json.dumps(settings(datetime.now(UTC))))
        stack.enter_context(environment(self.aws.settings | deployed(queue, topic, str(config))))
        context = find_context(str(self.plane.kubeconfig("driftgate")), None, environ={})
        clusters = OneCluster(KubernetesCluster(connect_context(context)))
        self.pipeline = replace(bootstrap.lambda_pipeline(os.environ), clusters=clusters, closer=LocalCloser())
        bootstrap.use(self.pipeline)
        stack.callback(bootstrap.use, None)
        self.handlers = Handlers(self.aws.client, REGION, queue, TREE)

    def _create_resources(self) -> tuple[str, str]:
        """Table, bus, work queue, topic, and a queue that hears the topic; gives the work queue and the topic."""
        create_table(self.aws.client("dynamodb"), DEPLOYMENT)
        self.aws.client("events").create_event_bus(Name=DEPLOYMENT)
        sqs, sns = self.aws.client("sqs"), self.aws.client("sns")
        fifo = {"FifoQueue": "true", "VisibilityTimeout": "120"}
        queue: str = sqs.create_queue(QueueName="driftgate.fifo", Attributes=fifo)["QueueUrl"]
        self._heard: str = sqs.create_queue(QueueName="heard")["QueueUrl"]
        topic: str = sns.create_topic(Name=DEPLOYMENT)["TopicArn"]
        arn = sqs.get_queue_attributes(QueueUrl=self._heard, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
        return queue, topic


def settings(now: datetime) -> dict[str, object]:
    """driftgate.yaml: two pools may be rolled, in a window that is open for hours; the third has none.

    The pause keeps the next node of a pool back until the test has had its say.
    """
    window = {"name": "now", "timezone": "UTC", "cron": f"0 {now.hour} * * *", "duration": "6h"}
    return {
        "cluster": CLUSTER,
        "mode": "act",
        "pools": [PINNED, CHANNEL, {"name": LATEST, "windows": []}],
        "windows": [window],
        "guards": {"alarms": "none", "bake": "0h"},
        "open": {"per_window": "all", "pause_between": "10s", "expected_roll": "1m"},
    }


def deployed(queue: str, topic: str, config: str) -> dict[str, str]:
    """The environment of the functions."""
    return {
        "AWS_DEFAULT_REGION": REGION,
        "POWERTOOLS_TRACE_DISABLED": "true",
        Env.DEPLOYMENT: DEPLOYMENT,
        Env.TABLE: DEPLOYMENT,
        Env.QUEUE_URL: queue,
        Env.TOPIC_ARN: topic,
        Env.EVENT_BUS: DEPLOYMENT,
        Env.CLOSER: "close-budgets",
        Env.CONFIG: config,
    }


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """This process's environment has these variables in the block, and is as it was afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
