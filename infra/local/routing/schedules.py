"""EventBridge Scheduler: the template's schedules, fired by the cluster's clock.

Source: aws docs, scheduler/latest/UserGuide, schedule-types and managing-schedule-context-attributes (2026).
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from infra.local.cloud.account import Account, NotAllowedError, service
from infra.local.template.document import TemplateError
from infra.local.template.loading import Deployed, Stack
from infra.local.template.making import arn
from infra.local.tempo import Tempo

_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_UNIT = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
SCHEDULER = service("scheduler")
Invoke = Callable[[str, Any], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """`target` is the ARN of a function; `dead_letters` "" : what cannot be delivered is lost."""

    name: str
    arn: str
    group_arn: str
    every: timedelta
    target: str
    input: str
    role_arn: str
    dead_letters: str = ""

    def payload(self, at: datetime) -> Any:
        """The input with Scheduler's keywords replaced."""
        words = {
            "scheduled-time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "schedule-arn": self.arn,
            "execution-id": str(uuid.uuid4()),
            "attempt-number": "1",
        }
        text = self.input
        for word, value in words.items():
            text = text.replace(f"<aws.scheduler.{word}>", value)
        return json.loads(text)


def schedules_of(stack: Stack) -> tuple[Schedule, ...]:
    """The enabled ones. Raises TemplateError for one that cannot be run here."""
    return tuple(
        _schedule(found)
        for found in stack.of_type("AWS::Scheduler::Schedule")
        if found.properties.get("State", "ENABLED") == "ENABLED"
    )


def _schedule(deployed: Deployed) -> Schedule:
    found, target = deployed.properties, deployed.properties["Target"]
    unknown = sorted(set(target) - {"Arn", "RoleArn", "Input", "DeadLetterConfig", "RetryPolicy"})
    rate = _RATE.fullmatch(found["ScheduleExpression"])
    if rate is None or unknown or found["FlexibleTimeWindow"] != {"Mode": "OFF"}:
        raise TemplateError(f"{deployed.logical_id}: only rates without a flexible window are run here {unknown}")
    if ":lambda:" not in target["Arn"]:
        raise TemplateError(f"{deployed.logical_id}: {target['Arn']} is no function, and others are not served here")
    return Schedule(
        name=deployed.physical.ref,
        arn=deployed.arn,
        group_arn=arn("scheduler", f"schedule-group/{found.get('GroupName', 'default')}"),
        every=int(rate.group(1)) * _UNIT[rate.group(2)],
        target=target["Arn"],
        input=target.get("Input", "{}"),
        role_arn=target["RoleArn"],
        dead_letters=target.get("DeadLetterConfig", {}).get("Arn", ""),
    )


class Scheduler:
    """Fires every schedule at its rate, from its start on. `invoke` hands an event to a function."""

    def __init__(self, schedules: tuple[Schedule, ...], account: Account, tempo: Tempo, invoke: Invoke) -> None:
        self.schedules: Mapping[str, Schedule] = {schedule.name: schedule for schedule in schedules}
        self._account = account
        self._tempo = tempo
        self._invoke = invoke
        self.lost: list[str] = []

    def start(self) -> None:
        """The first firing is one interval from now, as with a new schedule in AWS."""
        for schedule in self.schedules.values():
            self._again(schedule, self._tempo.clock.now() + schedule.every)

    def fire(self, name: str) -> None:
        """Now, whatever its rate says."""
        self._fire(self.schedules[name], self._tempo.clock.now())

    def _again(self, schedule: Schedule, at: datetime) -> None:
        def due() -> None:
            self._again(schedule, at + schedule.every)
            self._fire(schedule, at)

        self._tempo.after((at - self._tempo.clock.now()).total_seconds(), due)

    def _fire(self, schedule: Schedule, at: datetime) -> None:
        payload = schedule.payload(at)
        try:
            taken = self._account.assume(SCHEDULER, schedule.role_arn, schedule.group_arn)
            self._account.require(taken, "lambda:InvokeFunction", schedule.target)
        except NotAllowedError as error:
            self._bury(schedule, payload, str(error))
        else:
            self._invoke(schedule.target, payload)

    def _bury(self, schedule: Schedule, payload: Any, why: str) -> None:
        said = {"ERROR_CODE": "AccessDeniedException", "ERROR_MESSAGE": why, "SCHEDULE_ARN": schedule.arn}
        try:
            if not schedule.dead_letters:
                raise NotAllowedError("it has no dead-letter queue")
            taken = self._account.assume(SCHEDULER, schedule.role_arn, schedule.group_arn)
            self._account.send(taken, schedule.dead_letters, json.dumps(payload), said)
        except NotAllowedError as error:
            self.lost.append(f"{schedule.name} could not fire: {why}; {error}")
