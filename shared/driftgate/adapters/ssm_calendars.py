"""Systems Manager Change Calendars, asked one by one: asked together, AWS would say only that one of them is closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from driftgate.adapters.aws_errors import aws_call, code_of
from driftgate.adapters.aws_session import AwsSession
from driftgate.domain.jsonvalue import instant, rfc3339
from driftgate.domain.observation import CalendarObservation

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

NO_CALENDAR = frozenset({"InvalidDocument", "InvalidDocumentType"})


class SsmCalendars:
    """Calendars by name or ARN, as they stand now or at a moment to come."""

    def __init__(self, aws: AwsSession, region: str | None = None) -> None:
        self._aws = aws
        self._region = region

    def read(self, names: Sequence[str], at: datetime | None = None) -> tuple[CalendarObservation, ...]:
        return tuple(self._read_one(name, at) for name in names)

    def _read_one(self, name: str, at: datetime | None) -> CalendarObservation:
        client: SSMClient = self._aws.client("ssm", region=self._region)
        moment: Any = {} if at is None else {"AtTime": rfc3339(at)}
        with aws_call("ssm:GetCalendarState", name):
            try:
                answer = client.get_calendar_state(CalendarNames=[name], **moment)
            except ClientError as error:
                if code_of(error) in NO_CALENDAR:
                    return CalendarObservation(name=name, state="MISSING")
                raise
        return CalendarObservation(
            name=name, state=answer["State"], next_transition=instant(answer.get("NextTransitionTime"))
        )
