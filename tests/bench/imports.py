"""What a cold heartbeat that finds nothing pays for imports, against three large packages in the same run.

Every repetition is a fresh interpreter, and the kinds take turns, so that a busy machine slows all of them alike.
The first round is not counted: it compiles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from driftgate.contract import Env
from driftgate.ports import PutLook
from tests.bench.figures import Figure, median, note
from tests.bench.helper import Facts
from tests.bench.worlds import CLOCK, ledger_in

GOAL_RATIO = 0.6
CLUSTER = "quiet"
CONFIG = """\
mode: act
cluster: {cluster}
windows: [{{name: later, timezone: Europe/Berlin, cron: "0 {hour} * * *", duration: 1h}}]
guards: {{alarms: [demo-5xx]}}
"""


def measure(aws: Facts, rounds: int) -> list[Figure]:
    """Imports of a heartbeat, those it makes as it runs included; and the whole of its first run."""
    ledger_in(aws).commit(CLUSTER, PutLook(CLOCK.now()))
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(aws, Path(folder))
        spent = _rounds(rounds, environment)
    base, alone, whole = (median(spent[kind]) for kind in ("packages", "modules", "heartbeat"))
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
        Figure(key="firstHeartbeat", what="that heartbeat, from import to answer: CPU", value=whole),
    ]


def _rounds(rounds: int, environment: dict[str, str]) -> dict[str, list[float]]:
    found = _run("heartbeat", environment)
    _check(found)
    names = json.dumps(found["modules"])
    spent: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        for kind in ("packages", "modules", "heartbeat"):
            taken = _run(kind, environment, names)["cpuMs"]
            if number:
                spent[kind].append(taken)
    return spent


def _check(found: dict[str, Any]) -> None:
    """It found nothing, and needed no Kubernetes for that."""
    if found["answer"] != {"queued": [], "closing": [], "why": "heartbeat"}:
        raise RuntimeError(f"the heartbeat found something: {found['answer']}")
    if "kubernetes" in found["modules"]:
        raise RuntimeError("the heartbeat loaded the Kubernetes client")
    note(f"a heartbeat that finds nothing loads {len(found['modules'])} modules")


def _run(kind: str, environment: dict[str, str], given: str = "") -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.imports_process", kind]
    done = subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _environment(aws: Facts, folder: Path) -> dict[str, str]:
    """A function's environment; the window in its configuration opens six hours from now."""
    config = folder / "driftgate.yaml"
    config.write_text(CONFIG.format(cluster=CLUSTER, hour=(CLOCK.now() + timedelta(hours=6)).hour), encoding="utf-8")
    own = {
        Env.DEPLOYMENT: "bench",
        Env.TABLE: aws["table"],
        Env.QUEUE_URL: aws["queueUrl"],
        Env.EVENT_BUS: "driftgate",
        Env.CLOSER: "close_budgets",
        Env.CONFIG: str(config),
    }
    return {**os.environ, **{str(name): value for name, value in own.items()}}
