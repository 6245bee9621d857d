"""What the environment tells a function about its deployment; what people want is in driftgate.yaml, not here.

Nothing is read at import, and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from driftgate.contract import CONFIG_FILE, SERVICE, Env
from driftgate.domain.errors import InvalidSettingsError, Problem

_NAME = re.compile(r"[A-Za-z0-9._-]{3,255}")
_DEPLOYMENT = re.compile(r"[a-z][a-z0-9-]{0,31}")
_QUEUE = re.compile(r"https?://\S{1,240}\.fifo")
_FUNCTION = re.compile(r"[A-Za-z0-9:_/.$-]{1,200}")
_BUS = re.compile(r"[A-Za-z0-9:/._-]{1,256}")
_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}")
_PLACEMENT = re.compile(r"[a-z][a-z0-9-]{0,19}")
_SECRET = re.compile(r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]{1,519}")
_CHANNEL = re.compile(r"[CGD][A-Z0-9]{2,}")
_URL = re.compile(r"https?://[^\s?#]{1,200}[^\s?#/]")
_CLUSTER = r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}"
_CLUSTERS = re.compile(f"{_CLUSTER}(,{_CLUSTER})*")
_REMEDY = "Deploy again, or set it for this function."


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where a deployment keeps its things.

    `queues` (URLs) and `closers` (names or ARNs of the functions that close gates) are by placement; one without a
    placement serves all of them and stands under "". `topic_arn` None: nobody is told through SNS; `failures_url` is
    the queue that keeps what SNS did not take. `config_path` is the driftgate.yaml that travels with the code;
    `clusters` are its clusters, () where the environment does not name them. `placement` None: this function looks
    after the clusters of every placement.
    """

    deployment: str
    table: str
    event_bus: str
    queues: Mapping[str, str] = field(default_factory=dict)
    closers: Mapping[str, str] = field(default_factory=dict)
    placement: str | None = None
    topic_arn: str | None = None
    failures_url: str | None = None
    config_path: Path = Path(CONFIG_FILE)
    clusters: tuple[str, ...] = ()
    service: str = SERVICE

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> Settings:
        """The settings in these variables; an empty variable counts as absent.

        Raises:
            InvalidSettingsError: with every variable that is missing or cannot be right.
        """
        reader = _Reader(environment)
        clusters = reader.optional(Env.CLUSTERS, _matches(_CLUSTERS), "names of clusters, separated by commas")
        settings = cls(
            deployment=reader.required(Env.DEPLOYMENT, _matches(_DEPLOYMENT), "lower-case letters, digits and dashes"),
            table=reader.required(Env.TABLE, _matches(_NAME), "the name of a DynamoDB table"),
            event_bus=reader.required(Env.EVENT_BUS, _matches(_BUS), "the name of an event bus"),
            queues=reader.placed(Env.QUEUE_URL, _matches(_QUEUE), "the URL of a FIFO queue"),
            closers=reader.placed(Env.CLOSER, _matches(_FUNCTION), "the name of a function"),
            placement=reader.optional(Env.PLACEMENT, _matches(_PLACEMENT), "the name of a placement"),
            topic_arn=reader.optional(Env.TOPIC_ARN, _matches(_TOPIC), "the ARN of an SNS topic"),
            failures_url=reader.optional(Env.FAILURES_URL, _matches(_URL), "the URL of a queue"),
            config_path=Path(environment.get(Env.TASK_ROOT, ""), environment.get(Env.CONFIG) or CONFIG_FILE),
            clusters=tuple(clusters.split(",")) if clusters else (),
            service=environment.get(Env.SERVICE) or SERVICE,
        )
        if reader.problems:
            raise InvalidSettingsError("environment", reader.problems)
        return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifierSettings:
    """What the notifier needs to know. `channel` "" : the secret must be a webhook; `url` None: Slack at slack.com."""

    table: str
    secret: str
    channel: str = ""
    url: str | None = None

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> NotifierSettings:
        """The settings in these variables; an empty variable counts as absent.

        Raises:
            InvalidSettingsError: with every variable that is missing or cannot be right.
        """
        reader = _Reader(environment)
        settings = cls(
            table=reader.required(Env.TABLE, _matches(_NAME), "the name of a DynamoDB table"),
            secret=reader.required(Env.SLACK_SECRET, _matches(_SECRET), "the ARN of the secret"),
            channel=reader.optional(Env.SLACK_CHANNEL, _matches(_CHANNEL), "the id of a Slack channel") or "",
            url=reader.optional(Env.SLACK_URL, _matches(_URL), "an address without a slash at its end"),
        )
        if reader.problems:
            raise InvalidSettingsError("environment", reader.problems)
        return settings


Check = Callable[[str], bool]


class _Reader:
    """Reads variables one by one and remembers what is wrong."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.problems: list[Problem] = []

    def required(self, name: Env, is_valid: Check, wanted: str) -> str:
        value = self.optional(name, is_valid, wanted)
        if value is None:
            self._problem(name, f"is missing: {wanted}")
        return value or ""

    def optional(self, name: Env, is_valid: Check, wanted: str) -> str | None:
        value = self._environment.get(name)
        if value and not is_valid(value):
            self._problem(name, f"should be {wanted}, not {value[:80]!r}")
        return value or None

    def placed(self, name: Env, is_valid: Check, wanted: str) -> dict[str, str]:
        """A value for each placement, or one under ""; nothing where the variable is absent."""
        value = self._environment.get(name)
        found = dict(_placed(entry) for entry in value.split(",")) if value else {}
        if not all((not key or _PLACEMENT.fullmatch(key)) and is_valid(entry) for key, entry in found.items()):
            self._problem(name, f"should be {wanted}, or placement={wanted} for each, not {str(value)[:80]!r}")
        return found

    def _problem(self, name: Env, message: str) -> None:
        self.problems.append(Problem(place="", path=name, message=message, remedy=_REMEDY))


def _placed(entry: str) -> tuple[str, str]:
    """`placement=value`, or a value alone."""
    placement, separator, value = entry.partition("=")
    return (placement, value) if separator else ("", entry)


def _matches(pattern: re.Pattern[str]) -> Check:
    return lambda value: pattern.fullmatch(value) is not None
