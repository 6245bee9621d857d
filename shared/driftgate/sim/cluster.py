"""A simulated cluster, put together: objects, API, Karpenter, workload, and a witness of what really happened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType

from driftgate.sim.access import ADMIN, DRIFTGATE, Access
from driftgate.sim.agenda import Agenda
from driftgate.sim.api import Api
from driftgate.sim.apiserver import ApiServer
from driftgate.sim.builder import Builder
from driftgate.sim.clock import ManualClock, WallClock
from driftgate.sim.store import Store
from driftgate.sim.writes import Writes

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

    Use it as a context manager, or call `close`.
    """

    def __init__(self, clock: ManualClock | WallClock, *, seed: int = 1) -> None:
        self.clock = clock
        self.store = Store()
        super().__init__(Writes(self.store, clock, seed))
        self.agenda = Agenda(clock, self.store.lock)
        self.access = Access()
        self.access.grant(TOKEN, "driftgate", DRIFTGATE)
        self.access.grant(ADMIN_TOKEN, "admin", ADMIN)
        self.api = Api(self.store, self.writes, self.access)
        self._served: Served | None = None
        if isinstance(clock, ManualClock):
            clock.on_sleep = self.advance

    def advance(self, seconds: float) -> None:
        """Lets that much virtual time pass; everything due on the way happens, in order."""
        self.agenda.run_until(self.clock.now() + timedelta(seconds=seconds))

    def serve(self) -> Served:
        """The cluster over HTTP on the loopback; a second call gives the same server."""
        if self._served is None:
            server = ApiServer(self.api, self.clock, self.agenda.after).start()
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


def kubeconfig(url: str, token: str) -> str:
    """The text of a kubeconfig file with one context, `sim`."""
    return f"""apiVersion: v1
kind: Config
current-context: sim
clusters: [{{name: sim, cluster: {{server: "{url}"}}}}]
users: [{{name: driftgate, user: {{token: "{token}"}}}}]
contexts: [{{name: sim, context: {{cluster: sim, user: driftgate}}}}]
"""
