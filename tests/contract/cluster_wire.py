"""A cluster over a canned server, and answers as the real API server gives them: for the tests of the wire."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from driftgate.adapters.kubernetes_client import KubernetesClient, TimeLimits
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.kubernetes_lists import ListProgress
from driftgate.adapters.kubernetes_parts import new_configuration
from driftgate.adapters.kubernetes_stream import WatchTimes
from tests.fakes.canned_server import Asked, Canned, CannedServer, Reply

POOLS = "/apis/karpenter.sh/v1/nodepools"
POOL = f"{POOLS}/app"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
NODES = "/api/v1/nodes"
WATCH_CLAIMS = f"{CLAIMS}?watch"
WATCH_NODES = f"{NODES}?watch"
HTML = Reply(body=b"<html><body>Sign in to continue</body></html>", content_type="text/html")
OPAQUE = "the server rejected our request due to an error in our request"
SHORT = WatchTimes(stream_s=1, silence_s=0.4, patience_s=1.0)


class Wire:
    """A cluster over a canned server. `pauses`: the seconds that it would have slept between repeats."""

    def __init__(
        self,
        server: CannedServer,
        *,
        url: str = "",
        ca: str | None = None,
        times: WatchTimes = SHORT,
        read_s: float = 0.3,
    ) -> None:
        self.server = server
        self.pauses: list[float] = []
        self.progress: list[ListProgress] = []
        configuration = new_configuration(host=url or server.url, api_key={"authorization": "Bearer sesame"})
        configuration.ssl_ca_cert = ca
        self.cluster = KubernetesCluster(
            KubernetesClient(configuration, limits=TimeLimits(connect_s=2, read_s=read_s), sleep=self.pauses.append),
            progress=self.progress.append,
            times=times,
        )

    def asked(self, key: str) -> list[Asked]:
        return [asked for asked in self.server.asked if asked.key == key]


@contextmanager
def wire(replies: Mapping[str, Sequence[Canned]], *, times: WatchTimes = SHORT, read_s: float = 0.3) -> Iterator[Wire]:
    with CannedServer(replies) as server:
        found = Wire(server, times=times, read_s=read_s)
        try:
            yield found
        finally:
            found.cluster.close()


def listing(kind: str, *items: Any, version: str = "100", more: str = "", remaining: int | None = None) -> Reply:
    metadata: dict[str, Any] = {"resourceVersion": version} | ({"continue": more} if more else {})
    metadata |= {} if remaining is None else {"remainingItemCount": remaining}
    return Reply(body={"apiVersion": "v1", "kind": f"{kind}List", "metadata": metadata, "items": list(items)})


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **more}}


def nodepool(name: str = "app", **metadata: Any) -> dict[str, Any]:
    budgets = [{"nodes": "0", "reasons": ["Drifted"]}]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "generation": 1, "resourceVersion": "100", **metadata},
        "spec": {"disruption": {"budgets": budgets}},
    }


def status(code: int, reason: str = "", message: str = "", details: dict[str, Any] | None = None) -> Reply:
    body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code}
    return Reply(status=code, body=body | {"reason": reason, "message": message, "details": details or {}})


def forbidden(verb: str, resource: str) -> Reply:
    said = f'User "driftgate" cannot {verb} resource "{resource}" in API group "karpenter.sh" at the cluster scope'
    return status(403, "Forbidden", f"{resource}.karpenter.sh is forbidden: {said}", {"kind": resource})


UNAUTHORIZED = status(401, "Unauthorized", "Unauthorized")
EXPIRED = status(410, "Expired", "The provided continue parameter is too old")


def watching_threads() -> list[str]:
    """The threads of watches that have not ended."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("watch-")]
