"""The events that services raise, in the form in which they raise them.

Source: aws docs, monitoring-systems-manager-event-examples, cloudwatch-and-eventbridge, eb-events-structure (2026).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from infra.local.cloud.alarms import Change
from infra.local.cloud.server import ACCOUNT, REGION
from infra.local.template.making import arn

Event = dict[str, Any]


def _event(source: str, detail_type: str, at: datetime, resources: list[str], detail: Mapping[str, Any]) -> Event:
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": ACCOUNT,
        "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": resources,
        "detail": dict(detail),
    }


def parameter_changed(asked: Mapping[str, Any], version: int, at: datetime) -> Event:
    """Of a PutParameter. It tells no value, and the description only where there is one."""
    name = str(asked["Name"])
    detail = {"operation": "Create" if version == 1 else "Update", "name": name, "type": asked.get("Type", "String")}
    if asked.get("Description"):
        detail["description"] = asked["Description"]
    resource = arn("ssm", f"parameter{name}" if name.startswith("/") else f"parameter/{name}")
    return _event("aws.ssm", "Parameter Store Change", at, [resource], detail)


def alarm_changed(change: Change, described: Mapping[str, Any]) -> Event:
    """`described` is the alarm as DescribeAlarms has it. Times have `+0000`."""
    metric = {
        "namespace": described.get("Namespace", ""),
        "name": described.get("MetricName", ""),
        "dimensions": {entry["Name"]: entry["Value"] for entry in described.get("Dimensions", ())},
    }
    stat = {"metric": metric, "period": described.get("Period", 60), "stat": described.get("Statistic", "")}
    at = change.at.strftime("%Y-%m-%dT%H:%M:%S.000+0000")
    detail = {
        "alarmName": change.alarm,
        "state": {"value": change.now, "reason": change.reason, "timestamp": at},
        "previousState": {"value": change.before, "reason": "", "timestamp": at},
        "configuration": {
            "description": described.get("AlarmDescription", ""),
            "metrics": [{"id": "m1", "metricStat": stat, "returnData": True}],
        },
    }
    resource = arn("cloudwatch", f"alarm:{change.alarm}")
    return _event("aws.cloudwatch", "CloudWatch Alarm State Change", change.at, [resource], detail)


def calendar_changed(name: str, state: str, at: datetime, next_at: datetime | None) -> Event:
    detail = {"state": state, "atTime": at.strftime("%Y-%m-%dT%H:%M:%SZ")}
    if next_at is not None:
        detail["nextTransitionTime"] = next_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return _event("aws.ssm", "Calendar State Change", at, [arn("ssm", f"document/{name}")], detail)


def put_event(entry: Mapping[str, Any], at: datetime) -> Event:
    """An entry of PutEvents, as rules see it."""
    return _event(
        entry["Source"], entry["DetailType"], at, list(entry.get("Resources", ())), json.loads(entry["Detail"])
    )


def alarm_message(change: Change, described: Mapping[str, Any]) -> tuple[str, str]:
    """Subject and message that an alarm's action publishes on a topic.

    Source: aws docs, AlarmThatSendsEmail; a recorded one is tests/events/sns_delivery.json.
    """
    message = {
        "AlarmName": change.alarm,
        "AlarmDescription": described.get("AlarmDescription"),
        "AWSAccountId": ACCOUNT,
        "NewStateValue": change.now,
        "NewStateReason": change.reason,
        "StateChangeTime": change.at.strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "Region": REGION,
        "AlarmArn": arn("cloudwatch", f"alarm:{change.alarm}"),
        "OldStateValue": change.before,
        "OKActions": described.get("OKActions", []),
        "AlarmActions": described.get("AlarmActions", []),
        "InsufficientDataActions": described.get("InsufficientDataActions", []),
        "Trigger": {"MetricName": described.get("MetricName"), "Namespace": described.get("Namespace")},
    }
    return f'{change.now}: "{change.alarm}" in {REGION}', json.dumps(message)
