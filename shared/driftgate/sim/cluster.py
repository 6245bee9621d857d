"""A simulated cluster, put together: objects, API, Karpenter, workload, and a witness of what really happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from ssl import SSLContext
from types import TracebackType

from driftgate.sim.access import ADMIN, DRIFTGATE, Access
from driftgate.sim.agenda import Agenda
from driftgate.sim.api import Api
from driftgate.sim.apiserver import ApiServer
from driftgate.sim.behaviour import LATEST, behaviour_of
from driftgate.sim.builder import PERSON, Builder
from driftgate.sim.clock import ManualClock, WallClock
from driftgate.sim.karpenter import Karpenter
from driftgate.sim.kinds import NODECLAIMS, NODEPOOLS
from driftgate.sim.objects import section, set_condition
from driftgate.sim.pdbs import Pdbs
from driftgate.sim.pods import Pods
from driftgate.sim.store import Store
from driftgate.sim.timings import Timings
from driftgate.sim.view import View
from driftgate.sim.witness import Witness
from driftgate.sim.world import World
from driftgate.sim.writes import CONTROLLER, Writes

TOKEN = "driftgate-sim-token"
ADMIN_TOKEN = "admin-sim-token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How to reach a served cluster. `kubeconfig` is the text of a file with one context, `sim`."""

    url: str
    token: str
    server: ApiServer

    @property
    def kubeconfig(self) -> str:
        return kubeconfig(self.url, self.token)


class SimCluster(Builder):
    """The cluster. With a manual clock nothing moves but by `advance`; with a wall clock it lives by itself.

    `karpenter` is the version of Karpenter that runs in it; None: a bare API server with nobody at work.
    Use it as a context manager, or call `close`.
    """

    def __init__(
        self,
        clock: ManualClock | WallClock,
        *,
        karpenter: str | None = None,
        timings: Timings | None = None,
        seed: int = 1,
    ) -> None:
        self.clock = clock
        self.store = Store()
        super().__init__(Writes(self.store, clock, seed))
        self.agenda = Agenda(clock, self.store.lock)
        self.world = new_world(self.writes, self.agenda, timings or Timings(), karpenter or LATEST)
        self._karpenter = Karpenter(self.world) if karpenter else None
        if karpenter:
            self.add_karpenter(karpenter)
        self.access = Access()
        self.access.grant(TOKEN, "driftgate", DRIFTGATE)
        self.access.grant(ADMIN_TOKEN, "admin", ADMIN)
        self.api = Api(self.store, self.writes, self.access)
        self._served: Served | None = None
        if isinstance(clock, ManualClock):
            clock.on_sleep = self.advance

    @property
    def witness(self) -> Witness:
        """What really happened."""
        return self.world.witness

    @property
    def karpenter(self) -> Karpenter:
        """Raises RuntimeError in a cluster without Karpenter."""
        if self._karpenter is None:
            raise RuntimeError("this cluster has no Karpenter: give SimCluster a version of it")
        return self._karpenter

    def advance(self, seconds: float) -> None:
        """Lets that much virtual time pass; everything due on the way happens, in order."""
        self.agenda.run_until(self.clock.now() + timedelta(seconds=seconds))

    def advance_until(self, condition: Callable[[], bool], limit_s: float = 3600.0) -> bool:
        """Lets virtual time pass from event to event until the condition holds; False when it never did."""
        until = self.clock.now() + timedelta(seconds=limit_s)
        while not condition():
            due = self.agenda.next_at()
            if due is None or due > until:
                self.agenda.run_until(until)
                return condition()
            self.agenda.run_until(due)
        return True

    def start(self) -> None:
        """Lets a cluster on a wall clock live; `serve` does it, too."""
        self.agenda.start()

    def set_ready(self, node: str, *, ready: bool) -> None:
        """The Node's Ready condition, from now on."""
        self.karpenter.launching.set_ready(node, ready=ready)

    def mark_drifted(self, node: str, reason: str = "NodePoolDrifted") -> None:
        """Karpenter finds the node drifted for that reason, from now on."""
        claim, now = self.world.claim_of(node), self.clock.now()
        if claim is None:
            raise LookupError(f"no NodeClaim for {node}")
        self.writes.change(
            NODECLAIMS,
            claim.key,
            lambda obj: set_condition(obj, "Drifted", "True", now, reason),
            CONTROLLER,
            subresource="status",
        )

    def interrupt(self, node: str, reason: str = "Interrupted") -> None:
        """The node leaves at once for a reason that asks no budget."""
        with self.store.lock:
            claim = self.world.claim_of(node)
            if claim is None:
                raise LookupError(f"no NodeClaim for {node}")
            self.karpenter.leaving.leave(claim.name, reason)

    def set_budgets(self, pool: str, budgets: Sequence[Mapping[str, object]], manager: str = PERSON) -> None:
        """Somebody writes the pool's budgets, past the API."""
        self.writes.change(
            NODEPOOLS,
            pool,
            lambda obj: section(obj, "spec", "disruption").update(budgets=[dict(entry) for entry in budgets]),
            manager,
        )

    def serve(self, tls: SSLContext | None = None) -> Served:
        """The cluster over HTTP (HTTPS with `tls`) on the loopback; a second call gives the same server."""
        if self._served is None:
            server = ApiServer(self.api, self.clock, self.agenda.after, tls).start()
            self._served = Served(url=server.url, token=TOKEN, server=server)
            self.agenda.start()
        return self._served

    def close(self) -> None:
        """Ends the server and the model's thread. Raises what broke in the model meanwhile."""
        if self._served is not None:
            self._served.server.stop()
        self.agenda.stop()

    def __enter__(self) -> SimCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def new_world(writes: Writes, agenda: Agenda, timings: Timings, version: str) -> World:
    """Everything that the model shares. The order of the listeners matters: the view hears first."""
    store = writes.store
    view = View(store, agenda.clock, timings.informer_lag_s)
    pods, witness = Pods(store), Witness()
    store.listeners.append(witness.heard)
    return World(
        store=store,
        writes=writes,
        agenda=agenda,
        timings=timings,
        behaviour=behaviour_of(version),
        view=view,
        pods=pods,
        pdbs=Pdbs(store, writes, pods),
        witness=witness,
    )


def kubeconfig(url: str, token: str) -> str:
    """The text of a kubeconfig file with one context, `sim`."""
    return f"""apiVersion: v1
kind: Config
current-context: sim
clusters: [{{name: sim, cluster: {{server: "{url}"}}}}]
users: [{{name: driftgate, user: {{token: "{token}"}}}}]
contexts: [{{name: sim, context: {{cluster: sim, user: driftgate}}}}]
"""
