"""`docs/compatibility.md`: what was seen on each generation of Karpenter, written by `make e2e-matrix`.

The tests say a row each by pytest's own `record_property`; here the rows become the page, and are read back from it,
so that a test can hold the page to be as it was written.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e import build

PAGE = Path(__file__).parents[3] / "docs" / "compatibility.md"
"""The page in the repository."""
BETWEEN = " | "
"""Between the cells of a row, in the terminal and on the page."""
KINDS = ("empty", "full")


def newest() -> str:
    """The Karpenter that all other scenarios run on, as the module says it."""
    found = re.search(r"sigs\.k8s\.io/karpenter v(\S+)", (build.MODULES / "core" / "go.mod").read_text())
    assert found, "no Karpenter in the core module"
    return found[1]


NEWEST = newest()
VERSIONS = (*build.OLDER_KARPENTERS, NEWEST)
"""Oldest first."""

Rows = Mapping[str, str]
"""What was recorded, by its name: a row's cells, with a bar between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything that the page says and that is not always the same."""

    at: str
    machine: str
    rows: Rows


def expected_rows() -> list[str]:
    """The names of the rows that a whole run records."""
    return [f"{row} {version}" for version in VERSIONS for row in ("verdicts", "mixed", "by hand")] + [
        f"rolls {version} {kind}" for version in VERSIONS for kind in KINDS
    ]


def as_page(run: Run) -> str:
    rolls = [(f"{version} | {kind}", run.rows[f"rolls {version} {kind}"]) for version in VERSIONS for kind in KINDS]
    judged = [(version, judged_cells(run.rows, version)) for version in VERSIONS]
    return TEXT.format(
        at=run.at, machine=run.machine, newest=NEWEST, rolls=as_table(ROLL_HEAD, rolls), judged=as_table(HEAD, judged)
    )


def judged_cells(rows: Rows, version: str) -> str:
    return BETWEEN.join(rows[f"{row} {version}"] for row in ("by hand", "mixed", "verdicts"))


def as_table(head: str, rows: Iterable[tuple[str, str]]) -> str:
    columns = head.count("|") + 1
    filled = [f"{name}{BETWEEN}{cells}" for name, cells in rows]
    padded = [row + " | " * (columns - 1 - row.count("|")) for row in filled]
    return "\n".join(f"| {line} |" for line in (head, " | ".join(["---"] * columns), *padded))


def read_page(text: str) -> Run:
    """The run that the page was written from. Raises ValueError where it does not have the form."""
    told = re.search(r"Seen on (\S+) on a machine with (.+?)\. Every", text)
    if told is None:
        raise ValueError("the page does not say when and where")
    rows: dict[str, str] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in VERSIONS and len(cells) > 1 and cells[1] in KINDS:
            rows[f"rolls {cells[0]} {cells[1]}"] = BETWEEN.join(cell for cell in cells[2:] if cell)
        elif cells[0] in VERSIONS:
            by_hand, went, codes, verdicts, differences = cells[1:]
            rows[f"by hand {cells[0]}"] = by_hand
            rows[f"mixed {cells[0]}"] = BETWEEN.join((went, codes))
            rows[f"verdicts {cells[0]}"] = BETWEEN.join((verdicts, differences))
    return Run(at=told[1], machine=told[2], rows=rows)


ROLL_HEAD = (
    "Karpenter | nodes | openings: nodes taken | what the node showed, in that order | first sign of driftgate's | "
    "from open to the first sign | from that sign to shut | closed by | replaced | baseline byte for byte"
)
HEAD = (
    "Karpenter | empty nodes that went while the gate was held open by hand | of an empty and two full nodes goes | "
    f"alerts | verdicts | its NodePool CRD beside {NEWEST}'s"
)
TEXT = """# Compatibility

The same scenarios on one Karpenter after the other. Written by `make e2e-matrix`; do not edit by hand.

Seen on {at} on a machine with {machine}. Every Karpenter is the released code, built from its Go module with its own
`kwok` provider, and works behind the same real API server. Its nodes drift because the NodePool's template got another
label: as it was released, `kwok` knows no images. Full nodes run a pod that needs more than half of a node, bound by
hand. driftgate runs as the group `driftgate` with what `driftgate cluster-manifests` prints, and learns Karpenter's
version from the image of its Deployment.

## One opening, one node

Each line is of openings by `driftgate roll`, each in a pool of its own of three drifted nodes.

{rolls}

- *closed by*: `its worker` is the process that opened the gate, and shut it at the sign; nobody else had to.
- A node without pods needs no replacement.

## What differs

{judged}

- The gate was held open by hand for 22 seconds, for one node, in a pool of five empty drifted ones: more than one
  shows why it must be shut at the first sign, and none that this Karpenter never takes an empty node for drift.
- Drift skips empty nodes in 1.5 before 1.5.5 and in 1.6 before 1.6.2 (the AWS provider's 1.6.3). driftgate says
  `VERSION_SKIPS_EMPTY` there, and opens no gate for empty nodes alone.
- Before 1.2 there is no condition `DisruptionReason`; the taint `karpenter.sh/disrupted`, the deletion or the
  disappearance of the node is the sign, and the alert is `NO_DISRUPTION_REASON`.

What the codes mean: [reasons.md](reasons.md). What else was seen on {newest}: [proof.md](proof.md).
"""
