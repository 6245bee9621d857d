"""`driftgate lint`: what is wrong with the budgets in manifests, before they reach a cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from driftgate import laptop
from driftgate.cli import options
from driftgate.cli.answers import is_for_machines, sentence, write
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, policy_of, read_text
from driftgate.cli.tables import Row, show
from driftgate.domain.budget_findings import findings
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.findings import Finding, Severity
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.policy import ClusterPolicy

HEADER = ("FILE", "POOL", "SEVERITY", "CODE", "WHAT")
NOTHING = "Nothing is wrong with its budgets."
USUAL_SIZE = 10
"""Percentages are shown for a pool of this size, because a manifest does not say how many nodes there are."""


def lint(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="NodePool manifests; - for standard input.")],
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    at: options.At = None,
    nodes: Annotated[int, typer.Option("--nodes", min=0, help="Size of the pool for percentages.")] = USUAL_SIZE,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Check the disruption budgets of NodePools in files. Needs no cluster."""
    now = options.parse_at(at) or datetime.now(UTC)
    choice = Choice(config=config, cluster=cluster)
    policy = policy_of(find_config(choice), choice, cluster="")
    found = [
        (source, pool, _findings(pool, nodes, now, policy))
        for source in files
        for pool in laptop.read_nodepools(read_text(source), source, now)
    ]
    if not found:
        raise InvalidInputError("there is no NodePool here", place=", ".join(files), remedy="Name NodePool manifests.")
    if is_for_machines(output):
        write([_object(*entry) for entry in found], output)
    elif output is options.Output.MARKDOWN:
        show(HEADER, [row for entry in found for row in _rows(*entry)], output)
    else:
        for entry in found:
            _print(*entry)
    worst = any(finding.severity is Severity.ERROR for _, _, listed in found for finding in listed)
    return ExitCode.NEEDS_PERSON if worst else ExitCode.OK


def _findings(pool: NodePoolSnapshot, nodes: int, now: datetime, policy: ClusterPolicy) -> tuple[Finding, ...]:
    own = policy.of(pool.name)
    covered = own is not None and bool(own.windows)
    return findings(pool.budgets, nodes, now, windows_cover=covered, budgets_given=pool.budgets_given)


def _object(source: str, pool: NodePoolSnapshot, listed: tuple[Finding, ...]) -> dict[str, object]:
    return {"file": source, "pool": pool.name, "findings": [finding.to_object() for finding in listed]}


def _rows(source: str, pool: NodePoolSnapshot, listed: tuple[Finding, ...]) -> list[Row]:
    fine: list[Row] = [(source, pool.name, "fine", "-", NOTHING)]
    return [(source, pool.name, str(f.severity), str(f.code), sentence(f.message, f.remedy)) for f in listed] or fine


def _print(source: str, pool: NodePoolSnapshot, listed: tuple[Finding, ...]) -> None:
    if not listed:
        typer.echo(f"{source}: {pool.name}: {NOTHING}")
    for finding in listed:
        said = sentence(f"{finding.code}: {finding.message}", finding.remedy)
        typer.echo(f"{source}: {pool.name}: {finding.severity} {said}")
