"""What wakes a function, as typed values: EventBridge events, Scheduler payloads, queue messages, close requests.

Events are hints: they say where to look, never what to do. So what this version does not know, and every replayed
event, becomes an `UnknownEvent`, which is logged and dropped; what lacks a promised field raises. Must not decide.

Source: aws docs, monitoring-systems-manager-event-examples and cloudwatch-and-eventbridge (2026).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from driftgate import contract
from driftgate.domain.errors import InvalidEventError, InvalidInputError
from driftgate.domain.fields import Fields
from driftgate.domain.jsonvalue import mapping, text
from driftgate.ports import CloseRequest, StackRequest, WorkMessage

T = TypeVar("T")
CHECK_SENDER = "Check what sends this event: it is not what its type promises."


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an EventBridge event came from. `id` is unique per event; a delivery may be repeated with the same id."""

    id: str
    at: datetime
    account: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterChanged:
    """An own SSM parameter changed. `operation` is Create, Update, Delete or LabelParameterVersion."""

    origin: Origin
    name: str
    operation: str

    @property
    def has_new_value(self) -> bool:
        return self.operation in ("Create", "Update")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmChanged:
    """A metric, composite or log alarm changed its state.

    Muting and suppression stop an alarm's actions, not its events: `muted_by` is the ARN of the mute rule,
    `suppressed_by` is WaitPeriod, ExtensionPeriod or Alarm; both "" where nothing holds the actions back.
    """

    origin: Origin
    name: str
    state: str
    previous_state: str = ""
    muted_by: str = ""
    suppressed_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarChanged:
    """A Change Calendar opened or closed. `calendar` is the document's ARN."""

    origin: Origin
    calendar: str
    state: str
    next_transition: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The minute's tick. `scheduled_at` is the minute it stands for, also when it is delivered late."""

    scheduled_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """Time to look at the image parameters."""

    scheduled_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEvent:
    """Nothing to act on, and why: to be logged and dropped."""

    why: str
    id: str = ""
    source: str = ""
    detail_type: str = ""


Event = ParameterChanged | AlarmChanged | CalendarChanged | Heartbeat | Poll | CloseRequest | UnknownEvent


def parse_event(payload: object) -> Event:
    """The event that a function was invoked with.

    Raises InvalidEventError where a known type lacks what it promises, with the field's place.
    """
    if not isinstance(payload, Mapping):
        raise InvalidEventError("is not an object", place="event", remedy=CHECK_SENDER)
    event = mapping(payload)
    if "replay-name" in event:
        return _unknown(event, f"replayed from the archive as {event['replay-name']}")
    if "driftgate" in event:
        return _own(event)
    reader = _READERS.get((text(event.get("source")), text(event.get("detail-type"))))
    if reader is None:
        return _unknown(event, "no such source and detail-type is handled here")
    return _read(reader, event)


def _own(event: Mapping[str, object]) -> Event:
    """A payload of our own: from EventBridge Scheduler, or a request of the heartbeat to close."""
    match event["driftgate"]:
        case "heartbeat":
            return Heartbeat(scheduled_at=_read(_scheduled_at, event))
        case "poll":
            return Poll(scheduled_at=_read(_scheduled_at, event))
        case "close":
            return _read(_close_request, event)
    return _unknown(event, f"driftgate has no payload {event['driftgate']!r}")


def _unknown(event: Mapping[str, object], why: str) -> UnknownEvent:
    def shown(key: str) -> str:
        return str(event.get(key, ""))

    return UnknownEvent(why=why, id=shown("id"), source=shown("source"), detail_type=shown("detail-type"))


def _read(reader: Callable[[Mapping[str, object]], T], entry: Mapping[str, object]) -> T:
    try:
        return reader(entry)
    except InvalidInputError as error:
        raise InvalidEventError(error.message, place=error.place, remedy=CHECK_SENDER) from error


def _part(event: Mapping[str, object], *keys: str, optional: bool = False) -> Fields:
    """The object found by following keys, with its place; an optional one may be absent."""
    found: object = event
    for key in keys:
        found = mapping(found).get(key)
    return Fields({} if found is None and optional else found, ".".join(("event", *keys)))


def _required_instant(fields: Fields, key: str) -> datetime:
    at = fields.instant(key)
    if at is None:
        raise InvalidEventError(f"{key} is missing", place=fields.place, remedy=CHECK_SENDER)
    return at


def _origin(event: Mapping[str, object]) -> Origin:
    envelope = _part(event)
    return Origin(
        id=envelope.required_text("id"),
        at=_required_instant(envelope, "time"),
        account=envelope.text("account"),
        region=envelope.text("region"),
    )


def _parameter(event: Mapping[str, object]) -> ParameterChanged:
    detail = _part(event, "detail")
    return ParameterChanged(
        origin=_origin(event), name=detail.required_text("name"), operation=detail.required_text("operation")
    )


def _alarm(event: Mapping[str, object]) -> AlarmChanged:
    """Needs no `configuration`: it differs between metric, composite and log alarms."""
    state = _part(event, "detail", "state")
    return AlarmChanged(
        origin=_origin(event),
        name=_part(event, "detail").required_text("alarmName"),
        state=state.required_text("value"),
        previous_state=_part(event, "detail", "previousState", optional=True).text("value"),
        muted_by=_part(event, "detail", "muteDetail", optional=True).text("mutedByArn"),
        suppressed_by=state.text("actionsSuppressedBy"),
    )


def _calendar(event: Mapping[str, object]) -> CalendarChanged:
    arns = _part(event).texts("resources")
    if not arns:
        raise InvalidEventError("names no calendar", place="event.resources", remedy=CHECK_SENDER)
    detail = _part(event, "detail")
    return CalendarChanged(
        origin=_origin(event),
        calendar=arns[0],
        state=detail.required_text("state"),
        next_transition=detail.instant("nextTransitionTime"),
    )


def _scheduled_at(event: Mapping[str, object]) -> datetime:
    return _required_instant(_part(event), "scheduledAt")


_READERS: dict[tuple[str | None, str | None], Callable[[Mapping[str, object]], Event]] = {
    contract.PARAMETER_CHANGED: _parameter,
    contract.CALENDAR_CHANGED: _calendar,
    contract.ALARM_CHANGED: _alarm,
}


def close_request_to_object(request: CloseRequest) -> dict[str, object]:
    """The payload that asks `close_budgets` to close now."""
    payload: dict[str, object] = {
        "driftgate": "close",
        "cluster": request.cluster,
        "cause": request.cause,
        "ref": request.ref,
    }
    return payload if request.pool is None else payload | {"pool": request.pool}


def _close_request(event: Mapping[str, object]) -> CloseRequest:
    fields = _part(event)
    return CloseRequest(
        cluster=fields.required_text("cluster"),
        cause=fields.required_text("cause"),
        ref=fields.text("ref"),
        pool=fields.optional_text("pool"),
    )


def stack_request_of(payload: object) -> StackRequest:
    """What CloudFormation asks of a custom resource. Raises InvalidEventError.

    Source: aws docs, AWSCloudFormation/latest/UserGuide/crpg-ref-requests (2026).
    """
    return _read(_stack_request, mapping(payload))


def _stack_request(event: Mapping[str, object]) -> StackRequest:
    fields = _part(event)
    return StackRequest(
        kind=fields.required_text("RequestType"),
        stack=fields.required_text("StackId"),
        request=fields.required_text("RequestId"),
        resource=fields.required_text("LogicalResourceId"),
        physical_id=fields.text("PhysicalResourceId"),
        answer_to=fields.required_text("ResponseURL"),
    )


def work_message_to_body(message: WorkMessage) -> str:
    """The message as the body of an SQS record."""
    body = {"cluster": message.cluster, "dedup": message.dedup, "cause": message.cause, "rollId": message.roll_id}
    return json.dumps(body, ensure_ascii=False)


def work_message_from_body(body: str) -> WorkMessage:
    """The message in an SQS record's body. Raises InvalidEventError."""
    try:
        parsed: object = json.loads(body)
    except ValueError as error:
        raise InvalidEventError("the queue message is not JSON", remedy=CHECK_SENDER) from error
    if not isinstance(parsed, Mapping):
        raise InvalidEventError("the queue message is not an object", remedy=CHECK_SENDER)
    return _read(_work_message, parsed)


def _work_message(body: Mapping[str, object]) -> WorkMessage:
    fields = _part(body)
    return WorkMessage(
        cluster=fields.required_text("cluster"),
        dedup=fields.required_text("dedup"),
        cause=fields.required_text("cause"),
        roll_id=fields.text("rollId"),
    )
