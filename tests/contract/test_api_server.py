"""What every `ports.ApiServer` promises: what an identity may do, and the time, told also to one who may nothing."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest

from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.domain.errors import ClusterUnauthorizedError
from driftgate.domain.rights import RIGHTS, Right
from driftgate.ports import ApiServer, Cluster
from tests.contract.cluster_worlds import World
from tests.fakes.cluster import FakeCluster


def server_of(cluster: Cluster) -> ApiServer:
    assert isinstance(cluster, KubernetesCluster | FakeCluster)
    return cluster


@pytest.mark.parametrize("right", RIGHTS, ids=str)
def test_somebody_with_every_right_may(world: World, right: Right) -> None:
    assert server_of(world.cluster).may(right.verb, right.group, right.resource)


def test_somebody_without_rights_may_not(world: World) -> None:
    assert not server_of(world.outsider()).may("patch", "karpenter.sh", "nodepools")


def test_somebody_unknown_gets_no_answer(world: World) -> None:
    with pytest.raises(ClusterUnauthorizedError):
        server_of(world.stranger()).may("list", "", "nodes")
    with pytest.raises(ClusterUnauthorizedError):
        server_of(world.stranger()).server_time()


def test_the_servers_time_is_told_in_whole_seconds_of_utc(world: World) -> None:
    told = server_of(world.cluster).server_time()

    assert told is not None
    assert (told.tzinfo, told.microsecond) == (UTC, 0)


def test_the_servers_time_is_told_to_somebody_without_rights(world: World) -> None:
    told, later = (server_of(world.outsider()).server_time() for _ in range(2))

    assert told is not None
    assert later is not None
    assert timedelta(0) <= later - told < timedelta(minutes=1)
