"""`driftgate report`: every pool in one line each. Useful before anything is deployed or configured."""

from __future__ import annotations

import json

import typer
import yaml

from driftgate.cli import options
from driftgate.cli.exit_codes import of_plan
from driftgate.cli.situation import Choice, as_if_acting, read_situation
from driftgate.cli.tables import show
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.judge import judge
from driftgate.domain.plan import ActionKind, ClusterPlan, PoolPlan, Verdict

HEADER = ("POOL", "VERDICT", "LAGGING", "DRIFTED", "NODES", "DAYS BEHIND", "NEXT WINDOW", "WHY")

_WHY = {
    Verdict.UNGATED: "no limit for Drifted: every node may roll as soon as it drifts",
    Verdict.OPEN: "Karpenter may roll drifted nodes by itself",
    Verdict.CLEAN: "nothing waits",
    Verdict.FROZEN: "frozen, and nothing waits",
}


def report(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    from_file: options.FromFile = None,
    at: options.At = None,
    ledger: options.LedgerSpec = None,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Show every pool: what it is, how far behind, and why. Reads only; needs neither AWS nor a configuration."""
    choice = Choice(
        kubeconfig=kubeconfig,
        context=context,
        config=config,
        cluster=cluster,
        from_file=from_file,
        at=options.parse_at(at),
        ledger=ledger,
    )
    situation = read_situation(choice)
    plan = judge(situation.observation, as_if_acting(situation.policy)).plan
    match output:
        case options.Output.JSON:
            typer.echo(json.dumps(plan.to_object(), ensure_ascii=False, indent=2))
        case options.Output.YAML:
            typer.echo(yaml.safe_dump(plan.to_object(), sort_keys=False, allow_unicode=True), nl=False)
        case options.Output.TABLE | options.Output.MARKDOWN:
            _show(plan, output)
    for error in situation.observation.errors:
        if error.resource not in ("images", "parameters"):
            typer.echo(f"driftgate: {error.resource} could not be read: {error.message or error.status}", err=True)
    return of_plan(plan)


def _show(plan: ClusterPlan, output: options.Output) -> None:
    show(HEADER, [_row(pool) for pool in plan.pools], output)


def _row(pool: PoolPlan) -> tuple[str, ...]:
    behind = [line.days_behind for line in pool.images if line.days_behind is not None]
    window = "-" if pool.next_window is None else rfc3339(pool.next_window.start) or "-"
    counts = tuple("?" if count is None else str(count) for count in (pool.lagging, pool.drifted, pool.nodes))
    return (pool.name, str(pool.verdict), *counts, str(max(behind)) if behind else "-", window, why(pool))


def why(pool: PoolPlan) -> str:
    """The pool's situation in one line."""
    if pool.action.kind is ActionKind.OPEN:
        return f"would open now for {pool.next_node}"
    if pool.action.reasons:
        first = pool.action.reasons[0]
        more = len(pool.action.reasons) - 1
        return f"{first.message}{f' (+{more} more: driftgate plan)' if more else ''}"
    return _WHY.get(pool.verdict, "")
