"""The one document of a snapshot that is ours: `driftgate.dev/v1, kind: Observation`.

Absent means not known; a list that was read and is empty is `[]`. A field that nobody knows is refused, so that a
misspelt one is not taken for "not known".
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeVar

from driftgate.domain.errors import InvalidInputError
from driftgate.domain.fields import Fields
from driftgate.domain.jsonvalue import JsonObject, rfc3339
from driftgate.domain.observation import Observation
from driftgate.domain.observed_records import (
    alarm_from_object,
    alarm_to_object,
    calendar_from_object,
    calendar_to_object,
    image_from_object,
    image_to_object,
    parameter_from_object,
    parameter_to_object,
    read_error_from_object,
    read_error_to_object,
)
from driftgate.domain.records import (
    counter_from_object,
    counter_to_object,
    image_verdict_from_object,
    image_verdict_to_object,
    known,
    lease_from_object,
    lease_to_object,
    roll_from_object,
    roll_to_object,
    stop_from_object,
    stop_to_object,
)

API_VERSION = "driftgate.dev/v1"
KIND = "Observation"

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class _FromObject(Protocol[T_co]):
    def __call__(self, entry: object, place: str, *, strict: bool) -> T_co: ...


def is_observation(raw: JsonObject) -> bool:
    """Whether the document is ours, in any version."""
    group, _, _ = str(raw.get("apiVersion")).partition("/")
    return group == "driftgate.dev" and raw.get("kind") == KIND


def observation_from_object(raw: JsonObject, place: str, at: datetime | None) -> Observation:
    """What is not in the cluster; `at`, where given, goes before the document's own.

    Raises:
        InvalidInputError: another version, an unknown field, a value of a wrong type, or no time at all.
    """
    fields = Fields(raw, f"{place}: {KIND}")
    if fields.text("apiVersion") != API_VERSION:
        raise InvalidInputError(
            f"{raw.get('apiVersion')} is not known", place=place, remedy=f"Write apiVersion: {API_VERSION}."
        )
    fields.text("kind")
    fields.anything("metadata")
    found = Observation(
        at=observed_at(at, fields.instant("at"), place),
        karpenter_version=fields.optional_text("karpenterVersion"),
        alarms=_list(fields, "alarms", alarm_from_object),
        calendars=_list(fields, "calendars", calendar_from_object),
        parameters=_list(fields, "parameters", parameter_from_object),
        images=_list(fields, "images", image_from_object),
        rolls=_list(fields, "rolls", roll_from_object),
        leases=_list(fields, "leases", lease_from_object),
        stops=_list(fields, "stops", stop_from_object),
        counters=_list(fields, "counters", counter_from_object),
        image_verdicts=_list(fields, "imageVerdicts", image_verdict_from_object),
        errors=_list(fields, "errors", read_error_from_object) or (),
    )
    fields.refuse_unknown()
    return found


def observed_at(wanted: datetime | None, written: datetime | None, place: str) -> datetime:
    """The moment to judge: the wanted one, else the written one.

    Raises:
        InvalidInputError: there is neither.
    """
    at = wanted or written
    if at is None:
        remedy = f"Give --at TIME, or add a document of kind {KIND} with at: TIME."
        raise InvalidInputError("when this was read is not known", place=place, remedy=remedy)
    return at


def observation_to_object(observation: Observation) -> dict[str, object]:
    """The document; Kubernetes objects stand beside it in the stream."""
    lists = {
        "alarms": _shown(observation.alarms, alarm_to_object),
        "calendars": _shown(observation.calendars, calendar_to_object),
        "parameters": _shown(observation.parameters, parameter_to_object),
        "images": _shown(observation.images, image_to_object),
        "rolls": _shown(observation.rolls, roll_to_object),
        "leases": _shown(observation.leases, lease_to_object),
        "stops": _shown(observation.stops, stop_to_object),
        "counters": _shown(observation.counters, counter_to_object),
        "imageVerdicts": _shown(observation.image_verdicts, image_verdict_to_object),
        "errors": _shown(observation.errors, read_error_to_object),
    }
    head = known(
        apiVersion=API_VERSION,
        kind=KIND,
        at=rfc3339(observation.at),
        karpenterVersion=observation.karpenter_version,
    )
    return head | {key: entries for key, entries in lists.items() if entries is not None}


def _list(fields: Fields, key: str, read: _FromObject[T]) -> tuple[T, ...] | None:
    entries = fields.entries(key)
    return None if entries is None else tuple(read(item, place, strict=True) for item, place in entries)


def _shown(entries: tuple[T, ...] | None, show: Callable[[T], dict[str, object]]) -> list[dict[str, object]] | None:
    return None if entries is None else [show(entry) for entry in entries]
