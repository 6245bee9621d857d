"""The bus on which driftgate says what it did, for whoever wants to listen."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_events as events
from constructs import Construct

from driftgate.contract import EVENT_SOURCE


class DomainEventBus(Construct):
    """With an archive where days are given; nothing of ours acts on what is replayed from it."""

    def __init__(self, scope: Construct, id_: str, *, name: str, archive_days: int | None) -> None:
        super().__init__(scope, id_)
        self.bus = events.EventBus(self, "Bus", event_bus_name=name)
        if archive_days is not None:
            self.bus.archive(
                "Archive",
                archive_name=name,
                description="What driftgate said",
                event_pattern=events.EventPattern(source=[EVENT_SOURCE]),
                retention=cdk.Duration.days(archive_days),
            )
