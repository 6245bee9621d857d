"""Change Calendars as AWS documents them, answering a boto3 client in this process: moto has none.

Source: aws docs, API_GetCalendarState.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from botocore.awsrequest import AWSResponse, HTTPHeaders

from tests.fakes.aws_faults import refusal


class ChangeCalendarApi:
    """Calendars by name: the instants at which they change, each with the state that begins then."""

    def __init__(self, client: Any, now: datetime) -> None:
        self.calendars: dict[str, list[tuple[datetime, str]]] = {}
        self._now = now
        self._asked: dict[str, Any] = {}
        client.meta.events.register("before-parameter-build.ssm.GetCalendarState", self._ask)
        client.meta.events.register_first("before-call.ssm.GetCalendarState", self._answer)

    def _ask(self, params: dict[str, Any], **_: object) -> None:
        self._asked = params

    def _answer(self, **_: object) -> tuple[AWSResponse, dict[str, Any]]:
        at = datetime.fromisoformat(self._asked["AtTime"]) if "AtTime" in self._asked else self._now
        found = [self.calendars.get(name) for name in self._asked["CalendarNames"]]
        if None in found:
            raise refusal("InvalidDocument", operation="GetCalendarState")
        states = [[state for begin, state in changes or () if begin <= at][-1] for changes in found]
        later = [begin for changes in found for begin, _ in changes or () if begin > at]
        answer = {"State": "OPEN" if set(states) == {"OPEN"} else "CLOSED", "AtTime": at.isoformat()}
        if later:
            answer["NextTransitionTime"] = min(later).strftime("%Y-%m-%dT%H:%M:%SZ")
        return AWSResponse("", 200, HTTPHeaders(), None), answer
