"""What was asked of the real API server, asked of the simulated one: one list of questions, two servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import ADMIN_TOKEN, SimCluster
from tests.e2e.harness.api import Api
from tests.e2e.harness.scenario import NODEPOOLS, SHUT_GATE
from tests.e2e.test_api_server_facts import *  # noqa: F403 - every question that is added there is asked here
from tests.e2e.test_api_server_facts import nodepool


class PlainApi(Api):
    """The same client over plain HTTP."""

    _context = None  # type: ignore[assignment]


@pytest.fixture(name="api")
def simulated_api() -> Iterator[Api]:
    """The simulated API server with one NodePool behind a shut gate."""
    with SimCluster(WallClock()) as sim:
        client = PlainApi(sim.serve().url, token=ADMIN_TOKEN, ca=Path())
        client.create(NODEPOOLS, nodepool({"consolidateAfter": "0s", "budgets": SHUT_GATE}))
        yield client
