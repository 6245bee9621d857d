"""Counts what could not be told, wherever in a run that was, so that an alarm can tell it on another way."""

from __future__ import annotations

from driftgate.contract import Metric
from driftgate.domain.errors import DriftgateError
from driftgate.domain.message import DomainEvent
from driftgate.observability import count
from driftgate.ports import EventPublisher


class CountedPublisher:
    """Raises what the publisher raises."""

    def __init__(self, publisher: EventPublisher) -> None:
        self._publisher = publisher

    def publish(self, event: DomainEvent) -> None:
        try:
            self._publisher.publish(event)
        except DriftgateError:
            count(Metric.MESSAGE_FAILED, 1)
            raise
