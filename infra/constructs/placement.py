"""From where a part of the clusters is reached: a queue, the worker that empties it, and a closer beside them."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from driftgate.contract import Env
from infra.constructs import permissions
from infra.constructs.function import FunctionSettings, PipelineFunction, Shared
from infra.constructs.permissions import Grant
from infra.constructs.work_queue import WorkQueue
from infra.settings import PlacementSettings, StackSettings, closer_role, worker_role

WORKER_TIMEOUT = cdk.Duration.seconds(105)
"""Longer than a slice; shorter than VISIBILITY, so that a living worker keeps its message. Lambda demands that too."""

MOST_WORKERS = 100
FEWEST_WORKERS = 2
"""Source: aws docs, lambda/latest/dg/services-sqs-scaling: the least that MaximumConcurrency takes."""


class PipelinePlacement(Construct):
    """`table_arn` is the ledger's; by `tell` both functions may say what they did."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: StackSettings,
        placement: PlacementSettings,
        shared: Shared,
        table_arn: str,
        tell: Sequence[Grant],
    ) -> None:
        super().__init__(scope, id_)
        self.name = placement.name
        self.work = WorkQueue(self, "Work")
        here = {Env.PLACEMENT.value: placement.name}
        self.closer = PipelineFunction(
            self,
            "Closer",
            shared=shared,
            settings=FunctionSettings(
                name="close_budgets",
                description=f"Shuts gates now ({placement.name})",
                timeout=cdk.Duration.minutes(5),
                memory_mb=1024,
                patience=cdk.Duration.hours(6),
                reserved=settings.deployment.closer_concurrency or None,
                role_name=closer_role(settings, placement.name),
                vpc=placement.vpc,
                environment=here,
            ),
            grants=[
                permissions.use_table(table_arn, "Query", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"),
                *permissions.reach_clusters(placement.clusters),
                *tell,
            ],
        )
        self.worker = PipelineFunction(
            self,
            "Worker",
            shared=shared,
            settings=FunctionSettings(
                name="reconcile_cluster",
                description=f"Looks at one cluster, and rolls one node ({placement.name})",
                timeout=WORKER_TIMEOUT,
                memory_mb=512,
                role_name=worker_role(settings, placement.name),
                vpc=placement.vpc,
                # a slice queues the next one: without this Lambda takes a long roll for a runaway loop and ends it
                may_call_itself=True,
                environment={**here, Env.QUEUE_URL.value: self.work.queue.queue_url},
            ),
            grants=[
                permissions.use_table(
                    table_arn, "Query", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"
                ),
                permissions.receive_from(self.work.queue.queue_arn),
                permissions.send_to([self.work.queue.queue_arn]),
                *permissions.reach_clusters(placement.clusters),
                *permissions.take_roles(settings.alarm_roles),
                permissions.read_alarms(settings),
                *permissions.read_calendars(settings.calendars),
                *permissions.read_image_parameters(settings),
                permissions.read_images(settings),
                *tell,
            ],
        )
        lambda_.EventSourceMapping(
            self,
            "Source",
            target=self.worker.function,
            event_source_arn=self.work.queue.queue_arn,
            batch_size=1,
            report_batch_item_failures=True,
            max_concurrency=min(max(len(placement.clusters), FEWEST_WORKERS), MOST_WORKERS),
        )
