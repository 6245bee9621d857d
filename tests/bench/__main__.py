"""`python -m tests.bench`: every figure that the project promises, measured on this machine, in one table.

`--quick` takes about a minute, the whole under six; `-o json` prints one object. Nothing leaves the loopback. Where
the machine may be busy, processor time is measured in place of wall time, and ratios come from one and the same run.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from tests.bench import closings, cold_starts, decisions, imports, ledgers, reports
from tests.bench.bytecode import compiled
from tests.bench.costs import figures
from tests.bench.figures import Figure, as_json, as_table, note
from tests.bench.helper import Helper
from tests.bench.worlds import use_aws


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured: repetitions, and the clusters that are reported on (nodes, drifted, pods on each)."""

    decisions: int = 100
    reports: tuple[tuple[int, int, int], ...] = ((2000, 20, 20), (5000, 20, 20), (5000, 5000, 4))
    openings: int = 40
    alarms: int = 40
    imports: int = 15
    ledgers: int = 100
    cold_starts: int = 7
    has_cost_check: bool = True


QUICK = Effort(
    decisions=15,
    reports=((2000, 20, 20),),
    openings=5,
    alarms=10,
    imports=2,
    ledgers=20,
    cold_starts=1,
    has_cost_check=False,
)


def main() -> int:
    """Prints the table, or one JSON object. A missed goal is said and fails nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measures what driftgate promises.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and one smaller cluster")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    said = parser.parse_args()
    with compiled():
        found = measure(QUICK if said.quick else Effort())
    print(as_json(found, quick=said.quick) if said.output == "json" else as_table(found))
    return 0


def measure(effort: Effort) -> list[Figure]:
    """All figures, one area after the other."""
    note("decisions")
    found = decisions.measure(5000, effort.decisions)
    reports.warm_up()
    for nodes, drifted, pods in effort.reports:
        note(f"report on {nodes} nodes, {drifted} drifted")
        found += reports.measure(nodes, drifted=drifted, pods=pods)
    found += figures.measure(is_checked=effort.has_cost_check)
    with Helper("tests.bench.aws_process") as aws:
        use_aws(aws.ready)
        note("closings")
        found += closings.measure_signs(aws.ready, effort.openings)
        found += closings.measure_alarms(aws.ready, effort.alarms)
        note("imports")
        found += imports.measure(aws.ready, effort.imports)
        note("ledgers")
        found += ledgers.measure(aws.ready, effort.ledgers)
    return found + cold_starts.measure(effort.cold_starts)


if __name__ == "__main__":
    sys.exit(main())
