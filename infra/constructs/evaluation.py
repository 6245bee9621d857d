"""The two functions that no cluster is reached from: one turns events into looks, the other watches images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from constructs import Construct

from driftgate.contract import Env
from infra.constructs import permissions
from infra.constructs.function import FunctionSettings, PipelineFunction, Shared
from infra.constructs.permissions import Grant
from infra.constructs.placement import PipelinePlacement, by_placement
from infra.settings import StackSettings

MOST_NAMES = 1500
"""Characters, of the 4 KB that all variables of a function may have. Source: aws docs, gettingstarted-limits (2026)."""

HEARTBEAT_TIMEOUT = cdk.Duration.seconds(50)
"""Over before the next heartbeat."""


def evaluate_drift(
    scope: Construct,
    *,
    settings: StackSettings,
    shared: Shared,
    table_arn: str,
    placements: Mapping[str, PipelinePlacement],
) -> PipelineFunction:
    """Knows the queue and the closer of every placement, and reads the heartbeat's part of the ledger."""
    evaluation = FunctionSettings(
        name="evaluate_drift",
        description="Turns an event, or the minute, into looks at clusters and requests to shut gates",
        timeout=HEARTBEAT_TIMEOUT,
        memory_mb=512,
        patience=cdk.Duration.minutes(10),
        environment={
            **_named_clusters(settings),
            Env.QUEUE_URL.value: by_placement({name: each.work.queue.queue_url for name, each in placements.items()}),
            Env.CLOSER.value: by_placement({name: each.closer.arn for name, each in placements.items()}),
        },
    )
    grants = [
        permissions.use_table(table_arn, "Query"),
        permissions.send_to(each.work.queue.queue_arn for each in placements.values()),
        permissions.invoke(each.closer.arn for each in placements.values()),
    ]
    return PipelineFunction(scope, "EvaluateDrift", shared=shared, settings=evaluation, grants=grants)


def watch_amis(
    scope: Construct, *, settings: StackSettings, shared: Shared, table_arn: str, tell: Sequence[Grant]
) -> PipelineFunction:
    """Reads what AWS offers, keeps copies of it, and remembers what it saw in the ledger's table."""
    poll = FunctionSettings(
        name="watch_amis",
        description="Mirrors the image parameters in use, so that a change raises an event",
        timeout=cdk.Duration.minutes(2),
        memory_mb=512,
        patience=cdk.Duration.minutes(10),
        retries=1,
    )
    grants = [
        permissions.use_table(table_arn, "Query", "BatchGetItem", "PutItem"),
        *permissions.read_image_parameters(settings),
        permissions.mirror_images(settings),
        permissions.read_images(settings),
        *permissions.take_roles(each.role for each in settings.clusters if each.role is not None),
        *tell,
    ]
    return PipelineFunction(scope, "WatchAmis", shared=shared, settings=poll, grants=grants)


def _named_clusters(settings: StackSettings) -> dict[str, str]:
    """Whom to look at, where that fits beside the other variables; else the function reads the configuration."""
    names = ",".join(cluster.name for cluster in settings.clusters)
    return {Env.CLUSTERS.value: names} if len(names) <= MOST_NAMES else {}
