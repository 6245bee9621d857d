"""One generation of Karpenter at work, and driftgate with its own rights.

Older Karpenters run as they were released: kwok's provider reports no drift and no image there. So the NodePool's
template gets another label, which drifts every node of it as NodePoolDrifted, on every generation.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.contract.cluster_objects import deployment_object
from tests.e2e import build
from tests.e2e.harness.api import Api, Object
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.scenario import (
    NODECLASSES,
    NODEPOOLS,
    claims_with,
    create_nodeclass,
    create_nodepool,
    create_nodes,
    has_condition,
    nodeclaims,
    wait_for,
)
from tests.e2e.rolls import GATE, Result, Rolling, grant

PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
NODECLASS = "default"
FULL = "2500m"
"""Two pods of that size do not fit on a node of four processors."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A cluster on which this version of Karpenter works."""

    version: str
    rolling: Rolling

    @property
    def admin(self) -> Api:
        return self.rolling.admin

    def pool(self, name: str, nodes: int, budgets: list[Object] = GATE) -> list[Object]:
        """A pool of empty nodes that are as its template wants them; their NodeClaims."""
        create_nodepool(self.admin, name, nodeclass=NODECLASS, budgets=budgets)
        return create_nodes(self.admin, name, nodes)

    def trapped(self, name: str, nodes: int, *, full: int = 0) -> set[str]:
        """A pool behind a shut gate, all of it drifted; the names of its full nodes, with a pod on each."""
        claims = self.pool(name, nodes)
        occupied = {claim["status"]["nodeName"] for claim in claims[:full]}
        for node in occupied:
            run_pod(self.admin, node, name)
        self.drift(name)
        return occupied

    def drift(self, name: str) -> None:
        """Change the template's labels; returns once every node of the pool is drifted."""
        labels = {"metadata": {"labels": {"driftgate.dev/release": "new"}}}
        self.admin.patch(f"{NODEPOOLS}/{name}", {"spec": {"template": labels}})
        names = [claim["metadata"]["name"] for claim in nodeclaims(self.admin, name)]
        wait_for(lambda: claims_with(self.admin, names, "Drifted"), f"drifted nodes of {name}")

    def plan(self, pools: list[str]) -> Mapping[str, Any]:
        """What `driftgate plan` says of each pool, with driftgate's own rights."""
        said = self.rolling.start("plan", "--config", self.rolling.config(pools), "-o", "json").result()
        return {pool["name"]: pool for pool in said.shown["pools"]}

    def roll(self, pool: str) -> Result:
        """One node of the pool, now, followed until its replacement is there."""
        return self.rolling.roll(pool, "--config", self.rolling.config([pool])).result()


@contextmanager
def at_work(version: str) -> Iterator[Generation]:
    """The control plane of a generation; where Karpenter would run in a cluster its Deployment stands alone."""
    with ControlPlane(karpenter=program(version)) as plane:
        grant(plane)
        rolling = Rolling(plane)
        rolling.admin.create(DEPLOYMENTS, deployment_object(version))
        create_ready_nodeclass(rolling.admin)
        try:
            yield Generation(version, rolling)
        finally:
            rolling.stop()


def program(version: str) -> str:
    """The program that is this version; the newest is the one that all other scenarios run on."""
    return f"karpenter-{version}" if f"karpenter-{version}" in build.GENERATIONS else "karpenter"


def create_ready_nodeclass(api: Api) -> None:
    """A KWOKNodeClass that Karpenter takes for ready: nobody else says so of kwok's."""
    create_nodeclass(api, NODECLASS)
    if not has_condition(api.get(f"{NODECLASSES}/{NODECLASS}"), "Ready"):
        ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": ""}
        ready["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        api.patch(f"{NODECLASSES}/{NODECLASS}/status", {"status": {"conditions": [ready]}})


def run_pod(api: Api, node: str, pool: str) -> None:
    """A pod on a node of the pool that may run in that pool alone, bound by hand: no scheduler is at work.

    Returns once it runs.
    """
    spec = {
        "nodeName": node,
        "nodeSelector": {"karpenter.sh/nodepool": pool},
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "app", "image": "app", "resources": {"requests": {"cpu": FULL}}}],
    }
    made = api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "app-"}, "spec": spec})
    path = f"{PODS}/{made['metadata']['name']}"
    wait_for(lambda: True if api.get(path)["status"].get("phase") == "Running" else None, f"a pod on {node}")
