"""What a snapshot says beside Kubernetes objects: alarms, calendars, parameters, images, read errors.

Keys are camelCase; what is not known is left out. Ledger records have their own module.
"""

from __future__ import annotations

from enum import StrEnum

from driftgate.domain.errors import InvalidInputError
from driftgate.domain.fields import Fields
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.observation import (
    AlarmObservation,
    AlarmTransition,
    CalendarObservation,
    ImageObservation,
    ParameterObservation,
    ReadError,
)
from driftgate.domain.records import known, read_record


class AlarmState(StrEnum):
    """CloudWatch's three states, and MISSING where there is no such alarm."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"
    MISSING = "MISSING"


class CalendarState(StrEnum):
    """The two states of a Change Calendar."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"


def alarm_to_object(alarm: AlarmObservation) -> dict[str, object]:
    shown = known(
        name=alarm.name,
        state=alarm.state,
        since=rfc3339(alarm.since),
        actionsEnabled=alarm.actions_enabled,
        muted=alarm.muted,
        lastDatapointAt=rfc3339(alarm.last_datapoint_at),
    )
    if alarm.history is None:
        return shown
    return shown | {"history": [{"at": rfc3339(t.at), "state": t.state} for t in alarm.history]}


def alarm_from_object(entry: object, place: str = "alarm", *, strict: bool = True) -> AlarmObservation:
    """The alarm. Raises InvalidInputError with the field's place."""
    return read_record(lambda fields: _alarm(fields, strict=strict), entry, place, strict=strict)


def _alarm(fields: Fields, *, strict: bool) -> AlarmObservation:
    history = fields.entries("history")
    return AlarmObservation(
        name=fields.required_text("name"),
        state=_state(fields, AlarmState),
        since=fields.instant("since"),
        actions_enabled=fields.flag("actionsEnabled", default=True),
        muted=fields.flag("muted", default=False),
        last_datapoint_at=fields.instant("lastDatapointAt"),
        history=None
        if history is None
        else tuple(read_record(_transition, item, place, strict=strict) for item, place in history),
    )


def _transition(fields: Fields) -> AlarmTransition:
    at = fields.instant("at")
    if at is None:
        raise InvalidInputError("at is missing", place=fields.place, remedy="Add the time of the change.")
    return AlarmTransition(at=at, state=_state(fields, AlarmState))


def calendar_to_object(calendar: CalendarObservation) -> dict[str, object]:
    return known(name=calendar.name, state=calendar.state, nextTransition=rfc3339(calendar.next_transition))


def calendar_from_object(entry: object, place: str = "calendar", *, strict: bool = True) -> CalendarObservation:
    """The calendar. Raises InvalidInputError with the field's place."""
    return read_record(_calendar, entry, place, strict=strict)


def _calendar(fields: Fields) -> CalendarObservation:
    return CalendarObservation(
        name=fields.required_text("name"),
        state=_state(fields, CalendarState),
        next_transition=fields.instant("nextTransition"),
    )


def parameter_to_object(parameter: ParameterObservation) -> dict[str, object]:
    return known(
        name=parameter.name,
        value=parameter.value,
        version=parameter.version,
        modifiedAt=rfc3339(parameter.modified_at),
    )


def parameter_from_object(entry: object, place: str = "parameter", *, strict: bool = True) -> ParameterObservation:
    """The parameter. Raises InvalidInputError with the field's place."""
    return read_record(_parameter, entry, place, strict=strict)


def _parameter(fields: Fields) -> ParameterObservation:
    return ParameterObservation(
        name=fields.required_text("name"),
        value=fields.text("value"),
        version=fields.integer("version"),
        modified_at=fields.instant("modifiedAt"),
    )


def image_to_object(image: ImageObservation) -> dict[str, object]:
    return known(
        id=image.id,
        name=image.name,
        createdAt=rfc3339(image.created_at),
        deprecatedAt=rfc3339(image.deprecated_at),
    )


def image_from_object(entry: object, place: str = "image", *, strict: bool = True) -> ImageObservation:
    """The image. Raises InvalidInputError with the field's place."""
    return read_record(_image, entry, place, strict=strict)


def _image(fields: Fields) -> ImageObservation:
    return ImageObservation(
        id=fields.required_text("id"),
        name=fields.text("name"),
        created_at=fields.instant("createdAt"),
        deprecated_at=fields.instant("deprecatedAt"),
    )


def read_error_to_object(error: ReadError) -> dict[str, object]:
    return known(resource=error.resource, message=error.message, name=error.name) | {"status": error.status}


def read_error_from_object(entry: object, place: str = "error", *, strict: bool = True) -> ReadError:
    """The read error. Raises InvalidInputError with the field's place."""
    return read_record(_read_error, entry, place, strict=strict)


def _read_error(fields: Fields) -> ReadError:
    return ReadError(
        resource=fields.required_text("resource"),
        status=fields.count("status", 0),
        message=fields.text("message"),
        name=fields.text("name"),
    )


def _state(fields: Fields, kind: type[AlarmState] | type[CalendarState]) -> str:
    state = fields.choice("state", kind)
    if state is None:
        remedy = "Add state, one of " + ", ".join(kind) + "."
        raise InvalidInputError("state is missing", place=fields.place, remedy=remedy)
    return state.value
