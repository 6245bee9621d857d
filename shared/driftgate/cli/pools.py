"""The NodePool that a person named, or who else there is."""

from __future__ import annotations

from driftgate.domain.errors import DriftgateError, InvalidInputError, NodePoolNotFoundError
from driftgate.domain.fields import did_you_mean
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.ports import Cluster


def named_pool(cluster: Cluster, called: str, pool: str) -> NodePoolSnapshot:
    """The NodePool. Raises InvalidInputError with the nearest name where there is none."""
    try:
        return cluster.get_nodepool(pool)
    except NodePoolNotFoundError as error:
        raise no_such_pool(cluster, called, pool) from error


def no_such_pool(cluster: Cluster, called: str, pool: str) -> InvalidInputError:
    """The error that names the pools there are, as far as they can be read. `called` is the cluster's name."""
    try:
        known = sorted(found.name for found in cluster.list_nodepools())
    except DriftgateError:
        known = []
    remedy = did_you_mean(pool, known) or f"It has {', '.join(known) or 'none that could be read'}."
    return InvalidInputError(f"there is no NodePool {pool!r} in {called}", place="--pool", remedy=remedy)
