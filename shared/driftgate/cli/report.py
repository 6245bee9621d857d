"""`driftgate report`: every pool in one line each. Useful before anything is deployed or configured."""

from __future__ import annotations

from driftgate.cli import options
from driftgate.cli.answers import is_for_machines, write
from driftgate.cli.exit_codes import of_plan
from driftgate.cli.plan_table import counts
from driftgate.cli.situation import Choice, as_if_acting, read_situation
from driftgate.cli.tables import Row, show
from driftgate.cli.unread import tell_unread
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.judge import judge
from driftgate.domain.plan import ActionKind, PoolPlan, Verdict

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
    if is_for_machines(output):
        write(plan.to_object(), output)
    else:
        show(HEADER, [_row(pool) for pool in plan.pools], output)
    tell_unread(situation.observation.errors)
    return of_plan(plan)


def _row(pool: PoolPlan) -> Row:
    behind = [line.days_behind for line in pool.images if line.days_behind is not None]
    window = "-" if pool.next_window is None else rfc3339(pool.next_window.start) or "-"
    return (pool.name, str(pool.verdict), *counts(pool), str(max(behind)) if behind else "-", window, why(pool))


def why(pool: PoolPlan) -> str:
    """The pool's situation in one line."""
    if pool.action.kind is ActionKind.OPEN:
        return f"would open now for {pool.next_node}"
    if pool.action.reasons:
        first = pool.action.reasons[0]
        more = len(pool.action.reasons) - 1
        return f"{first.message}{f' (+{more} more: `driftgate plan`)' if more else ''}"
    return _WHY.get(pool.verdict, "")
