"""The whole deployment, put together from one construct per concern."""

from __future__ import annotations

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from driftgate.config.deployment import Slack
from driftgate.contract import Env
from infra.constructs import permissions
from infra.constructs.access_entries import AccessEntries
from infra.constructs.alarms import PipelineAlarms, Watched
from infra.constructs.dashboard import PipelineDashboard
from infra.constructs.event_bus import DomainEventBus
from infra.constructs.function import FunctionSettings, PipelineFunction, Shared
from infra.constructs.ledger import LedgerTable
from infra.constructs.notifier import SlackNotifier
from infra.constructs.permissions import Grant
from infra.constructs.placement import PipelinePlacement
from infra.constructs.rules import EventRules
from infra.constructs.schedules import HEARTBEAT, POLL, Schedules
from infra.constructs.topic import MessageTopic
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
        self._settings, deployment = settings, settings.deployment
        self.ledger = LedgerTable(self, "Ledger")
        self.bus = DomainEventBus(self, "Events", name=settings.prefix, archive_days=deployment.archive_days)
        self.messages = MessageTopic(
            self, "Messages", name=settings.prefix, emails=deployment.emails, chat=deployment.chat
        )
        self.failures = FailureQueue(self, "Failures")
        self._shared = Shared(
            code=code,
            environment=self._environment(),
            failures=self.failures.queue,
            log_retention_days=deployment.log_retention_days,
        )
        self.placements = {each.name: self._placement(each) for each in settings.placements}
        self.evaluate, self.watch = self._evaluate(), self._watch()
        self.notifier = None if deployment.slack is None else self._notifier(deployment.slack)
        self._wake()
        if deployment.access_entries == "create":
            self._let_in()
        self._watch_over()

    def _wake(self) -> None:
        """What calls the functions: AWS's events, and two clocks."""
        EventRules(
            self,
            "Rules",
            settings=self._settings,
            evaluate=self.evaluate,
            closers={name: placement.closer for name, placement in self.placements.items()},
            failures=self.failures.queue,
        )
        Schedules(
            self,
            "Schedules",
            group=self._settings.prefix,
            targets={HEARTBEAT: self.evaluate, POLL: self.watch},
            failures=self.failures.queue,
        )

    def _let_in(self) -> None:
        AccessEntries(
            self,
            "Access",
            group=self._settings.deployment.kubernetes_group,
            placements=[(each, self.placements[each.name]) for each in self._settings.placements],
        )

    def _watch_over(self) -> None:
        """Alarms on driftgate itself, and a page that shows how it is."""
        watched, name = self._watched(), self._settings.prefix
        alarms = PipelineAlarms(self, "Alarms", prefix=name, watched=watched)
        PipelineDashboard(self, "Dashboard", name=name, watched=watched, alarms=alarms.alarms)

    def _watched(self) -> Watched:
        functions = {"evaluate-drift": self.evaluate, "watch-amis": self.watch}
        for name, placement in self.placements.items():
            functions |= {f"reconcile-cluster-{name}": placement.worker, f"close-budgets-{name}": placement.closer}
        if self.notifier is not None:
            functions["notify-slack"] = self.notifier.notify
        return Watched(
            functions=functions,
            work_queues={name: placement.work.queue for name, placement in self.placements.items()},
            dead_looks={name: placement.work.dead_letters for name, placement in self.placements.items()},
            undelivered=self.failures.queue,
            untold=None if self.notifier is None else self.notifier.untold.queue,
            poll_minutes=POLL.minutes,
            topic=self.messages,
            service=self._settings.prefix,
        )

    def _environment(self) -> dict[str, str]:
        """What every function is told."""
        return {
            Env.DEPLOYMENT.value: self._settings.deployment.name,
            Env.SERVICE.value: self._settings.prefix,
            Env.TABLE.value: self.ledger.table.table_name,
            Env.EVENT_BUS.value: self.bus.bus.event_bus_name,
            Env.TOPIC_ARN.value: self.messages.arn,
        }

    def _placement(self, placement: PlacementSettings) -> PipelinePlacement:
        return PipelinePlacement(
            self,
            f"Placement-{placement.name}",
            settings=self._settings,
            placement=placement,
            shared=self._shared,
            table_arn=self.ledger.table.table_arn,
            tell=self._tell(),
        )

    def _tell(self) -> list[Grant]:
        """To say what was done, on the bus and to people."""
        topic = permissions.publish_to(self.messages.arn, self.messages.key.key_arn)
        return [permissions.put_events(self.bus.bus.event_bus_arn), *topic]

    def _notifier(self, slack: Slack) -> SlackNotifier:
        return SlackNotifier(
            self,
            "Notifier",
            shared=self._shared,
            topic=self.messages,
            table_arn=self.ledger.table.table_arn,
            slack=slack,
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
                *self._tell(),
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
