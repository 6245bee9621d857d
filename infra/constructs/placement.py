"""From where a part of the clusters is reached: a queue, the worker that empties it, and a closer beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

CLOSER_TIMEOUT = cdk.Duration.minutes(5)
"""For an alarm that guards every cluster of the placement, one after the other."""

MOST_WORKERS = 100
FEWEST_WORKERS = 2
"""Source: aws docs, lambda/latest/dg/services-sqs-scaling: the least that MaximumConcurrency takes."""

CLOSE = ("Query", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem")
OPEN = (*CLOSE, "ConditionCheckItem")
"""Only who opens must know in the same transaction that no stop stands and the lease is held."""


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
        self._settings, self._placement, self._shared = settings, placement, shared
        reach = [*permissions.reach_clusters(placement.clusters), *tell]
        self.work = WorkQueue(self, "Work")
        self.closer = self._closer([permissions.use_table(table_arn, *CLOSE), *reach])
        self.worker = self._worker([permissions.use_table(table_arn, *OPEN), *reach, *self._look()])
        self._work_off()

    def _closer(self, grants: Sequence[Grant]) -> PipelineFunction:
        name = self._placement.name
        closer = FunctionSettings(
            name="close_budgets",
            description=f"Shuts gates now ({name})",
            timeout=CLOSER_TIMEOUT,
            memory_mb=1024,
            patience=cdk.Duration.hours(6),
            # kept free, so that a busy account keeps no gate open
            reserved=self._settings.deployment.closer_concurrency or None,
            role_name=closer_role(self._settings, name),
            vpc=self._placement.vpc,
            environment={Env.PLACEMENT.value: name},
        )
        return PipelineFunction(self, "Closer", shared=self._shared, settings=closer, grants=grants)

    def _worker(self, grants: Sequence[Grant]) -> PipelineFunction:
        name = self._placement.name
        worker = FunctionSettings(
            name="reconcile_cluster",
            description=f"Looks at one cluster, and rolls one node ({name})",
            timeout=WORKER_TIMEOUT,
            memory_mb=512,
            role_name=worker_role(self._settings, name),
            vpc=self._placement.vpc,
            # a slice queues the next one: without this Lambda takes a long roll for a runaway loop and ends it
            may_call_itself=True,
            environment={Env.PLACEMENT.value: name, Env.QUEUE_URL.value: self.work.queue.queue_url},
        )
        return PipelineFunction(self, "Worker", shared=self._shared, settings=worker, grants=grants)

    def _look(self) -> list[Grant]:
        """What a worker reads beside the cluster, and its own queue."""
        queue = self.work.queue.queue_arn
        return [
            permissions.receive_from(queue),
            permissions.send_to([queue]),
            permissions.read_alarms(self._settings),
            permissions.read_images(self._settings),
            *permissions.take_roles(self._settings.alarm_roles),
            *permissions.read_calendars(self._settings.calendars),
            *permissions.read_image_parameters(self._settings),
        ]

    def _work_off(self) -> None:
        """One message at a time; a cluster's next one waits for it, and other clusters do not."""
        lambda_.EventSourceMapping(
            self,
            "Source",
            target=self.worker.function,
            event_source_arn=self.work.queue.queue_arn,
            batch_size=1,
            report_batch_item_failures=True,
            max_concurrency=min(max(len(self._placement.clusters), FEWEST_WORKERS), MOST_WORKERS),
        )


def by_placement(values: Mapping[str, str]) -> str:
    """A variable with one value for all, or one for each placement, as `driftgate.settings` reads it."""
    if len(values) == 1:
        return next(iter(values.values()))
    return ",".join(f"{name}={value}" for name, value in values.items())
