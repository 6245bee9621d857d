"""Stands in for the kubelet of every node: there is no machine behind a kwok node.

Makes nodes Ready, takes away the taint that holds Karpenter's initialization, runs
the pods bound to them, and finishes the deletion of pods, all within a second.
"""

import threading
import time
from datetime import UTC, datetime
from http.client import HTTPException

from tests.e2e.harness.api import JSON_PATCH, STRATEGIC_PATCH, Api, ApiError, Object

PASS_S = 0.3
HEARTBEAT_S = 10.0
NOT_READY = "node.kubernetes.io/not-ready"


class Kubelet:
    """A thread that plays the kubelets of all nodes until it is stopped."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._ended = threading.Event()
        self._beats: dict[str, float] = {}
        self._thread = threading.Thread(target=self._loop, name="kubelet", daemon=True)
        # Nodes named here get no heartbeat and turn NotReady: a machine that died.
        self.dead: set[str] = set()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(timeout=5)

    def _loop(self) -> None:
        while not self._ended.wait(PASS_S):
            try:
                for node in self._api.items("/api/v1/nodes"):
                    self._serve_node(node)
                for pod in self._api.items("/api/v1/pods"):
                    self._serve_pod(pod)
            except (OSError, HTTPException, ApiError):
                continue  # the API server is being restarted, or is gone at the end

    def _serve_node(self, node: Object) -> None:
        name, taints = node["metadata"]["name"], node["spec"].get("taints", [])
        wanted = "False" if name in self.dead else "True"
        if ready(node) != wanted or time.monotonic() - self._beats.get(name, 0) > HEARTBEAT_S:
            condition = {"type": "Ready", "status": wanted, "reason": "Kubelet", "lastHeartbeatTime": now()}
            if ready(node) != wanted:
                condition["lastTransitionTime"] = now()
            self._patch_status(f"/api/v1/nodes/{name}", {"conditions": [condition]})
            self._beats[name] = time.monotonic()
        kept = [taint for taint in taints if taint["key"] != NOT_READY]
        if wanted == "True" and kept != taints:
            patch = [{"op": op, "path": "/spec/taints", "value": value} for op, value in
                     (("test", taints), ("replace", kept))]  # fmt: skip
            self._api.send("PATCH", f"/api/v1/nodes/{name}", patch, JSON_PATCH)

    def _serve_pod(self, pod: Object) -> None:
        meta, status = pod["metadata"], pod["status"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        if "deletionTimestamp" in meta:
            self._api.send("DELETE", path, {"gracePeriodSeconds": 0})
        elif pod["spec"].get("nodeName") and status.get("phase") == "Pending":
            conditions = [{"type": kind, "status": "True", "lastTransitionTime": now()} for kind in
                          ("PodScheduled", "Initialized", "ContainersReady", "Ready")]  # fmt: skip
            self._patch_status(path, {"phase": "Running", "startTime": now(), "conditions": conditions})

    def _patch_status(self, path: str, status: Object) -> None:
        self._api.send("PATCH", f"{path}/status", {"status": status}, STRATEGIC_PATCH)


def ready(node: Object) -> str | None:
    """The status of the node's Ready condition; None if it has none."""
    conditions = node["status"].get("conditions", [])
    return next((c["status"] for c in conditions if c["type"] == "Ready"), None)


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
