"""What the end-to-end tests saw: a table at the end of `make e2e`, and `docs/proof.md` by `make proof`.

A test writes a line with pytest's own `record_property(scenario, what was seen)`. Only what passed is printed as
seen, and the page is written only where everything passed: a proof with a hole in it is none.
"""

import os
import platform
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e import build

PAGE = Path(__file__).parents[2] / "docs" / "proof.md"
HERE = Path(__file__).parent
LONGEST = HERE / "test_roll_thirty.py"
SCENARIOS = (LONGEST, *sorted(HERE.glob("test_roll_*.py")), *sorted(HERE.glob("test_hand_loop*.py")))
# Most of the time is waiting for Karpenter; every file has a control plane of its own. The longest comes first.
SIDE_BY_SIDE = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
Row = tuple[str, str]


class Seen:
    """A pytest plugin that keeps the reports of passing tests."""

    def __init__(self) -> None:
        self.reports: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.reports.append(report)


def rows_of(reports: Iterable[pytest.TestReport]) -> list[Row]:
    """Scenario and what was seen, file by file: several files run side by side."""
    ordered = sorted(reports, key=lambda report: report.location[0])
    return [(str(name), str(value)) for report in ordered for name, value in report.user_properties]


def as_text(rows: Iterable[Row]) -> list[str]:
    """Two columns for a terminal."""
    found = list(rows)
    width = max((len(name) for name, _ in found), default=0)
    return [f"{name:<{width}}  {seen}" for name, seen in found]


def as_page(rows: Iterable[Row], at: datetime) -> str:
    """The page as Markdown."""
    lines = [f"| {name} | {seen} |" for name, seen in rows]
    table = "\n".join(["| scenario | seen |", "|---|---|", *lines])
    return PAGE_TEXT.format(table=table, at=f"{at:%Y-%m-%d}", programs=programs(), machine=machine())


def programs() -> str:
    """The versions of the judges, from the modules that they are built from."""
    wanted = {"core": "sigs.k8s.io/karpenter", "kubernetes": "k8s.io/kubernetes"}
    found = {
        dependency: re.search(rf"{re.escape(dependency)} (v\S+)", (build.MODULES / module / "go.mod").read_text())
        for module, dependency in wanted.items()
    }
    return ", ".join(f"{name} {match[1]}" for name, match in found.items() if match)


def machine() -> str:
    return f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


PAGE_TEXT = """# Proof

What driftgate did to a real Karpenter behind a real API server. Written by `make proof`; do not edit by hand.

Seen on {at} with {programs}, on a machine with {machine}. etcd, kube-apiserver, Karpenter's controllers, its
scheduler and its disruption loop, kube-scheduler and kube-controller-manager are the released code, built from
their Go modules. Pretended are the machines behind the nodes: Karpenter's own `kwok` provider launches them, and a
stand-in plays their kubelets.

driftgate runs there as the group `driftgate` with what `driftgate cluster-manifests` prints, and nothing more. What
is counted was not seen by driftgate but by an onlooker with a client and a token of its own, who follows every
version of every NodePool and NodeClaim and samples the budgets every 100 ms. What a list of budgets allows of the
other reasons, Karpenter's own code says.

{table}

## The simulated cluster beside it

`make demo`, `driftgate`'s own tests and its fault matrix run on a simulated cluster. On the hand loop (the gate
opened to 1 by hand and put back after 60 s) it was run next to the real one; the first lines of the table show both.
What differs:

- **The count is the same, the seconds are not.** The model makes a pass exactly every 10 s when idle, in a phase that
  the test knows. The phase of the real loop is wherever it happens to be, so a node goes between 0 and 10 s after an
  opening, and one node more or less fits into a minute.
- **Which of several nodes that drifted in the same second goes first** is settled in the model. The real Karpenter
  takes any of them: then the node that driftgate named as next in line is a guess.
- **The first sign is the same**: the taint `karpenter.sh/disrupted` on the Node, a moment before `DisruptionReason`.
- **NodeClaims made by hand** stand in both for nodes that pods once asked for; in neither is there a machine.

## What this does not show

- Lambda, SQS, EventBridge and DynamoDB: other tests run the handlers over a simulated AWS.
- Networks that lose packets, an API server under load, pools of thousands of nodes.
- A cloud that has no capacity; a kubelet that never comes.
"""


def main() -> int:
    seen = Seen()
    code = pytest.main(["-q", "-m", "e2e", *SIDE_BY_SIDE, *map(str, SCENARIOS)], plugins=[seen])
    rows = rows_of(seen.reports)
    if code != pytest.ExitCode.OK or not rows:
        print(f"{PAGE.name} was not written: not every scenario passed")
        return int(code) or 1
    PAGE.write_text(as_page(rows, datetime.now(UTC)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
