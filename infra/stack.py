"""The whole deployment, put together from one construct per concern."""

from __future__ import annotations

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from driftgate.contract import Env
from infra.constructs import permissions
from infra.constructs.access_entries import AccessEntries
from infra.constructs.event_bus import DomainEventBus
from infra.constructs.function import FunctionSettings, PipelineFunction, Shared
from infra.constructs.ledger import LedgerTable
from infra.constructs.placement import PipelinePlacement
from infra.constructs.rules import EventRules
from infra.constructs.schedules import HEARTBEAT, POLL, Schedules
from infra.constructs.work_queue import FailureQueue
from infra.settings import PlacementSettings, StackSettings

MOST_NAMES = 1500
"""Characters, of the 4 KB that all variables of a function may have. Source: aws docs, gettingstarted-limits (2026)."""


class DriftgateStack(cdk.Stack):
    """Events in, one node rolled, messages out."""

    def __init__(self, scope: Construct, id_: str, *, settings: StackSettings, code: lambda_.Code) -> None:
        super().__init__(
            scope, id_, description="driftgate: opens a Karpenter disruption budget for one node at a time"
        )
        self._settings = settings
        self.ledger = LedgerTable(self, "Ledger")
        deployment = settings.deployment
        self.bus = DomainEventBus(self, "Events", name=settings.prefix, archive_days=deployment.archive_days)
        self.topic = sns.Topic(self, "Topic", enforce_ssl=True)
        self.failures = FailureQueue(self, "Failures")
        self._shared = Shared(
            code=code,
            environment=self._environment(),
            failures=self.failures.queue,
            log_retention_days=deployment.log_retention_days,
        )
        self.placements = {each.name: self._placement(each) for each in settings.placements}
        self.evaluate = self._evaluate()
        self.watch = self._watch()
        Schedules(
            self,
            "Schedules",
            group=settings.prefix,
            targets={HEARTBEAT: self.evaluate, POLL: self.watch},
            failures=self.failures.queue,
        )
        if deployment.access_entries == "create":
            AccessEntries(
                self,
                "Access",
                group=deployment.kubernetes_group,
                placements=[(each, self.placements[each.name]) for each in settings.placements],
            )
        EventRules(
            self,
            "Rules",
            settings=settings,
            evaluate=self.evaluate,
            closers={name: placement.closer for name, placement in self.placements.items()},
            failures=self.failures.queue,
        )

    def _environment(self) -> dict[str, str]:
        """What every function is told."""
        return {
            Env.DEPLOYMENT.value: self._settings.deployment.name,
            Env.SERVICE.value: self._settings.prefix,
            Env.TABLE.value: self.ledger.table.table_name,
            Env.EVENT_BUS.value: self.bus.bus.event_bus_name,
            Env.TOPIC_ARN.value: self.topic.topic_arn,
        }

    def _placement(self, placement: PlacementSettings) -> PipelinePlacement:
        return PipelinePlacement(
            self,
            f"Placement-{placement.name}",
            settings=self._settings,
            placement=placement,
            shared=self._shared,
            table_arn=self.ledger.table.table_arn,
            bus_arn=self.bus.bus.event_bus_arn,
            topic_arn=self.topic.topic_arn,
        )

    def _evaluate(self) -> PipelineFunction:
        queues = {name: each.work.queue for name, each in self.placements.items()}
        closers = {name: each.closer for name, each in self.placements.items()}
        return PipelineFunction(
            self,
            "EvaluateDrift",
            shared=self._shared,
            settings=FunctionSettings(
                name="evaluate_drift",
                description="Turns an event, or the minute, into looks at clusters and requests to shut gates",
                timeout=cdk.Duration.seconds(50),
                memory_mb=512,
                patience=cdk.Duration.minutes(10),
                environment={
                    **_named_clusters(self._settings),
                    Env.QUEUE_URL.value: _placed({name: queue.queue_url for name, queue in queues.items()}),
                    Env.CLOSER.value: _placed({name: closer.arn for name, closer in closers.items()}),
                },
            ),
            grants=[
                permissions.use_table(self.ledger.table.table_arn, "Query"),
                permissions.send_to(queue.queue_arn for queue in queues.values()),
                permissions.invoke(closer.arn for closer in closers.values()),
            ],
        )

    def _watch(self) -> PipelineFunction:
        return PipelineFunction(
            self,
            "WatchAmis",
            shared=self._shared,
            settings=FunctionSettings(
                name="watch_amis",
                description="Mirrors the image parameters in use, so that a change raises an event",
                timeout=cdk.Duration.minutes(2),
                memory_mb=512,
                patience=cdk.Duration.minutes(10),
                retries=1,
            ),
            grants=[
                permissions.use_table(self.ledger.table.table_arn, "Query", "BatchGetItem", "PutItem"),
                *permissions.read_image_parameters(self._settings),
                permissions.mirror_images(self._settings),
                permissions.read_images(self._settings),
                *permissions.take_roles(each.role for each in self._settings.clusters if each.role is not None),
                *permissions.tell(self.bus.bus.event_bus_arn, self.topic.topic_arn),
            ],
        )


def _placed(values: Mapping[str, str]) -> str:
    """One value for all, or one for each placement, as `driftgate.settings` reads it."""
    if len(values) == 1:
        return next(iter(values.values()))
    return ",".join(f"{name}={value}" for name, value in values.items())


def _named_clusters(settings: StackSettings) -> dict[str, str]:
    """Whom to look at, where that fits beside the other variables; else the function reads the configuration."""
    names = ",".join(cluster.name for cluster in settings.clusters)
    return {Env.CLUSTERS.value: names} if len(names) <= MOST_NAMES else {}
