"""`driftgate plan`: decides without writing."""

from __future__ import annotations

import json

import typer
import yaml

from driftgate.cli import options
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
    match output:
        case options.Output.JSON:
            typer.echo(json.dumps(decided.to_object(), ensure_ascii=False, indent=2))
        case options.Output.YAML:
            typer.echo(yaml.safe_dump(decided.to_object(), sort_keys=False, allow_unicode=True), nl=False)
        case options.Output.TABLE | options.Output.MARKDOWN:
            show_plan(decided, output)
    return of_plan(decided)
