"""CloudWatch alarms: metric, composite and log alarms, wherever a guard says they live.

Muting and suppression are told, never applied: an alarm in ALARM is in ALARM. When the last datapoint came is not told
by these calls, so it stays unknown. Must not judge.

Source: aws docs, API_DescribeAlarms, API_DescribeAlarmHistory, API_ListAlarmMuteRules (boto3 1.44).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from driftgate.adapters.aws_errors import aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.domain.jsonvalue import child, instant, text
from driftgate.domain.observation import AlarmObservation, AlarmTransition

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient

    from driftgate.domain.policy import AlarmGuard

NO_ALARM = AlarmObservation(name="", state="MISSING")
PER_CALL = 100
# Where an answer lists the alarms of which type. What is not asked for by type is left out of answers.
LISTS: Mapping[str, str] = {"MetricAlarms": "MetricAlarm", "CompositeAlarms": "CompositeAlarm", "LogAlarms": "LogAlarm"}


class CloudWatchAlarms:
    """Alarms of any region and account; a guard that names none means the own."""

    def __init__(self, aws: AwsSession, region: str | None = None) -> None:
        self._aws = aws
        self._region = region

    def read(self, guards: Sequence[AlarmGuard], history_since: datetime) -> tuple[AlarmObservation, ...]:
        names: dict[tuple[str | None, str | None], dict[str, None]] = {}
        for guard in guards:
            names.setdefault((guard.region, guard.account_role), {})[guard.name] = None
        found = {place: self._of_place(*place, list(listed), history_since) for place, listed in names.items()}
        return tuple(
            found[guard.region, guard.account_role].get(guard.name, replace(NO_ALARM, name=guard.name))
            for guard in guards
        )

    def _of_place(
        self, region: str | None, role: str | None, names: Sequence[str], history_since: datetime
    ) -> dict[str, AlarmObservation]:
        """The alarms of one region and account by name; those that do not exist are left out."""
        client: CloudWatchClient = self._aws.client("cloudwatch", region=region or self._region, role=role)
        alarms = list(_described(client, names))
        has_mute_rules = bool(alarms) and _is_muted(client)
        return {
            name: replace(
                _observed(alarm),
                muted=_is_suppressed(alarm) or (has_mute_rules and _is_muted(client, name)),
                history=_changes(client, alarm, kind, history_since),
            )
            for kind, alarm in alarms
            for name in [alarm["AlarmName"]]
        }


def _described(client: CloudWatchClient, names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Type and description of every alarm that exists."""
    for start in range(0, len(names), PER_CALL):
        request = {"AlarmNames": names[start : start + PER_CALL], "AlarmTypes": list(LISTS.values())}
        for page in _pages("DescribeAlarms", client.describe_alarms, request):
            yield from ((kind, alarm) for listed, kind in LISTS.items() for alarm in page.get(listed, ()))


def _observed(alarm: Mapping[str, Any]) -> AlarmObservation:
    return AlarmObservation(
        name=alarm["AlarmName"],
        state=alarm["StateValue"],
        since=instant(alarm.get("StateTransitionedTimestamp") or alarm.get("StateUpdatedTimestamp")),
        actions_enabled=bool(alarm.get("ActionsEnabled", True)),
    )


def _is_suppressed(alarm: Mapping[str, Any]) -> bool:
    """Whether a composite alarm's actions are held back by its suppressor."""
    return bool(alarm.get("ActionsSuppressedBy"))


def _is_muted(client: CloudWatchClient, name: str | None = None) -> bool:
    """Whether an active mute rule targets the alarm; without a name, whether there is any active rule at all."""
    request: dict[str, Any] = {"Statuses": ["ACTIVE"]} | ({} if name is None else {"AlarmName": name})
    pages = _pages("ListAlarmMuteRules", client.list_alarm_mute_rules, request)
    return any(page.get("AlarmMuteRuleSummaries") for page in pages)


def _changes(
    client: CloudWatchClient, alarm: Mapping[str, Any], kind: str, since: datetime
) -> tuple[AlarmTransition, ...]:
    """Each call is billed, and most alarms have not changed for days: then there is nothing to ask for."""
    changed = instant(alarm.get("StateTransitionedTimestamp"))
    return () if changed is not None and changed < since else _history(client, alarm["AlarmName"], kind, since)


def _history(client: CloudWatchClient, name: str, kind: str, since: datetime) -> tuple[AlarmTransition, ...]:
    """The changes of state since then, oldest first."""
    request = {
        "AlarmName": name,
        "AlarmTypes": [kind],
        "HistoryItemType": "StateUpdate",
        "StartDate": since,
        "ScanBy": "TimestampAscending",
    }
    pages = _pages("DescribeAlarmHistory", client.describe_alarm_history, request)
    changes = (_transition(entry) for page in pages for entry in page.get("AlarmHistoryItems", ()))
    return tuple(change for change in changes if change is not None)


def _transition(entry: Mapping[str, Any]) -> AlarmTransition | None:
    """The change that a history item tells; None where the state stayed.

    An item whose states cannot be read (the server cuts long ones) counts as a change, to a state that is not known.
    """
    old, new = _state(entry, "oldState"), _state(entry, "newState")
    if new is not None and new == old:
        return None
    return AlarmTransition(at=entry["Timestamp"].astimezone(UTC), state=new or "UNKNOWN")


def _state(entry: Mapping[str, Any], which: str) -> str | None:
    try:
        return text(child(json.loads(entry.get("HistoryData", "")), which).get("stateValue"))
    except ValueError:
        return None


def _pages(action: str, call: Callable[..., Any], request: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The answers of a call that comes by page."""
    token: dict[str, str] = {}
    while True:
        with aws_call(f"cloudwatch:{action}"):
            page = call(**request, **token, MaxRecords=PER_CALL)
        yield page
        if not page.get("NextToken"):
            return
        token = {"NextToken": page["NextToken"]}
