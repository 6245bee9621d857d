"""`driftgate lint`: what is wrong with the budgets in manifests, before they reach a cluster."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from driftgate import laptop
from driftgate.cli import options
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import DEFAULT_CONFIG
from driftgate.domain.budget_findings import findings
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.findings import Finding, Severity
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.policy import ClusterPolicy

USUAL_SIZE = 10
"""Percentages are shown for a pool of this size, because a manifest does not say how many nodes there are."""


def lint(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="NodePool manifests; - for standard input.")],
    config: options.ConfigFile = None,
    at: options.At = None,
    nodes: Annotated[int, typer.Option("--nodes", min=0, help="Size of the pool for percentages.")] = USUAL_SIZE,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Check the disruption budgets of NodePools in files. Needs no cluster."""
    now = options.parse_at(at) or datetime.now(UTC)
    policy = _policy(config)
    found = [
        (source, pool, _findings(pool, nodes, now, policy))
        for source in files
        for pool in laptop.read_nodepools(_text(source), source, now)
    ]
    if not found:
        raise InvalidInputError("no NodePool in these files", place=", ".join(files), remedy="Name NodePool manifests.")
    if output is options.Output.JSON:
        shown = [{"file": s, "pool": p.name, "findings": [f.to_object() for f in fs]} for s, p, fs in found]
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        for source, pool, listed in found:
            _print(source, pool, listed)
    worst = any(finding.severity is Severity.ERROR for _, _, listed in found for finding in listed)
    return ExitCode.NEEDS_PERSON if worst else ExitCode.OK


def _policy(config: Path | None) -> ClusterPolicy | None:
    path = config or (DEFAULT_CONFIG if DEFAULT_CONFIG.is_file() else None)
    return None if path is None else laptop.read_policy(path)


def _findings(pool: NodePoolSnapshot, nodes: int, now: datetime, policy: ClusterPolicy | None) -> tuple[Finding, ...]:
    own = None if policy is None else policy.of(pool.name)
    covered = own is not None and bool(own.windows)
    return findings(pool.budgets, nodes, now, windows_cover=covered, budgets_given=pool.budgets_given)


def _print(source: str, pool: NodePoolSnapshot, listed: tuple[Finding, ...]) -> None:
    if not listed:
        typer.echo(f"{source}: {pool.name}: nothing to say")
    for finding in listed:
        typer.echo(f"{source}: {pool.name}: {finding.severity} {finding.code}: {finding.message} {finding.remedy}")


def _text(source: str) -> str:
    if source == "-":
        return typer.get_text_stream("stdin").read()
    try:
        return Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"cannot be read: {error}", place=source, remedy="Name a readable YAML file."
        ) from error
