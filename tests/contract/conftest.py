"""The clusters that `ports.Cluster` is held against."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import ADMIN_TOKEN, SimCluster
from tests.contract.cluster_worlds import FakeWorld, HttpWorld
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import api_server

__all__ = ["api_server"]

OUTSIDER = "outsider-token"


@pytest.fixture(params=["fake", "simulated", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[FakeWorld | HttpWorld]:
    """A cluster of each kind. The real one is shared by all tests: give objects names of their own."""
    if request.param == "fake":
        yield FakeWorld()
        return
    named = "real_world" if request.param == "real" else "simulated_world"
    http: HttpWorld = request.getfixturevalue(named)
    yield http
    http.close()


@pytest.fixture
def simulated_world() -> Iterator[HttpWorld]:
    with SimCluster(WallClock()) as sim:
        sim.access.grant(OUTSIDER, "outsider", ())
        yield HttpWorld(sim.serve().url, admin=ADMIN_TOKEN, outsider=OUTSIDER)


@pytest.fixture
def real_world(api_server: ControlPlane) -> HttpWorld:
    """`driftgate` is a user there who was granted nothing."""
    tokens = api_server.tokens
    return HttpWorld(api_server.server, admin=tokens["admin"], outsider=tokens["driftgate"], ca=str(api_server.ca))


@pytest.fixture
def pool() -> str:
    """The name of a pool that no other test uses."""
    return f"app-{uuid.uuid4().hex[:8]}"
