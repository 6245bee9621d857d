"""Puts the pieces together for one process on a laptop: the kubeconfig's cluster, a ledger, no queue.

With `bootstrap`, the only module that knows concrete adapters. They are imported where they are built.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from driftgate.app.pipeline import Pipeline
from driftgate.bootstrap import holder, read_config
from driftgate.config.load import Config, default_policy
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.observation import Observation
from driftgate.domain.policy import ClusterPolicy
from driftgate.ports import Clock, Cluster, Ledger

if TYPE_CHECKING:
    from driftgate.adapters.kubernetes_lists import ListProgress

Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How a laptop reaches a cluster and its ledger. `progress` hears what was read, and how many so far."""

    kubeconfig: str | None = None
    context: str | None = None
    cluster: str | None = None
    ledger: str | None = None
    progress: Progress | None = None


def laptop_pipeline(reach: Reach, config: Config | None, environment: Mapping[str, str]) -> Pipeline:
    """One process does it all: the kubeconfig's cluster, a ledger of its own or the deployed one, no queue.

    Raises:
        InvalidInputError: no such kubeconfig, context, cluster or ledger.
    """
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.cloudwatch_alarms import CloudWatchAlarms
    from driftgate.adapters.ec2_images import Ec2Images
    from driftgate.adapters.kubeconfig import connect_context, find_context
    from driftgate.adapters.kubernetes_cluster import KubernetesCluster
    from driftgate.adapters.local_process import LocalCloser, LocalQueue, UnaskedImages, UnaskedParameters
    from driftgate.adapters.ssm_calendars import SsmCalendars
    from driftgate.adapters.ssm_parameters import SsmParameters
    from driftgate.adapters.stdout_publisher import StdoutPublisher
    from driftgate.adapters.system_clock import SystemClock

    found = find_context(reach.kubeconfig, reach.context, environ=environment)
    base = default_policy(reach.cluster or found.cluster) if config is None else config.cluster(reach.cluster)
    client, clock = connect_context(found), SystemClock()
    region = _region(config, reach.cluster, environment)
    aws = AwsSession(clock, region)
    return Pipeline(
        clock=clock,
        ledger=_ledger(reach.ledger, base.cluster, clock, environment),
        clusters=_One(KubernetesCluster(client, progress=_told(reach.progress))),
        alarms=CloudWatchAlarms(aws),
        calendars=SsmCalendars(aws),
        parameters=SsmParameters(aws) if region else UnaskedParameters(),
        images=Ec2Images(aws) if region else UnaskedImages(),
        publisher=StdoutPublisher(sys.stderr),
        queue=LocalQueue(),
        closer=LocalCloser(),
        policy=lambda _: base,
        cluster_names=(base.cluster,),
        holder=holder(),
    )


@dataclass(frozen=True, slots=True)
class _One:
    """One connected cluster, whatever it is called."""

    cluster: Cluster

    def connect(self, cluster: str) -> Cluster:
        return self.cluster


def read_snapshot(content: str, source: str, at: datetime | None) -> Observation:
    """The situation in a snapshot's text. Raises InvalidInputError with the place."""
    from driftgate.adapters.snapshot_file import read_snapshot as read

    return read(content, source, at)


def read_nodepools(content: str, source: str, at: datetime) -> tuple[NodePoolSnapshot, ...]:
    """The NodePools in manifests. Raises InvalidInputError with the place."""
    return read_snapshot(content, source, at).nodepools


def read_policy(path: Path) -> ClusterPolicy:
    """The policy of a configuration with one cluster. Raises InvalidInputError, InvalidSettingsError."""
    return read_config(path).cluster(None)


def write_snapshot(cluster: Cluster, observation: Observation, *, redact: bool) -> str:
    """The stream of a snapshot: the cluster's objects as it gives them, and the observation beside them."""
    from driftgate.adapters.kubernetes_cluster import KubernetesCluster
    from driftgate.adapters.kubernetes_resources import SNAPSHOT_RESOURCES
    from driftgate.adapters.snapshot_file import write_snapshot as write

    if not isinstance(cluster, KubernetesCluster):
        raise TypeError("only a cluster behind the API can be written down")
    unread = {error.resource for error in observation.errors}
    wanted = [name for name in SNAPSHOT_RESOURCES if name not in unread]
    return write((raw for name in wanted for raw in cluster.list_raw(name)), observation, redact=redact)


def ledger_path(cluster: str, environment: Mapping[str, str]) -> Path:
    """Where this user's ledger of a cluster is kept unless `--ledger` says otherwise."""
    state = environment.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "driftgate" / f"{re.sub('[^A-Za-z0-9._-]+', '-', cluster) or 'cluster'}.json"


def _ledger(spec: str | None, cluster: str, clock: Clock, environment: Mapping[str, str]) -> Ledger:
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
    from driftgate.adapters.ledger_file import FileLedger

    kind, _, value = (spec or f"file:{ledger_path(cluster, environment)}").partition(":")
    match kind, bool(value):
        case "file", True:
            Path(value).expanduser().parent.mkdir(parents=True, exist_ok=True)
            return FileLedger(Path(value).expanduser(), clock)
        case "dynamodb", True:
            return DynamoDbLedger(AwsSession(clock), value, clock)
        case _:
            raise InvalidInputError(
                f"{spec!r} names no ledger", place="--ledger", remedy="Write file:PATH or dynamodb:TABLE."
            )


def _region(config: Config | None, cluster: str | None, environment: Mapping[str, str]) -> str | None:
    configured = None if config is None else config.settings_of(cluster).region
    return configured or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or None


def _told(progress: Progress | None) -> Callable[[ListProgress], None] | None:
    return None if progress is None else lambda page: progress(page.resource, page.items)
