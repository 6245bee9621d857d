"""`driftgate plan`: decides without writing."""

from __future__ import annotations

from driftgate.cli import options
from driftgate.cli.answers import is_for_machines, write
from driftgate.cli.exit_codes import of_plan
from driftgate.cli.plan_table import show_plan
from driftgate.cli.situation import Choice, as_if_acting, read_situation
from driftgate.domain.judge import judge


def plan(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    from_file: options.FromFile = None,
    at: options.At = None,
    ledger: options.LedgerSpec = None,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Say what every pool is, what driftgate would do now, and every reason why. Writes nothing."""
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
    decided = judge(situation.observation, as_if_acting(situation.policy)).plan
    if is_for_machines(output):
        write(decided.to_object(), output)
    else:
        show_plan(decided, output)
    return of_plan(decided)
