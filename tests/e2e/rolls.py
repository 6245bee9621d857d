"""driftgate itself against the real control plane: its own identity, its own rights, its own processes.

Nothing here decides anything: it sets a pool up as a team would have it, starts `driftgate` as a person or a
function would, and reads what it said.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from driftgate.adapters.kubeconfig import connect_context, find_context
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.ledger_file import FileLedger
from driftgate.adapters.system_clock import SystemClock
from driftgate.app.pipeline import Pipeline
from driftgate.bootstrap import read_config
from driftgate.domain.roll import Roll
from driftgate.laptop import Reach, laptop_pipeline
from tests.e2e import build
from tests.e2e.harness.api import Api, Object
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import require
from tests.e2e.harness.oracle import Oracle
from tests.e2e.harness.scenario import (
    NODEPOOLS,
    create_drifted_nodes,
    create_nodeclass,
    create_nodepool,
    wait_for,
)
from tests.e2e.sightings import Onlooker

CLUSTER = "e2e"
# One entry for two reasons, so that an opening must split it, and one for a reason of its own.
GATE: list[Object] = [
    {"nodes": "20%", "reasons": ["Empty"]},
    {"nodes": "0", "reasons": ["Underutilized", "Drifted"]},
]
ALWAYS = {"name": "always", "timezone": "UTC", "cron": "0 0 * * *", "duration": "24h"}
OTHER_REASONS = ("Empty", "Underutilized")
COMMAND = Path(sys.executable).with_name("driftgate")


@dataclass(slots=True)
class Command:
    """A running `driftgate`."""

    process: subprocess.Popen[str]

    def kill(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def result(self, timeout_s: float = 240) -> "Result":
        """What it said, once it has ended."""
        said, told = self.process.communicate(timeout=timeout_s)
        return Result(code=self.process.returncode, told=told, said=said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a `driftgate` ended: exit code, standard output, standard error."""

    code: int
    said: str
    told: str

    @property
    def shown(self) -> dict[str, Any]:
        assert self.said, self.told
        answer: dict[str, Any] = json.loads(self.said)
        return answer

    @property
    def reasons(self) -> list[str]:
        return [reason["code"] for reason in self.shown["reasons"]]


@dataclass(slots=True)
class Rolling:
    """A control plane on which the group `driftgate` has what `driftgate cluster-manifests` prints, and no more."""

    plane: ControlPlane
    started: list[Command] = field(default_factory=list)

    @property
    def admin(self) -> Api:
        return self.plane.api("admin")

    @property
    def folder(self) -> Path:
        return self.plane.run.folder

    def trapped(self, pool: str, nodes: int, budgets: list[Object] | None = None) -> Object:
        """A pool of empty nodes, all drifted, behind a shut gate; as read before anything of driftgate was there."""
        create_nodeclass(self.admin, pool)
        create_nodepool(self.admin, pool, nodeclass=pool, budgets=budgets or GATE)
        create_drifted_nodes(self.admin, pool, nodes)
        return self.pool(pool)

    def pool(self, name: str) -> Object:
        return self.admin.get(f"{NODEPOOLS}/{name}")

    def budgets(self, name: str) -> str:
        """The budgets as the server stores them, to the byte."""
        return json.dumps(self.pool(name)["spec"]["disruption"]["budgets"])

    def config(self, pools: list[str], **settings: object) -> Path:
        """A driftgate.yaml that may act at any time and guards by no alarm, but for the settings given."""
        wanted: dict[str, object] = {
            "cluster": CLUSTER,
            "mode": "act",
            "pools": pools,
            "windows": [ALWAYS],
            "guards": {"alarms": "none", "bake": "0h"},
            "open": {"per_window": "all", "pause_between": "0m", "expected_roll": "1m"},
        }
        path = self.folder / f"{'-'.join(pools)}.driftgate.yaml"
        path.write_text(json.dumps(wanted | settings))
        return path

    def ledger(self, name: str) -> Path:
        return self.folder / f"{name}.ledger.json"

    def start(self, *arguments: object, kubeconfig: Path | None = None) -> Command:
        """`driftgate` as a process of its own, as the group `driftgate`."""
        reached = ("--kubeconfig", kubeconfig or self.plane.kubeconfig("driftgate"))
        command = [str(part) for part in (COMMAND, *arguments, *reached)]
        process = subprocess.Popen(
            command, cwd=self.folder, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.started.append(Command(process))
        return self.started[-1]

    def roll(self, pool: str, *more: object, ledger: str = "", kubeconfig: Path | None = None) -> Command:
        """`driftgate roll` of one node, now."""
        asked = ("--now", "--reason", "e2e", "--yes", "--until", "settled", "-o", "json")
        where = ("--ledger", f"file:{self.ledger(ledger or pool)}")
        return self.start("roll", "--pool", pool, *asked, *where, *more, kubeconfig=kubeconfig)

    def pipeline(self, pools: list[str], **settings: object) -> Pipeline:
        """The laptop's pipeline in this process: real client, driftgate's identity, a ledger in a file."""
        reach = Reach(kubeconfig=str(self.plane.kubeconfig("driftgate")), ledger=f"file:{self.ledger('-'.join(pools))}")
        return laptop_pipeline(reach, read_config(self.config(pools, **settings)), {})

    def cluster(self) -> KubernetesCluster:
        found = find_context(str(self.plane.kubeconfig("driftgate")), None, environ={})
        return KubernetesCluster(connect_context(found))

    def rolls(self, ledger: str) -> list[Roll]:
        """Every roll in the ledger, oldest first."""
        return sorted(FileLedger(self.ledger(ledger), SystemClock()).load(CLUSTER).rolls, key=lambda roll: roll.id)

    @contextmanager
    def karpenter_asleep(self) -> Iterator[None]:
        """Karpenter sees nothing and does nothing in the block: what is done there comes before its next pass."""
        pid = self.plane.run.pid("karpenter")
        freeze(pid)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def stop(self) -> None:
        """Ends what a failed test left running."""
        for command in self.started:
            if command.process.poll() is None:
                command.process.kill()
            command.process.communicate()


def freeze(pid: int) -> None:
    """Returns once the process stands still."""
    os.kill(pid, signal.SIGSTOP)
    stat = Path(f"/proc/{pid}/stat")
    wait_for(lambda: True if stat.read_text().rpartition(")")[2].split()[0] == "T" else None, "standstill")


def environment() -> Mapping[str, str]:
    """No AWS, no configuration of the person's own."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "KUBE"))}


@pytest.fixture(scope="module")
def rolling(control_plane: ControlPlane) -> Iterator[Rolling]:
    """Karpenter at work, and driftgate with its own rights."""
    require("kubectl", "oracle")
    grant(control_plane)
    found = Rolling(control_plane)
    yield found
    found.stop()


@pytest.fixture
def onlooker(rolling: Rolling) -> Iterator[Onlooker]:
    """Sees everything that happens during the test."""
    with Onlooker(rolling.admin) as looking:
        yield looking


def grant(plane: ControlPlane) -> None:
    """Give the group what `driftgate cluster-manifests` prints."""
    rights = subprocess.check_output([COMMAND, "cluster-manifests"], text=True)
    kubectl = [str(build.binary_path("kubectl")), "--kubeconfig", str(plane.kubeconfig("admin"))]
    subprocess.run([*kubectl, "apply", "-f", "-"], input=rights, text=True, check=True, capture_output=True)


def other_limits(onlooker: Onlooker, pool: str, nodes: int) -> set[tuple[int, ...]]:
    """What Karpenter's own code allows of the other reasons, over every list that stood."""
    with Oracle() as oracle:
        answers = [oracle.ask(seen.budgets, nodes, seen.at)["must"] for seen in onlooker.lists(pool)]
    return {tuple(answer[reason] for reason in OTHER_REASONS) for answer in answers}
