"""`driftgate snapshot`: the whole situation as one file, for a bug report, a test, or a what-if."""

from __future__ import annotations

from typing import Annotated

import typer

from driftgate import laptop
from driftgate.app.observe import observe
from driftgate.cli import options
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, reach, shown_progress
from driftgate.cli.unread import tell_unread


def snapshot(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out what the judgement does not need, env and secrets first.")
    ] = False,
) -> int:
    """Write the cluster's objects and what driftgate knows beside them as one YAML stream. Changes nothing."""
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    with shown_progress() as heard:
        pipeline = reach(choice, find_config(choice), progress=heard)
        name = pipeline.cluster_names[0]
        reached = pipeline.clusters.connect(name)
        known = pipeline.ledger.load(name)
        seen = observe(pipeline.sources(reached), pipeline.policy(name), known, pipeline.clock.now())
        written = laptop.write_snapshot(reached, seen, redact=redact)
    typer.echo(written.text, nl=False)
    return ExitCode.UNKNOWN if tell_unread(written.errors) else ExitCode.OK
