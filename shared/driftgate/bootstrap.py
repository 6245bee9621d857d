"""Puts the pieces together: the only module that knows concrete adapters.

Adapters are imported where they are built, so that a heartbeat that finds nothing never loads the Kubernetes client.
A test or the pipeline on one machine puts its own pieces in with `use`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from driftgate.app.pipeline import Pipeline
from driftgate.config.load import Config, load_config
from driftgate.domain.errors import InvalidInputError
from driftgate.ports import Cluster, Clusters, EventPublisher
from driftgate.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Which deployment this process belongs to, and the region it runs in."""

    name: str
    region: str


@dataclass(slots=True)
class _Process:
    pipeline: Pipeline | None = None
    deployment: Deployment | None = None


_process = _Process()


def pipeline() -> Pipeline:
    """The pipeline of this Lambda, built at the first call of the process.

    Raises:
        InvalidSettingsError: the environment or the driftgate.yaml beside the code is wrong.
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


def use(pipeline: Pipeline | None, deployment: Deployment | None = None) -> None:
    """Puts these pieces in place of what the environment says; None builds from the environment again."""
    _process.pipeline, _process.deployment = pipeline, deployment


def read_config(path: Path) -> Config:
    """The driftgate.yaml at this path. Raises InvalidSettingsError, InvalidInputError (no such file)."""
    try:
        return load_config(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise InvalidInputError(
            f"cannot be read: {error.strerror}", place=str(path), remedy="Name the file with --config."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError("is not UTF-8 text", place=str(path), remedy="Save it as UTF-8.") from error


def lambda_pipeline(environment: Mapping[str, str]) -> Pipeline:
    """The pipeline that these variables describe; nothing is called yet."""
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.cloudwatch_alarms import CloudWatchAlarms
    from driftgate.adapters.ec2_images import Ec2Images
    from driftgate.adapters.lambda_closer import LambdaCloser
    from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
    from driftgate.adapters.sqs_work_queue import SqsWorkQueue
    from driftgate.adapters.ssm_calendars import SsmCalendars
    from driftgate.adapters.ssm_parameters import SsmParameters
    from driftgate.adapters.system_clock import SystemClock

    settings = Settings.from_env(environment)
    config, clock = read_config(settings.config_path), SystemClock()
    aws = AwsSession(clock)
    return Pipeline(
        clock=clock,
        ledger=DynamoDbLedger(aws, settings.table, clock),
        clusters=_LazyClusters(config),
        alarms=CloudWatchAlarms(aws),
        calendars=SsmCalendars(aws),
        parameters=SsmParameters(aws),
        images=Ec2Images(aws),
        publisher=_publisher(settings, config),
        queue=SqsWorkQueue(aws, settings.queue_url),
        closer=LambdaCloser(aws, settings.closer),
        policy=lambda name: replace(config.cluster(name), deployment=settings.deployment),
        cluster_names=config.cluster_names(),
        holder=environment.get("AWS_LAMBDA_LOG_STREAM_NAME") or holder(),
    )


def _publisher(settings: Settings, config: Config) -> EventPublisher:
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.eventbridge_publisher import EventBridgePublisher
    from driftgate.adapters.fan_out_publisher import FanOutPublisher
    from driftgate.adapters.sns_publisher import SnsPublisher
    from driftgate.adapters.system_clock import SystemClock

    aws = AwsSession(SystemClock())
    publishers: list[EventPublisher] = [EventBridgePublisher(aws, settings.event_bus)]
    wants_sns = any(config.settings_of(name).notify_sns for name in config.cluster_names())
    if settings.topic_arn is not None and wants_sns:
        publishers.append(SnsPublisher(aws, settings.topic_arn))
    return FanOutPublisher(publishers)


class _LazyClusters:
    """Loads the Kubernetes adapter at the first connection."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._clusters: Clusters | None = None

    def connect(self, cluster: str) -> Cluster:
        if self._clusters is None:
            self._clusters = _eks_clusters(self._config)
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
