"""The kinds of text and number that driftgate.yaml holds, each refused with the spelling that was meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema

from driftgate.config.refusal import refusal, refusal_of
from driftgate.domain.cron import CronSchedule
from driftgate.domain.duration import format_duration, parse_duration
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.fields import shown
from driftgate.domain.zone import load_zone

_LONG_UNITS = re.compile(r"([0-9]{1,4})([dw])")
_HOURS = {"d": 24, "w": 168}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(_DAY.pattern + r"[T ]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?")
# Any year will do that has every date: a schedule that finds none after it never finds one.
_BEFORE_A_LEAP_DAY = datetime.fromisoformat("2024-01-01T00:00")
_LONGEST = timedelta(hours=8736)
_EVERY_MINUTE = (1 << 60) - 1
_ALWAYS = "* * * * *"


def _duration(value: object) -> timedelta:
    if not isinstance(value, str):
        raise refusal(f"{shown(value)} is not a duration", _unit_remedy(value))
    if long := _LONG_UNITS.fullmatch(value):
        hours = int(long[1]) * _HOURS[long[2]]
        raise refusal(f"{value!r} is not a duration: days differ in length", f"Write {hours}h.")
    try:
        length = parse_duration(value)
    except InvalidInputError as error:
        raise refusal_of(error) from error
    if not timedelta(0) <= length <= _LONGEST:
        raise refusal(f"{value!r} is not between 0h and 8736h", "Write what is meant in hours, such as 72h.")
    return length


def _unit_remedy(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"Add a unit: {value}h, {value}m or {value}s." if is_number else "Write it like 10m, 3h or 1h30m."


def _positive(length: timedelta) -> timedelta:
    if not length:
        raise refusal("is zero, so nothing could ever happen in it", "Write it like 10m, 3h or 1h30m.")
    return length


def _zone(name: str) -> str:
    try:
        load_zone(name)
    except InvalidInputError as error:
        raise refusal_of(error) from error
    return name


def _cron(text: str) -> str:
    try:
        schedule = CronSchedule.parse(text)
    except InvalidInputError as error:
        raise refusal_of(error) from error
    if schedule.every is not None:
        raise refusal(f"{text!r} has no fixed start", "Write five fields, such as 0 */6 * * *.")
    if schedule.next_naive(_BEFORE_A_LEAP_DAY) is None:
        raise refusal(f"{text!r} names a date that never comes", "Check day and month.")
    if schedule.minutes == _EVERY_MINUTE and text.split() != _ALWAYS.split():
        rest = " ".join(text.split()[1:])
        message = f"{text!r} starts again every minute, and each start counts anew"
        raise refusal(message, f"Write one minute, such as 0 {rest}.")
    return text


def _per_window(value: object) -> int | None:
    if value == "all":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise refusal(
        f"should be a number of 1 or more, or all, not {shown(value)}", "To open nothing, write mode: observe."
    )


def _moment(value: object) -> date:
    text = value if isinstance(value, str) else ""
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
        if _TIME.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError as error:
        raise refusal(f"{text!r} does not exist: {error}", "Check day, month and time.") from error
    remedy = "Write it like 2026-11-20, 2026-11-20T08:00 or 2026-11-20T08:00:00Z."
    raise refusal(f"{shown(value)} is neither a date nor a time", remedy)


def _matching(pattern: str, wanted: str, remedy: str) -> Callable[[str], str]:
    """A check that the whole text matches."""
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if compiled.fullmatch(text) is None:
            raise refusal(f"{text[:80]!r} is not {wanted}", remedy)
        return text

    return check


_DURATION_SCHEMA = {"type": "string", "pattern": r"^([0-9.]+(h|m|s))+$", "examples": ["10m", "3h", "1h30m"]}
Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema(_DURATION_SCHEMA),
]
PositiveDuration = Annotated[Duration, AfterValidator(_positive)]

Zone = Annotated[str, AfterValidator(_zone)]
Cron = Annotated[str, AfterValidator(_cron)]
PerWindow = Annotated[int | None, PlainValidator(_per_window, json_schema_input_type=int | Literal["all"])]
Moment = Annotated[date, PlainValidator(_moment, json_schema_input_type=str)]
"""A date, a wall-clock time (naive) or an instant (aware)."""

Label = Annotated[
    str,
    AfterValidator(
        _matching(
            r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
            "a name for this",
            "Use up to 63 letters, digits, dots, dashes and underscores: it becomes part of keys.",
        )
    ),
]
ClusterName = Annotated[
    str,
    AfterValidator(
        _matching(
            r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}", "a cluster's name", "Write it as EKS or the kubeconfig has it."
        )
    ),
]
PoolName = Annotated[
    str,
    AfterValidator(
        _matching(
            r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?",
            "a NodePool's name",
            "Write the name as `kubectl get nodepools` shows it; patterns are not possible.",
        )
    ),
]
Region = Annotated[
    str, AfterValidator(_matching(r"[a-z]{2,4}(-[a-z]+)+-[0-9]", "an AWS region", "Write it like eu-central-1."))
]
ParameterName = Annotated[
    str,
    AfterValidator(
        _matching(
            r"(arn:aws[a-z-]*:ssm:[a-z0-9-]+:[0-9]*:parameter)?/?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*",
            "a parameter's name",
            "Write the name or the ARN of an SSM parameter, such as /golden/al2023/image_id.",
        )
    ),
]
RoleArn = Annotated[
    str,
    AfterValidator(
        _matching(
            r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+",
            "the ARN of a role",
            "Write it like arn:aws:iam::111122223333:role/driftgate.",
        )
    ),
]


def _spelled(pattern: str, wanted: str, remedy: str) -> AfterValidator:
    return AfterValidator(_matching(pattern, wanted, remedy))


DeploymentName = Annotated[
    str,
    _spelled(
        r"[a-z][a-z0-9-]{0,23}",
        "a deployment's name",
        "Use up to 24 lower-case letters, digits and dashes, a letter first: it becomes part of names in AWS.",
    ),
]
PlacementName = Annotated[
    str,
    _spelled(
        r"(?!default$)[a-z][a-z0-9-]{0,19}",
        "a placement's name",
        "Use up to 20 lower-case letters, digits and dashes, a letter first; default is the one outside of VPCs.",
    ),
]
GroupName = Annotated[
    str, _spelled(r"(?!system:)[a-z0-9][a-z0-9:._-]{0,62}", "a group for this", "Write it like driftgate.")
]
Email = Annotated[str, _spelled(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address", "Write it like team@example.com.")]
SecretArn = Annotated[
    str,
    _spelled(
        r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+-[A-Za-z0-9]{6}",
        "the ARN of a secret",
        "Write it whole, with the six characters at its end, as `aws secretsmanager describe-secret` shows it.",
    ),
]
SlackWorkspace = Annotated[
    str, _spelled(r"T[A-Z0-9]{2,20}", "a Slack workspace's id", "Write the id that begins with T.")
]
SlackChannel = Annotated[
    str, _spelled(r"[CG][A-Z0-9]{2,20}", "a Slack channel's id", "Write the id that begins with C or G.")
]
SubnetId = Annotated[
    str, _spelled(r"subnet-[0-9a-f]{8,17}", "a subnet's id", "Write it like subnet-0a1b2c3d4e5f60718.")
]
SecurityGroupId = Annotated[
    str, _spelled(r"sg-[0-9a-f]{8,17}", "a security group's id", "Write it like sg-0a1b2c3d4e5f60718.")
]
Text = Annotated[str, AfterValidator(_matching(r"(?s).*\S.*", "a text", "Write something there, or take it out."))]
