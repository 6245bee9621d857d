"""CloudWatch as AWS documents it, answering a boto3 client in this process: moto has neither composite alarms nor
history nor mute rules. Small pages, so that whoever forgets the next one is found out.

Source: aws docs, API_DescribeAlarms, API_DescribeAlarmHistory, API_ListAlarmMuteRules.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from botocore.awsrequest import AWSResponse, HTTPHeaders

from tests.fakes.aws_faults import refusal

PAGE = 2
LISTS = {"MetricAlarm": "MetricAlarms", "CompositeAlarm": "CompositeAlarms", "LogAlarm": "LogAlarms"}


class CloudWatchApi:
    """The alarms of one region and account. Answers only the `operations` given; the rest goes on its way."""

    def __init__(self, client: Any, operations: tuple[str, ...] | None = None) -> None:
        self.alarms: list[tuple[str, dict[str, Any]]] = []
        self.history: list[dict[str, Any]] = []
        self.muted: set[str] = set()
        self.calls: list[str] = []
        self._asked: dict[str, Any] = {}
        answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "DescribeAlarms": self._describe_alarms,
            "DescribeAlarmHistory": self._describe_history,
            "ListAlarmMuteRules": self._list_mute_rules,
        }
        self._answers = {name: answers[name] for name in operations or answers}
        client.meta.events.register("before-parameter-build.cloudwatch", self._ask)
        client.meta.events.register_first("before-call.cloudwatch", self._answer)

    def put(self, name: str, state: str, since: datetime, kind: str = "MetricAlarm", **more: Any) -> None:
        described = {
            "AlarmName": name,
            "StateValue": state,
            "StateTransitionedTimestamp": since,
            "ActionsEnabled": True,
        }
        self.alarms.append((kind, described | more))

    def record(self, name: str, at: datetime, old: str, new: str, kind: str = "MetricAlarm") -> None:
        """One change of state (or none, where old and new are the same) in the history."""
        data = json.dumps({"version": "1.0", "oldState": {"stateValue": old}, "newState": {"stateValue": new}})
        self.history.append({"AlarmName": name, "AlarmType": kind, "Timestamp": at, "HistoryData": data})

    def _ask(self, params: dict[str, Any], **_: object) -> None:
        self._asked = params

    def _answer(self, model: Any, **_: object) -> tuple[AWSResponse, dict[str, Any]] | None:
        self.calls.append(model.name)
        answer = self._answers.get(model.name)
        return None if answer is None else (AWSResponse("", 200, HTTPHeaders(), None), answer(self._asked))

    def _describe_alarms(self, asked: dict[str, Any]) -> dict[str, Any]:
        if len(asked["AlarmNames"]) > 100:
            raise refusal("ValidationError", operation="DescribeAlarms")
        kinds = asked.get("AlarmTypes", ["MetricAlarm"])
        found = [
            (kind, alarm) for kind, alarm in self.alarms if kind in kinds and alarm["AlarmName"] in asked["AlarmNames"]
        ]
        page, token = self._page(found, asked)
        return token | {LISTS[kind]: [alarm for of, alarm in page if of == kind] for kind in kinds}

    def _describe_history(self, asked: dict[str, Any]) -> dict[str, Any]:
        kinds = asked.get("AlarmTypes", ["MetricAlarm"])
        wanted = (asked["AlarmName"], asked["StartDate"])
        found = [
            entry
            for entry in self.history
            if entry["AlarmType"] in kinds and entry["AlarmName"] == wanted[0] and entry["Timestamp"] >= wanted[1]
        ]
        found.sort(key=lambda entry: entry["Timestamp"], reverse=asked.get("ScanBy") != "TimestampAscending")
        page, token = self._page(found, asked)
        return token | {"AlarmHistoryItems": page}

    def _list_mute_rules(self, asked: dict[str, Any]) -> dict[str, Any]:
        targets = self.muted if "AlarmName" not in asked else self.muted & {asked["AlarmName"]}
        page, token = self._page([{"AlarmMuteRuleArn": f"rule/{name}", "Status": "ACTIVE"} for name in targets], asked)
        return token | {"AlarmMuteRuleSummaries": page}

    @staticmethod
    def _page(found: list[Any], asked: dict[str, Any]) -> tuple[list[Any], dict[str, str]]:
        start = int(asked.get("NextToken", 0))
        end = start + PAGE
        return found[start:end], {"NextToken": str(end)} if end < len(found) else {}
