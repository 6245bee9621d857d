"""The whole deployment, put together from one construct per concern."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from driftgate.config.deployment import Slack
from driftgate.contract import Env
from infra.constructs import permissions
from infra.constructs.access_entries import AccessEntries
from infra.constructs.alarms import PipelineAlarms, Watched
from infra.constructs.dashboard import PipelineDashboard
from infra.constructs.evaluation import evaluate_drift, watch_amis
from infra.constructs.event_bus import DomainEventBus
from infra.constructs.fleet_closing import FleetClosing
from infra.constructs.function import Shared
from infra.constructs.ledger import LedgerTable
from infra.constructs.notifier import SlackNotifier
from infra.constructs.permissions import Grant
from infra.constructs.placement import PipelinePlacement
from infra.constructs.rules import EventRules
from infra.constructs.schedules import HEARTBEAT, POLL, Schedules
from infra.constructs.topic import MessageTopic
from infra.constructs.work_queue import FailureQueue
from infra.settings import LEDGER_OUTPUT, PlacementSettings, StackSettings


class DriftgateStack(cdk.Stack):
    """Events in, one node rolled, messages out."""

    def __init__(self, scope: Construct, id_: str, *, settings: StackSettings, code: lambda_.Code) -> None:
        super().__init__(
            scope, id_, description="driftgate: opens a Karpenter disruption budget for one node at a time"
        )
        self._settings, deployment = settings, settings.deployment
        self.ledger = LedgerTable(self, "Ledger")
        cdk.CfnOutput(self, LEDGER_OUTPUT, value=self.ledger.table.table_name)
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
        self.evaluate = evaluate_drift(
            self, settings=settings, shared=self._shared, table_arn=self._table_arn, placements=self.placements
        )
        self.watch = watch_amis(
            self, settings=settings, shared=self._shared, table_arn=self._table_arn, tell=self._tell()
        )
        self.notifier = None if deployment.slack is None else self._notifier(deployment.slack)
        self._wake()
        self._close_at_the_end(self._let_in().of_closers if deployment.access_entries == "create" else [])
        self._watch_over()

    @property
    def _table_arn(self) -> str:
        return self.ledger.table.table_arn

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

    def _let_in(self) -> AccessEntries:
        return AccessEntries(
            self,
            "Access",
            group=self._settings.deployment.kubernetes_group,
            placements=[(each, self.placements[each.name]) for each in self._settings.placements],
        )

    def _close_at_the_end(self, entries: Sequence[str]) -> None:
        """Before anything is deleted that a closing needs, or by which people hear of it."""
        telling = [self.bus, self.messages, *([] if self.notifier is None else [self.notifier])]
        FleetClosing(
            self,
            "FleetClosing",
            shared=self._shared,
            table_arn=self._table_arn,
            closers={name: each.closer for name, each in self.placements.items()},
            entries=entries,
            needed=[*self.placements.values(), *telling],
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
            Env.FAILURES_URL.value: self.failures.queue.queue_url,
        }

    def _placement(self, placement: PlacementSettings) -> PipelinePlacement:
        return PipelinePlacement(
            self,
            f"Placement-{placement.name}",
            settings=self._settings,
            placement=placement,
            shared=self._shared,
            table_arn=self._table_arn,
            tell=self._tell(),
        )

    def _tell(self) -> list[Grant]:
        """To say what was done, on the bus and to people, and to keep what people could not be told."""
        topic = permissions.publish_to(self.messages.arn, self.messages.key.key_arn)
        kept = permissions.send_to([self.failures.queue.queue_arn])
        return [permissions.put_events(self.bus.bus.event_bus_arn), *topic, kept]

    def _notifier(self, slack: Slack) -> SlackNotifier:
        return SlackNotifier(
            self,
            "Notifier",
            shared=self._shared,
            topic=self.messages,
            table_arn=self._table_arn,
            slack=slack,
        )
