"""Tells through several ways: each is tried, whatever happened to the others, and no failure is hidden."""

from __future__ import annotations

from collections.abc import Sequence

from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError, DriftgateError
from driftgate.domain.message import DomainEvent
from driftgate.ports import EventPublisher


class FanOutPublisher:
    def __init__(self, publishers: Sequence[EventPublisher]) -> None:
        self._publishers = tuple(publishers)

    def publish(self, event: DomainEvent) -> None:
        """Raises AwsForbiddenError where every failure needs a person, else AwsUnavailableError; with all of them."""
        failures: list[DriftgateError] = []
        for publisher in self._publishers:
            try:
                publisher.publish(event)
            except DriftgateError as error:
                failures.append(error)
        if failures:
            raise _combined(failures, len(self._publishers)) from ExceptionGroup("publishing", failures)


def _combined(failures: Sequence[DriftgateError], tried: int) -> AwsForbiddenError | AwsUnavailableError:
    message = f"{len(failures)} of {tried} ways to tell failed: " + "; ".join(str(failure) for failure in failures)
    if all(isinstance(failure, AwsForbiddenError) for failure in failures):
        return AwsForbiddenError(message)
    return AwsUnavailableError(message)
