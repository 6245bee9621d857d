"""Change Calendars, which moto lacks: their documents are kept as the times at which they open and close.

Source: aws docs, API_GetCalendarState (2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from driftgate.ports import Clock
from infra.local.cloud.answering import CallError
from infra.local.cloud.front import Answer
from infra.local.iam.calls import Call

Moment = tuple[datetime, str]


class ChangeCalendars:
    """Calendars by name: the instants at which they change, in order, each with the state that begins then."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moments: dict[str, list[Moment]] = {}

    @property
    def answers(self) -> Mapping[tuple[str, str], Answer]:
        return {("ssm", "GetCalendarState"): self._state}

    def put(self, name: str, *moments: Moment) -> None:
        """The calendar, from now on; its first moment must not lie ahead."""
        self._moments[name] = sorted(moments)

    def _state(self, call: Call) -> Mapping[str, Any]:
        at = datetime.fromisoformat(call.params["AtTime"]) if "AtTime" in call.params else self._clock.now()
        found = [self._of(name) for name in call.params["CalendarNames"]]
        states = {[state for begin, state in moments if begin <= at][-1] for moments in found}
        later = [begin for moments in found for begin, _ in moments if begin > at]
        answer = {"State": "OPEN" if states == {"OPEN"} else "CLOSED", "AtTime": _text(at)}
        return answer | ({"NextTransitionTime": _text(min(later))} if later else {})

    def _of(self, name: str) -> list[Moment]:
        found = self._moments.get(name.rsplit("document/", 1)[-1])
        if found is None:
            raise CallError("InvalidDocument", f"Calendar {name} does not exist")
        return found


def _text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
