"""A plan as people read it: one line per pool, then every reason with what lifts it."""

from __future__ import annotations

import typer

from driftgate.cli.answers import sentence
from driftgate.cli.options import Output
from driftgate.cli.tables import Row, show
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.plan import Alert, ClusterPlan, Hold, PoolPlan
from driftgate.domain.reasons import REASONS

HEADER = ("POOL", "VERDICT", "ACTION", "LAGGING", "DRIFTED", "NODES", "NEXT NODE", "REASONS")


def show_plan(plan: ClusterPlan, output: Output) -> None:
    """The pools, each with its verdict, action and reasons."""
    show(HEADER, [_row(pool) for pool in plan.pools], output)
    said = [line for pool in plan.pools for line in _lines(pool)]
    if said:
        bullet = "- " if output is Output.MARKDOWN else ""
        typer.echo("\n" + "\n".join(bullet + line for line in said))


def hold_line(hold: Hold) -> str:
    """The reason, until when it holds, and what lifts it."""
    until = "" if hold.until is None else f"Until {rfc3339(hold.until)}."
    return sentence(f"{hold.code}: {hold.message}", until, hold.remedy or REASONS[hold.code].lifted_by)


def alert_line(alert: Alert) -> str:
    """What a person should know, and what to do about it."""
    return sentence(f"{alert.code}: {alert.message}", alert.remedy or REASONS[alert.code].lifted_by)


def counts(pool: PoolPlan) -> tuple[str, str, str]:
    """Lagging, drifted and all nodes; `?` for what could not be read."""
    known = (pool.lagging, pool.drifted, pool.nodes)
    lagging, drifted, nodes = ("?" if count is None else str(count) for count in known)
    return lagging, drifted, nodes


def _row(pool: PoolPlan) -> Row:
    codes = ", ".join(str(hold.code) for hold in pool.action.reasons)
    action = str(pool.action.kind)
    return (pool.name, str(pool.verdict), action, *counts(pool), pool.next_node or "-", codes or "-")


def _lines(pool: PoolPlan) -> list[str]:
    holds = [f"{pool.name}: {hold_line(hold)}" for hold in pool.action.reasons]
    found = [
        f"{pool.name}: {finding.severity} {sentence(f'{finding.code}: {finding.message}', finding.remedy)}"
        for finding in pool.findings
    ]
    blocked = [
        f"{pool.name}: {node.node} stays: {reason.code}: {reason.message}"
        for node in pool.blocked
        for reason in node.reasons
    ]
    return [*holds, *found, *blocked, *(f"{pool.name}: {alert_line(alert)}" for alert in pool.alerts)]
