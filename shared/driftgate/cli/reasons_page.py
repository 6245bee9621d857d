"""Prints docs/reasons.md: every code, made from the table that the program itself uses.

`python -m driftgate.cli.reasons_page > docs/reasons.md`. Must not hold a word about a single code.
"""

from __future__ import annotations

import typer

from driftgate.domain.reasons import REASONS, Reason, ReasonClass, ReasonCode

HEAD = """\
# Codes

Every code that driftgate prints, logs or sends. A code keeps its meaning and is never used for another one, so
scripts may rely on it. This page is made from the program's own table
(`python -m driftgate.cli.reasons_page > docs/reasons.md`).

Where a code may stand, in the JSON of `driftgate plan`:

| class | place | what it does |
| --- | --- | --- |
| finding | `findings` | says something about budgets or images; an `error` among them makes the exit code 1 |
| hold | `action.reasons` | keeps the gate shut; every reason is named, not only the first |
| node | `blocked[].reasons` | keeps Karpenter, or driftgate, from taking this node |
| alert | `alerts` | people should know; it holds nothing back |
| roll | `roll.reason`, and the messages of a roll | why a roll went from one state to the next |

"Needs a person": nothing but a person's change lifts it. With such a hold `plan` and `report` exit with 1. A hold may
say otherwise where it knows better: OUTSIDE_WINDOW with no window to come needs a person, NOTHING_ELIGIBLE while
Karpenter has not marked any node yet does not.
"""

TITLES = {
    ReasonCode.NEVER_OPENS: "Budgets",
    ReasonCode.AMI_TOO_YOUNG: "Images",
    ReasonCode.OBSERVE_MODE: "Time",
    ReasonCode.ALARM: "Alarms",
    ReasonCode.FROZEN: "Pools and the cluster",
    ReasonCode.PDB_EXHAUSTED: "Nodes",
    ReasonCode.NOT_STARTED: "Rolls",
    ReasonCode.PLANNED: "Why a roll went on",
}
"""The first code of each section."""

TABLE = """\
| code | class | given when | lifted by | needs a person |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page, in the order of the codes."""
    return HEAD + "".join(_section(code) + _line(code, REASONS[code]) for code in ReasonCode)


def _section(code: ReasonCode) -> str:
    if code not in TITLES:
        return ""
    return f"\n## {TITLES[code]}\n\n{TABLE}"


def _line(code: ReasonCode, reason: Reason) -> str:
    classes = ", ".join(str(kind) for kind in ReasonClass if kind in reason.classes)
    person = "yes" if reason.needs_person else ""
    return f"| `{code}` | {classes} | {reason.meaning} | {reason.lifted_by} | {person} |\n"


if __name__ == "__main__":
    typer.echo(page(), nl=False)
