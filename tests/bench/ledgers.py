"""What the ledger costs: one load and one commit, in a file and in DynamoDB as moto plays it over HTTP."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from driftgate.adapters.ledger_file import FileLedger
from driftgate.domain.roll import RollState
from driftgate.ports import Ledger, PutRoll
from tests.bench.figures import Figure, median
from tests.bench.helper import Facts
from tests.bench.worlds import CLOCK, ledger_in
from tests.factories import roll

CLUSTER = "ledger"


def measure(aws: Facts, rounds: int) -> list[Figure]:
    """Both ledgers, with one unfinished roll in them, as while a gate is open."""
    with tempfile.TemporaryDirectory() as folder:
        in_file = _figures("file", FileLedger(Path(folder, "ledger.json"), CLOCK), rounds)
    return [*in_file, *_figures("DynamoDB (moto)", ledger_in(aws), rounds)]


def _figures(kind: str, ledger: Ledger, rounds: int) -> list[Figure]:
    record = replace(roll(RollState.OPENED), cluster=CLUSTER, version=0)
    commits, loads = [], []
    for version in range(rounds):
        change = PutRoll(replace(record, version=version))
        commits.append(_wall_ms(partial(ledger.commit, CLUSTER, change)))
        loads.append(_wall_ms(partial(ledger.load, CLUSTER)))
    key = kind.split()[0]
    return [
        Figure(key=f"ledgerCommit{key}", what=f"ledger in {kind}: commit, median wall", value=median(commits)),
        Figure(key=f"ledgerLoad{key}", what=f"ledger in {kind}: load, median wall", value=median(loads)),
    ]


def _wall_ms(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000
