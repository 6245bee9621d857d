"""`driftgate report` as a person starts it, on a simulated cluster that another process serves over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.figures import Figure
from tests.bench.helper import Facts, Helper

GOAL_MB = 250.0
GOAL_S = 10.0
"""`In seconds`, in a number: processor time, as the machine may be busy."""

REPORT = "from driftgate.cli.main import main; main()"
ANSWERED = (0, 1)
"""A report that tells of trouble ends with 1; anything higher is no answer."""


def warm_up() -> None:
    """Compiles what a report loads: an installed program has its bytecode."""
    with Helper("tests.bench.cluster_process", "--nodes", "2", "--drifted", "2") as cluster:
        _report(cluster.ready["kubeconfig"])


def measure(nodes: int, *, drifted: int, pods: int) -> list[Figure]:
    """Time, memory and requests for a pool of so many nodes, each with the images that a kubelet reports."""
    size = ("--nodes", str(nodes), "--drifted", str(drifted), "--pods", str(pods), "--images")
    with Helper("tests.bench.cluster_process", *size) as cluster:
        spent = _report(cluster.ready["kubeconfig"])
        requests = sum(cluster.ask()["requests"].values())
    key, what = f"report{nodes}drifted{drifted}", f"report on {nodes:,} nodes, {drifted:,} drifted"
    return [
        Figure(key=f"{key}Wall", what=f"{what}: wall", value=spent["wallS"], unit="s"),
        Figure(key=f"{key}Cpu", what=f"{what}: CPU", value=spent["cpuS"], unit="s", at_most=GOAL_S),
        Figure(key=f"{key}Peak", what=f"{what}: peak memory", value=spent["peakMb"], unit="MB", at_most=GOAL_MB),
        Figure(key=f"{key}Requests", what=f"{what}: requests", value=requests, unit=""),
    ]


def _report(kubeconfig: str) -> Facts:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "kubeconfig")
        config.write_text(kubeconfig, encoding="utf-8")
        ledger = f"file:{Path(folder, 'ledger.json')}"
        command = ["report", "--kubeconfig", str(config), "--ledger", ledger, "-o", "json"]
        measured = [sys.executable, "-m", "tests.bench.spent", sys.executable, "-c", REPORT, *command]
        spent: Facts = json.loads(subprocess.run(measured, check=True, stdout=subprocess.PIPE, text=True).stdout)
    if spent["exit"] not in ANSWERED:
        raise RuntimeError(f"driftgate report ended with {spent['exit']}")
    return spent
