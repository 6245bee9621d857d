"""What a cold start of each function costs, from the archive that is deployed, against three large packages.

The recipe is the deployed one, for this machine. Every repetition is a fresh interpreter, and the kinds take turns, so
that a busy machine slows all of them alike. What an interpreter spends on itself is taken off.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4
from zipfile import ZipFile

import boto3

from infra.packaging import build_asset
from infra.packaging.contents import ASSETS, ROOT
from infra.packaging.runtime import this_machine
from tests.bench.deployed_process import ANSWERS
from tests.bench.figures import Figure, median, note
from tests.bench.helper import Facts, Helper
from tests.bench.worlds import CLOCK

EXAMPLE = ROOT / "docs" / "driftgate.example.yaml"
GOAL_MB = 60.0
GOAL_RATIO = 1.0
"""Less than the packages alone: of imports, and of memory even after the first event."""
FUNCTIONS = {
    "evaluate_drift": "schedule_heartbeat",
    "watch_amis": "schedule_poll",
    "reconcile_cluster": "sqs_work_message",
    "close_budgets": "alarm_state_change_metric",
    "close_fleet": "cloudformation_delete",
    "notify_slack": "sns_delivery",
}
"""Each with the event that it meets first: a heartbeat that finds nothing, a poll, a look, an alarm, a removal of the
stack with no gate open, a message."""

NEEDS_NO_KUBERNETES = frozenset({"evaluate_drift", "watch_amis", "close_fleet", "notify_slack"})
OF_KUBERNETES = ("driftgate.adapters.kubernetes_client", "kubernetes", "requests")
"""Our adapter, and what stays in sight of the client's transport once it is loaded."""
NOTHING = "import os; os._exit(0)"
PACKAGES = (
    f"import sys; sys.path.insert(0, sys.argv[1]); import boto3, kubernetes.client, aws_lambda_powertools; {NOTHING}"
)
CONFIG = """\
mode: act
cluster: quiet
windows: [{{name: later, timezone: UTC, cron: "0 {hour} * * *", duration: 1h}}]
guards: {{alarms: [demo-5xx]}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """An archive of the functions, unpacked, and its sizes in megabytes."""

    folder: Path
    packed: float
    unpacked: float


def measure(rounds: int) -> list[Figure]:
    """Sizes, and for each function processor time and peak memory."""
    with tempfile.TemporaryDirectory() as work, surroundings(Path(work)) as variables:
        asset, bare = _unpacked(Path(work, "asset")), _unpacked(Path(work, "bare"), bytecode=False)
        spent = _rounds(rounds, asset, bare, variables)
    return [
        Figure(key="assetPacked", what="the functions' archive", value=asset.packed, unit="MB"),
        Figure(key="assetUnpacked", what="the same unpacked", value=asset.unpacked, unit="MB", at_most=GOAL_MB),
        *_figures(spent),
    ]


@contextmanager
def surroundings(folder: Path) -> Iterator[dict[str, str]]:
    """The variables that a function gets, of AWS, a cluster and Slack on the loopback.

    At the end the cluster has served the looks and refused none.
    """
    config = folder / "driftgate.yaml"
    config.write_text(CONFIG.format(hour=(CLOCK.now() + timedelta(hours=6)).hour), encoding="utf-8")
    with Helper("tests.bench.deployed_process", str(config)) as around:
        yield around.ready
        requests = around.ask()
    if requests["refused"] or not requests["served"]:
        raise RuntimeError(f"the functions did not reach the cluster: {requests}")


def start(asset: Path, name: str, what: str, variables: Mapping[str, str]) -> Facts:
    """What it takes to import a function (`import`), or to come to the answer of its first event (`first`).

    Raises RuntimeError where it did not do its work, or loaded the Kubernetes client though it needs no cluster.
    """
    must_not = OF_KUBERNETES if name in NEEDS_NO_KUBERNETES else ()
    given = json.dumps({"event": _event(name, variables), "mustNotLoad": must_not})
    # Lambda's file system is read-only: what has no bytecode is compiled at every start
    arguments = ["-B", str(ROOT / "tests/bench/cold_start.py"), str(asset), name, what]
    return _run(arguments, {**variables, "LAMBDA_TASK_ROOT": str(asset)}, given)


def _unpacked(folder: Path, *, bytecode: bool = True) -> Asset:
    archive = build_asset(ASSETS, EXAMPLE, target=this_machine(), bytecode=bytecode)
    with ZipFile(archive) as bundle:
        bundle.extractall(folder)
        unpacked = sum(entry.file_size for entry in bundle.infolist())
    return Asset(folder=folder, packed=archive.stat().st_size / 1e6, unpacked=unpacked / 1e6)


Spent = Mapping[str, list[Facts]]


def _rounds(rounds: int, asset: Asset, bare: Asset, variables: Mapping[str, str]) -> Spent:
    spent: dict[str, list[Facts]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as bytecode:
        packages = ["-X", f"pycache_prefix={bytecode}", "-c", PACKAGES, str(Path(boto3.__file__).parents[1])]
        for number in range(rounds + 1):
            taken = {"nothing": _run(["-c", NOTHING], {}), "packages": _run(packages, {})}
            for name in FUNCTIONS:
                taken[f"import {name}"] = start(asset.folder, name, "import", variables)
                taken[f"first {name}"] = start(asset.folder, name, "first", variables)
            taken["compiling"] = start(bare.folder, "close_budgets", "import", variables)
            # the first round compiles the packages
            for kind, found in taken.items() if number else ():
                spent[kind].append(found)
            note(f"cold starts, round {number} of {rounds}")
    return spent


def _event(name: str, variables: Mapping[str, str]) -> Facts:
    """As AWS would send it, concerning the cluster of this run."""
    text = (ROOT / "tests/events" / f"{FUNCTIONS[name]}.json").read_text(encoding="utf-8")
    event: Facts = json.loads(text.replace('\\"cluster\\": \\"demo\\"', '\\"cluster\\": \\"quiet\\"'))
    for record in event.get("Records", ()):
        if "Sns" in record:
            # what was told once is not told again
            record["Sns"]["MessageId"] = str(uuid4())
    return event | ({"ResponseURL": variables[ANSWERS]} if "ResponseURL" in event else {})


def _run(arguments: list[str], variables: Mapping[str, str], given: str = "") -> Facts:
    command = [sys.executable, "-m", "tests.bench.spent", sys.executable, "-I", "-S", *arguments]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=True)
    spent: Facts = json.loads(done.stdout)
    if spent["exit"]:
        raise RuntimeError(f"{arguments} ended with {spent['exit']}")
    return spent


def _figures(spent: Spent) -> Iterator[Figure]:
    own = _cpu(spent, "nothing")
    base, peak = _cpu(spent, "packages") - own, _peak(spent, "packages")
    packages = "import boto3, kubernetes.client, aws_lambda_powertools"
    yield Figure(key="packagesCpu", what=f"{packages}, all of them: CPU", value=base * 1000)
    yield Figure(key="packagesPeak", what="the same: peak memory", value=peak, unit="MB")
    for name in FUNCTIONS:
        what, key = f"cold {name} against that", "".join(part.title() for part in name.split("_"))
        imported, first = ((_cpu(spent, f"{kind} {name}") - own) / base for kind in ("import", "first"))
        memory = _peak(spent, f"first {name}") / peak
        yield Figure(key=f"cold{key}Import", what=f"{what}: import, CPU", value=imported, unit="", at_most=GOAL_RATIO)
        yield Figure(key=f"cold{key}First", what=f"{what}: import and first event, CPU", value=first, unit="")
        yield Figure(key=f"cold{key}Peak", what=f"{what}: peak memory", value=memory, unit="", at_most=GOAL_RATIO)
    compiling = (_cpu(spent, "compiling") - own) / base
    yield Figure(
        key="coldWithoutBytecode",
        what="cold close_budgets against that: import without bytecode, CPU",
        value=compiling,
        unit="",
    )


def _cpu(spent: Spent, kind: str) -> float:
    return median(found["cpuS"] for found in spent[kind])


def _peak(spent: Spent, kind: str) -> float:
    return median(found["peakMb"] for found in spent[kind])
