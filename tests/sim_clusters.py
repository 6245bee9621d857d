"""Simulated clusters for tests: a pool of drifted nodes, its gate, and requests without a socket."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from driftgate.sim.answers import Answer
from driftgate.sim.api import JSON_PATCH, Request
from driftgate.sim.clock import ManualClock
from driftgate.sim.cluster import ADMIN_TOKEN, SimCluster
from driftgate.sim.kinds import Kind
from driftgate.sim.timings import Timings

NOW = datetime(2026, 10, 17, 2, 10, tzinfo=UTC)
POOLS = "/apis/karpenter.sh/v1/nodepools"
APP = f"{POOLS}/app"
SHUT = [{"nodes": "0", "reasons": ["Drifted"]}]
OPEN = [{"nodes": "1", "reasons": ["Drifted"]}]


def bare_cluster() -> SimCluster:
    """An API server with one pool and nobody at work."""
    sim = SimCluster(ManualClock(NOW))
    sim.add_node_class()
    sim.add_nodepool("app", SHUT)
    return sim


def empty_cluster(
    *, budgets: Any = SHUT, version: str = "1.14.1", timings: Timings | None = None, **pool: Any
) -> SimCluster:
    """Karpenter at work, a pool `app` without nodes."""
    sim = SimCluster(ManualClock(NOW), karpenter=version, timings=timings)
    sim.add_node_class()
    sim.add_nodepool("app", budgets, **pool)
    return sim


def drifted_cluster(
    nodes: int = 8, *, pods: int = 0, version: str = "1.14.1", timings: Timings | None = None, **pool: Any
) -> SimCluster:
    """Nodes a0, a1, … of pool `app`, drifted in that order; the gate is shut; Karpenter has just made a pass."""
    sim = empty_cluster(version=version, timings=timings, **pool)
    for number in range(nodes):
        sim.add_node("app", f"a{number}", drifted_since=NOW - timedelta(hours=100 - number), pods=pods)
    sim.advance(1)
    return sim


def take_one(sim: SimCluster, pool: str = "app") -> None:
    """Opens for one node and shuts again as soon as Karpenter takes one (or after ten minutes)."""
    before = len(sim.witness.disruptions)
    sim.set_budgets(pool, OPEN)
    sim.advance_until(lambda: len(sim.witness.disruptions) > before, 600)
    sim.set_budgets(pool, SHUT)


def names_of(sim: SimCluster, kind: Kind) -> list[str]:
    return [stored.name for stored in sim.store.all_of(kind)]


def claim_of(sim: SimCluster, name: str = "app-a0") -> Any:
    """The NodeClaim as the API gives it."""
    return get(sim, f"/apis/karpenter.sh/v1/nodeclaims/{name}")


def condition(sim: SimCluster, kind: str, name: str = "app-a0") -> Any:
    """The NodeClaim's condition, None where there is none."""
    found = claim_of(sim, name)["status"]["conditions"]
    return next((entry for entry in found if entry["type"] == kind), None)


def seconds(moments: Iterable[datetime]) -> list[float]:
    """Since NOW, to a tenth."""
    return [round((moment - NOW).total_seconds(), 1) for moment in moments]


def send(
    sim: SimCluster,
    method: str,
    path: str,
    body: object = None,
    *,
    content_type: str = "application/json",
    token: str = ADMIN_TOKEN,
    **query: str,
) -> Answer:
    """One request, answered in this process."""
    return sim.api.handle(
        Request(
            method=method,
            path=path,
            query=query,
            authorization=f"Bearer {token}",
            content_type=content_type,
            user_agent="tests/1",
            body=b"" if body is None else json.dumps(body).encode(),
        )
    )


def patch(sim: SimCluster, path: str, *operations: Mapping[str, Any], **query: str) -> Answer:
    """A JSON patch."""
    return send(sim, "PATCH", path, list(operations), content_type=JSON_PATCH, **query)


def body_of(answer: Answer) -> Any:
    return json.loads(answer.body)


def get(sim: SimCluster, path: str, **query: str) -> Any:
    """The object or list at the path."""
    answer = send(sim, "GET", path, **query)
    assert answer.status == 200, answer.body
    return body_of(answer)
