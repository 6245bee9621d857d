"""Puts the pieces together for one process on a laptop: the kubeconfig's cluster, a ledger, no queue.

With `bootstrap`, the only module that knows concrete adapters. They are imported where they are built.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from driftgate.app.pipeline import Pipeline
from driftgate.bootstrap import holder
from driftgate.config.load import Config, default_policy
from driftgate.domain.errors import (
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    ClusterUnavailableError,
    DriftgateError,
    InvalidInputError,
    KarpenterMissingError,
)
from driftgate.domain.jsonvalue import JsonObject
from driftgate.domain.location import Location
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.observation import Observation, ReadError
from driftgate.ports import ApiServer, Clock, Cluster, ImageHistory, Ledger

if TYPE_CHECKING:
    from driftgate.adapters.kubeconfig import KubeContext
    from driftgate.adapters.kubernetes_cluster import KubernetesCluster
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
    base = default_policy(reach.cluster or name_of(found)) if config is None else config.cluster(reach.cluster)
    client, clock = connect_context(found), SystemClock()
    region = _region(config, reach.cluster, environment)
    # a person is already who may read there: no role is taken
    base = replace(base, location=Location(region or ""))
    aws = AwsSession(clock, region)
    return Pipeline(
        clock=clock,
        ledger=_ledger(reach.ledger, base.cluster, clock, environment),
        clusters=_One(KubernetesCluster(client, progress=_told(reach.progress))),
        alarms=CloudWatchAlarms(aws),
        calendars=SsmCalendars(aws),
        parameters=SsmParameters(aws) if region else UnaskedParameters(),
        images=Ec2Images(aws) if region else UnaskedImages(),
        history=_history(reach.ledger, clock),
        publisher=StdoutPublisher(sys.stderr),
        queue=LocalQueue(),
        closer=LocalCloser(),
        policy=lambda _: base,
        cluster_names=(base.cluster,),
        holder=holder(),
    )


def name_of(found: KubeContext) -> str:
    """The cluster's name in a context: the last part of an EKS ARN, else the entry's own name."""
    return found.cluster.rpartition("/")[2] or found.cluster


def mismatch(reach: Reach, config: Config | None, environment: Mapping[str, str]) -> str | None:
    """What to say where the configuration speaks of another cluster than the context reaches; else None."""
    from driftgate.adapters.kubeconfig import find_context

    if config is None or reach.cluster is not None:
        return None
    found = find_context(reach.kubeconfig, reach.context, environ=environment)
    configured, reached = config.cluster(None).cluster, name_of(found)
    if configured == reached:
        return None
    return (
        f"driftgate.yaml speaks of {configured}, and the context {found.name} reaches {reached}. Pauses and rolls that "
        f"are kept under {reached} do not count here. If they are one cluster, give it one name in driftgate.yaml; if "
        f"not, name the right context with --context. --cluster {configured} confirms it and silences this."
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSnapshot:
    """A snapshot's text, and what could not be read of it."""

    text: str
    errors: tuple[ReadError, ...]


def write_snapshot(cluster: Cluster, observation: Observation, *, redact: bool) -> WrittenSnapshot:
    """The stream of a snapshot: the cluster's objects as it gives them, and the observation beside them.

    What cannot be read is named in it as an error.
    """
    from driftgate.adapters.kubernetes_cluster import KubernetesCluster
    from driftgate.adapters.snapshot_file import write_snapshot as write

    if not isinstance(cluster, KubernetesCluster):
        raise TypeError("only a cluster behind the API can be written down")
    objects, errors = _raw_objects(cluster, {error.resource for error in observation.errors})
    known = replace(observation, errors=(*observation.errors, *errors))
    return WrittenSnapshot(text=write(objects, known, redact=redact), errors=known.errors)


def _raw_objects(cluster: KubernetesCluster, unread: AbstractSet[str]) -> tuple[list[JsonObject], list[ReadError]]:
    """Every object of every kind that is judged, but those known to be unreadable; and what else was."""
    from driftgate.adapters.kubernetes_resources import NODE_CLASSES, SNAPSHOT_RESOURCES

    objects: list[JsonObject] = []
    errors: list[ReadError] = []
    for plural in SNAPSHOT_RESOURCES:
        name = "nodeclasses" if plural == NODE_CLASSES.plural else plural
        if name in unread:
            continue
        try:
            objects += cluster.list_raw(plural)
        except KarpenterMissingError as error:
            if plural != NODE_CLASSES.plural:
                errors.append(ReadError(resource=name, status=404, message=str(error)))
        except (ClusterUnauthorizedError, ClusterForbiddenError, ClusterUnavailableError) as error:
            errors.append(ReadError(resource=name, status=_status(error), message=str(error)))
    return objects, errors


def _status(error: DriftgateError) -> int:
    match error:
        case ClusterUnauthorizedError():
            return 401
        case ClusterForbiddenError():
            return 403
        case _:
            return 0


def api_server_of(cluster: Cluster) -> ApiServer:
    """The API server behind a cluster that this laptop has reached."""
    from driftgate.adapters.kubernetes_cluster import KubernetesCluster

    if not isinstance(cluster, KubernetesCluster):
        raise TypeError("only a cluster behind the API has an API server to ask")
    return cluster


def default_ledger(cluster: str, environment: Mapping[str, str]) -> str:
    """This user's ledger of a cluster, where `--ledger` says no other."""
    state = environment.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return f"file:{state}/driftgate/{re.sub('[^A-Za-z0-9._-]+', '-', cluster) or 'cluster'}.json"


def _ledger(spec: str | None, cluster: str, clock: Clock, environment: Mapping[str, str]) -> Ledger:
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
    from driftgate.adapters.ledger_file import FileLedger

    kind, _, value = (spec or default_ledger(cluster, environment)).partition(":")
    match kind, bool(value):
        case "file", True:
            path = Path(value).expanduser()
            # A reader needs no folder, and a writer is told by the ledger that there is none.
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
            return FileLedger(path, clock)
        case "dynamodb", True:
            return DynamoDbLedger(AwsSession(clock), value, clock)
        case _:
            raise InvalidInputError(
                f"{spec!r} names no ledger", place="--ledger", remedy="Write file:PATH or dynamodb:TABLE."
            )


def _history(spec: str | None, clock: Clock) -> ImageHistory:
    """What the deployment saw, beside its ledger; a ledger of one's own has none."""
    from driftgate.adapters.aws_session import AwsSession
    from driftgate.adapters.image_history_dynamodb import DynamoDbImageHistory
    from driftgate.adapters.local_process import NoImageHistory

    kind, _, table = (spec or "").partition(":")
    return DynamoDbImageHistory(AwsSession(clock), table, clock) if kind == "dynamodb" else NoImageHistory()


def _region(config: Config | None, cluster: str | None, environment: Mapping[str, str]) -> str | None:
    configured = None if config is None else config.settings_of(cluster).region
    return configured or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or None


def _told(progress: Progress | None) -> Callable[[ListProgress], None] | None:
    return None if progress is None else lambda page: progress(page.resource, page.items)
