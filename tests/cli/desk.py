"""A person at a desk: a simulated cluster over HTTP, a home folder of its own, and the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.faults import Fault
from driftgate.sim.timings import Timings
from tests.sim_clusters import APP, get

PATIENCE_S = 60.0
COMMAND = "from driftgate.cli.main import main; main()"
ROLL = ("roll", "--pool", "app", "--now", "--reason", "test", "--yes")
SHUT: list[dict[str, object]] = [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "20%"}]
OPEN_MARK = {"nodes": "01", "reasons": ["Drifted"]}
QUICK = Timings(
    idle_s=0.5,
    launch_s=0.2,
    register_s=0.3,
    initialize_s=0.2,
    min_drain_s=0.2,
    instance_gone_s=0.2,
    pod_start_s=0.2,
    restart_s=0.2,
)
ASLEEP = Timings(idle_s=3600)
"""Karpenter never looks, so a gate that opens stays open."""


def new_cluster(timings: Timings = QUICK, *, nodes: int = 3) -> SimCluster:
    """Pool `app`: drifted nodes a0, a1, … behind a shut gate, on a real clock, and an empty pool `web`."""
    clock = WallClock()
    sim = SimCluster(clock, karpenter="1.14.1", timings=timings)
    sim.add_node_class()
    sim.add_nodepool("app", SHUT)
    sim.add_nodepool("web", [{"nodes": "0", "reasons": ["Drifted"]}])
    for number in range(nodes):
        sim.add_node("app", f"a{number}", drifted_since=clock.now() - timedelta(hours=100 - number / 100))
    return sim


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a command left: its exit code, its answer, and its words to the person."""

    code: int
    out: str
    err: str


@dataclass(slots=True)
class Desk:
    """Runs commands in this process, or in processes of their own."""

    sim: SimCluster
    home: Path
    run: Callable[..., Ran]
    env: Mapping[str, str]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def ledger(self) -> Path:
        return self.home / ".local/state/driftgate/sim.json"

    @property
    def budgets(self) -> Any:
        return get(self.sim, APP)["spec"]["disruption"]["budgets"]

    @property
    def patches(self) -> int:
        """How often a NodePool was patched in earnest."""
        asked = (logged.request for logged in self.sim.serve().server.requests)
        return sum(request.method == "PATCH" and "dryRun" not in request.query for request in asked)

    def trouble(self, **order: Any) -> Fault:
        return self.sim.serve().server.faults.add(Fault(**order))

    def write(self, name: str, content: str) -> str:
        (self.home / name).write_text(content, encoding="utf-8")
        return str(self.home / name)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *arguments],
            cwd=self.home,
            env=dict(self.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def is_open(self) -> bool:
        return OPEN_MARK in self.budgets

    def end(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for something that another process brings about."""
    give_up = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < give_up, "it never came about"
        time.sleep(0.02)


def environment(home: Path) -> dict[str, str]:
    """What a fresh shell of that home would have: no AWS, no state, this repository's code."""
    root = Path(__file__).resolve().parents[2]
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "USER")}
    return kept | {
        "HOME": str(home),
        "KUBECONFIG": str(home / "kubeconfig"),
        "PYTHONPATH": f"{root / 'shared'}{os.pathsep}{root}",
        "AWS_EC2_METADATA_DISABLED": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
