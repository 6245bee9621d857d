"""Puts the pieces together: the only module that knows concrete adapters.

Adapters are imported where they are built, and the configuration is read when it is first asked for, so that a
heartbeat that finds nothing loads neither the Kubernetes client nor the model of driftgate.yaml.
A test or the pipeline on one machine puts its own pieces in with `use`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from driftgate.app.pipeline import Pipeline
from driftgate.contract import DEFAULT_PLACEMENT
from driftgate.domain.errors import InvalidInputError
from driftgate.settings import NotifierSettings, Settings

if TYPE_CHECKING:
    from driftgate.app.notify_slack import Notifier
    from driftgate.config.load import Config
    from driftgate.domain.message import DomainEvent
    from driftgate.domain.policy import ClusterPolicy
    from driftgate.ports import Clock, Cluster, Clusters, EventPublisher, StackAnswers


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Which deployment this process belongs to, and the region it runs in."""

    name: str
    region: str


@dataclass(slots=True)
class _Process:
    pipeline: Pipeline | None = None
    deployment: Deployment | None = None
    notifier: Notifier | None = None
    clock: Clock | None = None


_process = _Process()


def pipeline() -> Pipeline:
    """The pipeline of this Lambda, built at the first call of the process.

    Raises:
        InvalidSettingsError: the environment is wrong. What is wrong in the driftgate.yaml beside the code is
            raised by whatever first asks for it.
        InvalidInputError: there is no driftgate.yaml.
    """
    if _process.pipeline is None:
        _process.pipeline = lambda_pipeline(os.environ)
    return _process.pipeline


def deployment() -> Deployment:
    """The deployment of this Lambda."""
    if _process.deployment is None:
        settings = Settings.from_env(os.environ)
        _process.deployment = Deployment(name=settings.deployment, region=os.environ.get("AWS_REGION", ""))
    return _process.deployment


def notifier() -> Notifier:
    """What the notifier of this deployment speaks through. Raises InvalidSettingsError."""
    if _process.notifier is None:
        _process.notifier = _slack_notifier(NotifierSettings.from_env(os.environ))
    return _process.notifier


def stack_answers() -> StackAnswers:
    """How CloudFormation is answered."""
    from driftgate.adapters.cloudformation_answers import CloudFormationAnswers

    return CloudFormationAnswers()


def use(pipeline: Pipeline | None, deployment: Deployment | None = None, *, notifier: Notifier | None = None) -> None:
    """Puts these pieces in place of what the environment says; None builds from the environment again."""
    _process.pipeline, _process.deployment, _process.notifier = pipeline, deployment, notifier


def use_clock(clock: Clock | None) -> None:
    """What is built from the environment from now on tells the time by this clock; None: by the system's."""
    _process.clock = clock


def _clock() -> Clock:
    from driftgate.adapters.system_clock import SystemClock

    return _process.clock or SystemClock()


def read_config(path: Path) -> Config:
    """The driftgate.yaml at this path. Raises InvalidSettingsError, InvalidInputError (no such file)."""
    from driftgate.config.load import load_config

    try:
        return load_config(_content(path).decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise InvalidInputError("is not UTF-8 text", place=str(path), remedy="Save it as UTF-8.") from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(
            f"cannot be read: {error.strerror}", place=str(path), remedy="Name the file with --config."
        ) from error


class _ConfigFile:
    """The driftgate.yaml beside the code: its digest at once, what it says at the first question."""

    def __init__(self, path: Path, deployment: str, region: str) -> None:
        self._path = path
        self._deployment = deployment
        self._region = region
        self.digest = sha256(_content(path)).hexdigest()

    @cached_property
    def config(self) -> Config:
        return read_config(self._path)

    def cluster_names(self, placement: str | None) -> tuple[str, ...]:
        """Of this placement; None: of all."""
        names = self.config.cluster_names()
        return names if placement is None else tuple(name for name in names if self.placement_of(name) == placement)

    def placement_of(self, cluster: str) -> str:
        return self.config.settings_of(cluster).placement or DEFAULT_PLACEMENT

    def policy(self, cluster: str) -> ClusterPolicy:
        found = self.config.cluster(cluster)
        location = replace(found.location, region=found.location.region or self._region)
        return replace(found, deployment=self._deployment, location=location)


def lambda_pipeline(environment: Mapping[str, str]) -> Pipeline:
    """The pipeline that these variables describe; nothing is called yet."""
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.cloudwatch_alarms import CloudWatchAlarms
    from driftgate.adapters.ec2_images import Ec2Images
    from driftgate.adapters.image_history_dynamodb import DynamoDbImageHistory
    from driftgate.adapters.lambda_closer import LambdaCloser
    from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
    from driftgate.adapters.placements import PlacedCloser, PlacedWorkQueue
    from driftgate.adapters.sqs_work_queue import SqsWorkQueue
    from driftgate.adapters.ssm_calendars import SsmCalendars
    from driftgate.adapters.ssm_parameters import SsmParameters

    settings = Settings.from_env(environment)
    region = environment.get("AWS_REGION", "")
    file, clock = _ConfigFile(settings.config_path, settings.deployment, region), _clock()
    aws = AwsSession(clock)
    return Pipeline(
        clock=clock,
        ledger=DynamoDbLedger(aws, settings.table, clock),
        clusters=_LazyClusters(file),
        alarms=CloudWatchAlarms(aws),
        calendars=SsmCalendars(aws),
        parameters=SsmParameters(aws),
        images=Ec2Images(aws),
        history=DynamoDbImageHistory(aws, settings.table, clock),
        publisher=_LazyPublisher(settings, file),
        queue=PlacedWorkQueue({at: SqsWorkQueue(aws, url) for at, url in settings.queues.items()}, file.placement_of),
        closer=PlacedCloser({at: LambdaCloser(aws, arn) for at, arn in settings.closers.items()}, file.placement_of),
        policy=file.policy,
        cluster_names=settings.clusters or file.cluster_names(settings.placement),
        holder=environment.get("AWS_LAMBDA_LOG_STREAM_NAME") or holder(),
        config_digest=file.digest,
    )


def _slack_notifier(settings: NotifierSettings) -> Notifier:
    """Nothing is called yet: the secret is read with the first message."""
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.slack_secret import SecretSlackChannel
    from driftgate.adapters.slack_threads import DynamoDbThreads
    from driftgate.app.notify_slack import Notifier

    clock = _clock()
    aws = AwsSession(clock)
    return Notifier(
        clock=clock,
        channel=SecretSlackChannel(aws, settings.secret, settings.channel, settings.url),
        threads=DynamoDbThreads(aws, settings.table, clock),
    )


class _LazyPublisher:
    """Knows whom to tell at the first event: whether through SNS is for the configuration to say."""

    def __init__(self, settings: Settings, file: _ConfigFile) -> None:
        self._settings = settings
        self._file = file
        self._publisher: EventPublisher | None = None

    def publish(self, event: DomainEvent) -> None:
        if self._publisher is None:
            self._publisher = _publisher(self._settings, self._file.config)
        self._publisher.publish(event)


def _publisher(settings: Settings, config: Config) -> EventPublisher:
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.counted_publisher import CountedPublisher
    from driftgate.adapters.eventbridge_publisher import EventBridgePublisher
    from driftgate.adapters.fan_out_publisher import FanOutPublisher
    from driftgate.adapters.kept_publisher import KeptPublisher
    from driftgate.adapters.sns_publisher import SnsPublisher
    from driftgate.adapters.system_clock import SystemClock

    aws = AwsSession(SystemClock())
    publishers: list[EventPublisher] = [EventBridgePublisher(aws, settings.event_bus)]
    wants_sns = any(config.settings_of(name).notify_sns for name in config.cluster_names())
    if settings.topic_arn is not None and wants_sns:
        topic = SnsPublisher(aws, settings.topic_arn)
        publishers.append(topic if settings.failures_url is None else KeptPublisher(topic, aws, settings.failures_url))
    return CountedPublisher(FanOutPublisher(publishers))


class _LazyClusters:
    """Loads the Kubernetes adapter at the first connection."""

    def __init__(self, file: _ConfigFile) -> None:
        self._file = file
        self._clusters: Clusters | None = None

    def connect(self, cluster: str) -> Cluster:
        if self._clusters is None:
            self._clusters = _eks_clusters(self._file.config)
        return self._clusters.connect(cluster)


def _eks_clusters(config: Config) -> Clusters:
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.eks_auth import EksClusters, EksReach
    from driftgate.adapters.system_clock import SystemClock

    setups = {name: config.settings_of(name) for name in config.cluster_names()}
    reach = {name: EksReach(region=setup.region, role=setup.account_role) for name, setup in setups.items()}
    clock = SystemClock()
    return EksClusters(AwsSession(clock), clock, reach)


def holder() -> str:
    """Who this process is to others: user, machine and process id."""
    user = os.environ.get("USER") or os.environ.get("USERNAME") or "driftgate"
    return f"{user}@{socket.gethostname()}:{os.getpid()}"
