"""CloudWatch's memory, which moto lacks: when an alarm changed, from what to what, and that no rule mutes any.

moto keeps the alarms themselves; their times follow the cluster's clock.
Source: aws docs, API_DescribeAlarmHistory and API_ListAlarmMuteRules (2026).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from moto.cloudwatch.models import cloudwatch_backends

from driftgate.ports import Clock
from infra.local.cloud.answering import CallError
from infra.local.cloud.front import Answer
from infra.local.cloud.server import ACCOUNT, REGION
from infra.local.iam.calls import Call

FIRST_STATE = "INSUFFICIENT_DATA"
"""Of an alarm that was never evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An alarm that was set, to another state or the same."""

    alarm: str
    at: datetime
    before: str
    now: str
    reason: str


class AlarmBook:
    """Every change of every alarm since the account was made."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._states: dict[str, str] = {}
        self.changes: list[Change] = []

    @property
    def answers(self) -> Mapping[tuple[str, str], Answer]:
        return {
            ("cloudwatch", "DescribeAlarmHistory"): self._history,
            ("cloudwatch", "ListAlarmMuteRules"): lambda _: {"AlarmMuteRuleSummaries": []},
        }

    def set(self, call: Call) -> Change:
        """Takes down a SetAlarmState that succeeded."""
        name, state = call.params["AlarmName"], call.params["StateValue"]
        change = Change(
            alarm=name,
            at=self._clock.now(),
            before=self._states.get(name, FIRST_STATE),
            now=state,
            reason=call.params["StateReason"],
        )
        self._states[name] = state
        self.changes.append(change)
        _date(name, change.at)
        return change

    def _history(self, call: Call) -> Mapping[str, Any]:
        """State updates of metric alarms, all on one page."""
        asked = call.params
        if asked.get("HistoryItemType") != "StateUpdate":
            raise CallError("ValidationError", "only state updates are kept here")
        kinds = asked.get("AlarmTypes", ["MetricAlarm"])
        since = asked["StartDate"].replace(tzinfo=UTC)
        found = [
            _item(change)
            for change in self.changes
            if "MetricAlarm" in kinds and change.alarm == asked["AlarmName"] and change.at >= since
        ]
        return {"AlarmHistoryItems": found if asked.get("ScanBy") == "TimestampAscending" else found[::-1]}


def _item(change: Change) -> dict[str, Any]:
    states = {"oldState": {"stateValue": change.before}, "newState": {"stateValue": change.now}}
    return {
        "AlarmName": change.alarm,
        "AlarmType": "MetricAlarm",
        "Timestamp": change.at,
        "HistoryItemType": "StateUpdate",
        "HistorySummary": f"Alarm updated from {change.before} to {change.now}",
        "HistoryData": json.dumps({"version": "1.0", **states}),
    }


def _date(alarm: str, at: datetime) -> None:
    """moto dates by the machine's clock; the cluster's may run ahead of it."""
    kept = cloudwatch_backends[ACCOUNT][REGION].alarms[alarm]
    kept.state_updated_timestamp = at.replace(tzinfo=None)
