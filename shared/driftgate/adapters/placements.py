"""Several queues and closers, one of each per placement: what concerns a cluster goes to those of its placement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from driftgate.contract import Env
from driftgate.domain.errors import InvalidSettingsError, Problem
from driftgate.ports import Closer, CloseRequest, WorkMessage, WorkQueue

T = TypeVar("T")
PlacementOf = Callable[[str], str]
"""The placement of a cluster; asked only where there are several."""


class PlacedWorkQueue:
    """`queues` by placement; one alone under "" serves all of them."""

    def __init__(self, queues: Mapping[str, WorkQueue], placement_of: PlacementOf) -> None:
        self._queues = queues
        self._placement_of = placement_of

    def send(self, message: WorkMessage) -> None:
        """Raises InvalidSettingsError where the cluster's placement has no queue, and what the queue raises."""
        _of_cluster(self._queues, self._placement_of, message.cluster, Env.QUEUE_URL).send(message)


class PlacedCloser:
    """`closers` by placement; one alone under "" serves all of them."""

    def __init__(self, closers: Mapping[str, Closer], placement_of: PlacementOf) -> None:
        self._closers = closers
        self._placement_of = placement_of

    def invoke(self, request: CloseRequest) -> None:
        """Raises InvalidSettingsError where the cluster's placement has no closer, and what the closer raises."""
        _of_cluster(self._closers, self._placement_of, request.cluster, Env.CLOSER).invoke(request)


def _of_cluster(found: Mapping[str, T], placement_of: PlacementOf, cluster: str, name: Env) -> T:
    if "" in found:
        return found[""]
    placement = placement_of(cluster) if found else ""
    if placement not in found:
        message = f"has nothing for {cluster}" + (f", whose placement is {placement}" if placement else "")
        problem = Problem(place="", path=name, message=message, remedy="Deploy again, or set it for this function.")
        raise InvalidSettingsError("environment", [problem])
    return found[placement]
