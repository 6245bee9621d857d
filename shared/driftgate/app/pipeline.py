"""What a use case is given: every port, and the policies of the clusters. Built by `bootstrap`, or by a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from driftgate.app.sources import Sources
from driftgate.ports import (
    Alarms,
    Calendars,
    Clock,
    Closer,
    Cluster,
    Clusters,
    EventPublisher,
    ImageHistory,
    Images,
    Ledger,
    Parameters,
    WorkQueue,
)

if TYPE_CHECKING:
    from driftgate.domain.policy import ClusterPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The outside world of one process. `policy` raises InvalidInputError for a cluster that nobody configured.

    `config_digest` tells the configuration behind `policy` from any other; "" where it cannot be told.
    """

    clock: Clock
    ledger: Ledger
    clusters: Clusters
    alarms: Alarms
    calendars: Calendars
    parameters: Parameters
    images: Images
    history: ImageHistory
    publisher: EventPublisher
    queue: WorkQueue
    closer: Closer
    policy: Callable[[str], ClusterPolicy]
    cluster_names: tuple[str, ...]
    holder: str
    config_digest: str = ""

    def sources(self, cluster: Cluster) -> Sources:
        return Sources(
            cluster=cluster,
            alarms=self.alarms,
            calendars=self.calendars,
            parameters=self.parameters,
            images=self.images,
            history=self.history,
        )
