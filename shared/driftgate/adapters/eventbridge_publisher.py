"""Puts domain events on the own event bus, for machines: detail-type is the kind, detail the facts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from driftgate import contract
from driftgate.adapters.aws_errors import DENIED, aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.message import DomainEvent

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsResponseTypeDef

ACTION = "events:PutEvents"
# An entry may have 256 KB with everything around it.
MAX_DETAIL_BYTES = 240_000


class EventBridgePublisher:
    """`bus` is the name or ARN of the own event bus."""

    def __init__(self, aws: AwsSession, bus: str, region: str | None = None) -> None:
        self._aws = aws
        self._bus = bus
        self._region = region

    def publish(self, event: DomainEvent) -> None:
        client: EventBridgeClient = self._aws.client("events", region=self._region)
        with aws_call(ACTION, self._bus):
            answer = client.put_events(
                Entries=[
                    {
                        "EventBusName": self._bus,
                        "Source": contract.EVENT_SOURCE,
                        "DetailType": event.kind.value,
                        "Time": event.at,
                        "Detail": detail_of(event),
                    }
                ]
            )
        _check(answer, self._bus)


def detail_of(event: DomainEvent) -> str:
    """The detail as JSON. Facts too large for an event are left out, and `factsLeftOut` says so."""
    about: dict[str, object] = {
        "at": rfc3339(event.at),
        "cluster": event.cluster,
        "pool": event.pool,
        "thread": event.thread,
        "code": event.code,
        "title": event.title,
    }
    detail = json.dumps(event.facts | about, ensure_ascii=False, default=str)
    if len(detail.encode()) <= MAX_DETAIL_BYTES:
        return detail
    return json.dumps(about | {"factsLeftOut": sorted(event.facts)}, ensure_ascii=False)


def _check(answer: PutEventsResponseTypeDef, bus: str) -> None:
    """PutEvents answers 200 also where it took nothing."""
    for entry in answer["Entries"]:
        code = entry.get("ErrorCode")
        if code is None:
            continue
        message = f"{ACTION} on {bus} failed ({code}): {entry.get('ErrorMessage', '')}"
        raise AwsForbiddenError(message, action=ACTION) if code in DENIED else AwsUnavailableError(message)
