"""What a cold heartbeat that finds nothing pays for imports, against three large packages in the same run.

The one that counts is that of a deployment at rest: the last look says when the next is due. The first one after a
new driftgate.yaml has to read it, and is measured beside it. Every repetition is a fresh interpreter, and the kinds
take turns, so that a busy machine slows all of them alike. The first round is not counted: it compiles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from driftgate.contract import Env
from driftgate.ports import PutLook
from tests.bench.figures import Figure, median, note
from tests.bench.helper import Facts
from tests.bench.worlds import CLOCK, ledger_in

GOAL_RATIO = 0.6
CLUSTER = "quiet"
REST, NEW = "at rest", "after a new configuration"
Environments = Mapping[str, dict[str, str]]
CONFIG = """\
mode: act
cluster: {cluster}
windows: [{{name: later, timezone: Europe/Berlin, cron: "0 {hour} * * *", duration: 1h}}]
guards: {{alarms: [demo-5xx]}}
"""


def measure(aws: Facts, rounds: int) -> list[Figure]:
    """Imports of a heartbeat, those it makes as it runs included; and the whole of its first run."""
    with tempfile.TemporaryDirectory() as folder:
        environments = _environments(aws, Path(folder))
        spent = _rounds(rounds, environments)
    base = median(spent["packages"])
    alone, whole = (median(spent[f"{kind} {REST}"]) for kind in ("modules", "heartbeat"))
    return [
        Figure(key="importPackages", what="import boto3, kubernetes.client, aws_lambda_powertools: CPU", value=base),
        Figure(key="importHeartbeat", what="imports of a heartbeat that finds nothing: CPU", value=alone),
        Figure(
            key="importRatio",
            what="imports of that heartbeat against the packages",
            value=alone / base,
            unit="",
            at_most=GOAL_RATIO,
        ),
        Figure(
            key="importRatioNewConfiguration",
            what="the same where driftgate.yaml is new and has to be read",
            value=median(spent[f"modules {NEW}"]) / base,
            unit="",
        ),
        Figure(key="firstHeartbeat", what="a heartbeat that finds nothing, from import to answer: CPU", value=whole),
        Figure(
            key="firstHeartbeatNewConfiguration",
            what="the same where driftgate.yaml is new: CPU",
            value=median(spent[f"heartbeat {NEW}"]),
        ),
    ]


def _rounds(rounds: int, environments: Environments) -> dict[str, list[float]]:
    names = {name: _modules(name, environment) for name, environment in environments.items()}
    spent: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        taken = {"packages": _run("packages", environments[REST])}
        for name, environment in environments.items():
            taken[f"modules {name}"] = _run("modules", environment, json.dumps(names[name]))
            taken[f"heartbeat {name}"] = _run("heartbeat", environment)
        for kind, found in taken.items() if number else ():
            spent[kind].append(found["cpuMs"])
    return spent


def _modules(name: str, environment: dict[str, str]) -> list[str]:
    """What such a heartbeat loads. It found nothing, and loaded no more for that than it may."""
    found = _run("heartbeat", environment)
    modules: list[str] = found["modules"]
    if found["answer"] != {"queued": [], "closing": [], "why": "heartbeat"}:
        raise RuntimeError(f"the heartbeat found something: {found['answer']}")
    if "kubernetes" in modules:
        raise RuntimeError("the heartbeat loaded the Kubernetes client")
    if ("pydantic" in modules) is (name == REST):
        raise RuntimeError(f"a heartbeat {name} read driftgate.yaml, or should have")
    note(f"a heartbeat that finds nothing, {name}, loads {len(modules)} modules")
    return modules


def _run(kind: str, environment: dict[str, str], given: str = "") -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.imports_process", kind]
    done = subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _environments(aws: Facts, folder: Path) -> Environments:
    """A function's variables under the configuration of the last look, and under one that only a comment tells apart.

    The window opens six hours from now.
    """
    now = CLOCK.now()
    known, new = folder / "known.yaml", folder / "new.yaml"
    known.write_text(CONFIG.format(cluster=CLUSTER, hour=(now + timedelta(hours=6)).hour), encoding="utf-8")
    new.write_bytes(known.read_bytes() + b"# new\n")
    digest = sha256(known.read_bytes()).hexdigest()
    ledger_in(aws).commit(CLUSTER, PutLook(now, due_at=now + timedelta(minutes=30), config=digest))
    return {REST: _environment(aws, known), NEW: _environment(aws, new)}


def _environment(aws: Facts, config: Path) -> dict[str, str]:
    own = {
        Env.DEPLOYMENT: "bench",
        Env.TABLE: aws["table"],
        Env.QUEUE_URL: aws["queueUrl"],
        Env.EVENT_BUS: "driftgate",
        Env.CLOSER: "close_budgets",
        Env.CONFIG: str(config),
        Env.CLUSTERS: CLUSTER,
    }
    return {**os.environ, **{str(name): value for name, value in own.items()}}
