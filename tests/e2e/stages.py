"""Two stages for the same scenes: the model of Karpenter's loop, and the real one.

A stage has pools behind shut gates, each with its drifted nodes; a scene opens and shuts them and reads what each node
showed, in seconds since the first opening.
"""

import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODECLAIMS, NODES, Kind
from driftgate.sim.objects import condition_of, is_deleting, labels_of, taint_keys
from driftgate.sim.store import Change
from tests.e2e.generations.showing import DELETION, GONE, REASON, TAINT, Showing
from tests.e2e.generations.world import run_pod
from tests.e2e.harness.api import Object
from tests.e2e.harness.scenario import (
    SHUT_GATE,
    claims_with,
    create_nodeclass,
    create_nodepool,
    create_nodes,
    nodeclaims,
    set_budgets,
    set_image,
    wait_for,
)
from tests.e2e.rolls import Rolling
from tests.sim_clusters import empty_cluster

OPEN_GATE: list[Object] = [{"nodes": "1", "reasons": ["Drifted"]}, {"nodes": "10%"}]
PATIENCE_S = 90
Shown = Mapping[str, Mapping[str, float]]
"""By node: every sign that it gave, and how many seconds after the first opening."""


class Stage(ABC):
    """Pools, their gates, and what their nodes show."""

    name: str

    @abstractmethod
    def pool(self, pool: str, nodes: int, *, full: bool = False) -> list[str]:
        """A pool of drifted nodes behind a shut gate, their names; later ones drifted at least a second later."""

    @abstractmethod
    def open(self, *pools: str) -> None:
        """Lets one drifted node of each pool go, as of the same pass of Karpenter."""

    @abstractmethod
    def shut(self, *pools: str) -> None: ...

    @abstractmethod
    def shown(self) -> Shown: ...

    @abstractmethod
    def pass_time(self, seconds: float) -> None: ...

    @abstractmethod
    def claims(self, pool: str) -> int:
        """How many NodeClaims the pool has now."""

    def until(self, seen: Callable[[Shown], bool]) -> Shown:
        """What was shown by the time that the scene had come so far. Raises TimeoutError."""
        for _ in range(PATIENCE_S * 20):
            if seen(found := self.shown()):
                return found
            self.pass_time(0.05)
        raise TimeoutError(f"{self.name}: not seen in {PATIENCE_S} s: {self.shown()}")


class Model(Stage):
    """The simulated cluster, in virtual time."""

    name = "simulated"

    def __init__(self) -> None:
        self.sim: SimCluster = empty_cluster()
        self.sim.store.listeners.append(self._hear)
        self._shown: dict[str, dict[str, datetime]] = defaultdict(dict)
        self._opened_at: datetime | None = None

    def pool(self, pool: str, nodes: int, *, full: bool = False) -> list[str]:
        self.sim.add_nodepool(pool, SHUT_GATE)
        since = self.sim.clock.now()
        names = [f"{pool}-{number}" for number in range(nodes)]
        for name in names:
            self.sim.add_node(pool, name, drifted_since=since, pods=4 if full else 0)
        self.sim.advance(2)
        return names

    def open(self, *pools: str) -> None:
        self._opened_at = self._opened_at or self.sim.clock.now()
        for pool in pools:
            self.sim.set_budgets(pool, OPEN_GATE)

    def shut(self, *pools: str) -> None:
        for pool in pools:
            self.sim.set_budgets(pool, SHUT_GATE)

    def pass_time(self, seconds: float) -> None:
        self.sim.advance(seconds)

    def claims(self, pool: str) -> int:
        found = self.sim.store.all_of(NODECLAIMS)
        return sum(labels_of(claim.obj).get("karpenter.sh/nodepool") == pool for claim in found)

    def shown(self) -> Shown:
        return since(self._opened_at, self._shown)

    def _hear(self, change: Change) -> None:
        node = name_of_node(change.kind, change.after.obj)
        for sign in signs_of(change.kind, change.after.obj, deleted=change.type == "DELETED"):
            self._shown[node].setdefault(sign, change.at)


class Real(Stage):
    """The real control plane, as the real time passes."""

    name = "real"

    def __init__(self, rolling: Rolling, showing: Showing) -> None:
        self._rolling, self._showing = rolling, showing
        self._nodes: list[str] = []
        self._opened_at: datetime | None = None

    def pool(self, pool: str, nodes: int, *, full: bool = False) -> list[str]:
        api = self._rolling.admin
        create_nodeclass(api, pool)
        create_nodepool(api, pool, nodeclass=pool, budgets=SHUT_GATE)
        claims = create_nodes(api, pool, nodes)
        names = [claim["status"]["nodeName"] for claim in claims]
        for name in names if full else ():
            run_pod(api, name, pool)
        set_image(api, "ami-new", pool)
        known = [claim["metadata"]["name"] for claim in claims]
        wait_for(lambda: claims_with(api, known, "Drifted"), f"drifted nodes of {pool}")
        time.sleep(1.5)  # the next pool's nodes shall not have drifted in the same second
        self._nodes += names
        return names

    def open(self, *pools: str) -> None:
        with self._rolling.karpenter_asleep():
            for pool in pools:
                set_budgets(self._rolling.admin, pool, OPEN_GATE)
        self._opened_at = self._opened_at or datetime.now(UTC)

    def shut(self, *pools: str) -> None:
        for pool in pools:
            set_budgets(self._rolling.admin, pool, SHUT_GATE)

    def pass_time(self, seconds: float) -> None:
        time.sleep(seconds)

    def claims(self, pool: str) -> int:
        return len(nodeclaims(self._rolling.admin, pool))

    def shown(self) -> Shown:
        return since(self._opened_at, {node: self._showing.of(node) for node in self._nodes})


def since(opened_at: datetime | None, shown: Mapping[str, Mapping[str, datetime]]) -> Shown:
    if opened_at is None:
        return {}
    return {
        node: {sign: (at - opened_at).total_seconds() for sign, at in signs.items()}
        for node, signs in shown.items()
        if signs
    }


def name_of_node(kind: Kind, obj: Object) -> str:
    name: str = obj["metadata"]["name"] if kind is NODES else obj.get("status", {}).get("nodeName", "")
    return name


def signs_of(kind: Kind, obj: Object, *, deleted: bool) -> list[str]:
    if kind is NODES:
        return [TAINT] if "karpenter.sh/disrupted" in taint_keys(obj) else []
    if kind is not NODECLAIMS:
        return []
    told = {REASON: bool(condition_of(obj, REASON)), DELETION: is_deleting(obj), GONE: deleted}
    return [sign for sign, shows in told.items() if shows]
