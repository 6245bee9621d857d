"""`driftgate close`: puts the baseline back, at any time, also without a ledger."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from driftgate.app.close_roll import close_persistently, store_closed
from driftgate.app.pipeline import Pipeline
from driftgate.cli import options
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, reach
from driftgate.domain.budget import to_objects
from driftgate.domain.errors import DriftgateError, NodePoolNotFoundError
from driftgate.domain.roll import Roll


def close(
    pool: Annotated[str, typer.Option("--pool", help="The NodePool whose gate is to be shut.")],
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Shut the gate of a pool and put its budgets back as they were; a person's edit is kept."""
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    pipeline = reach(choice, find_config(choice))
    name = pipeline.cluster_names[0]
    roll = _unfinished(pipeline, name, pool)
    deployment = pipeline.policy(name).deployment
    closed = close_persistently(pipeline.clusters.connect(name), pipeline.clock, pool, roll, deployment)
    if closed.pool is None:
        raise NodePoolNotFoundError(f"there is no NodePool named {pool} in {name}")
    if roll is not None:
        _remember(pipeline, roll, is_restored=closed.is_baseline_back)
    alert = None if closed.decision is None else closed.decision.alert(pool)
    if output is options.Output.JSON:
        shown = {"pool": pool, "wrote": closed.wrote, "budgets": to_objects(closed.pool.budgets)}
        typer.echo(json.dumps(shown | {"alert": None if alert is None else alert.to_object()}, ensure_ascii=False))
    else:
        done = "The gate is shut; the budgets are back." if closed.wrote else "Nothing of driftgate stood open."
        typer.echo(f"{pool}: {done}")
        if alert is not None:
            typer.echo(f"  {alert.code}: {alert.message} {alert.remedy}")
    return ExitCode.OK


def _unfinished(pipeline: Pipeline, cluster: str, pool: str) -> Roll | None:
    """The pool's unfinished roll; a ledger that cannot be read must not keep a gate open."""
    try:
        rolls = pipeline.ledger.load(cluster).rolls
    except DriftgateError as error:
        typer.echo(f"driftgate: the ledger was not read, so the NodePool's own record counts: {error}", err=True)
        return None
    return next((roll for roll in rolls if roll.pool == pool and not roll.is_finished), None)


def _remember(pipeline: Pipeline, roll: Roll, *, is_restored: bool) -> None:
    now = pipeline.clock.now()
    try:
        store_closed(pipeline.ledger, roll.cluster, roll, now, pipeline.holder, is_restored=is_restored)
    except DriftgateError as error:
        typer.echo(f"driftgate: the gate is shut, but the ledger does not know it yet: {error}", err=True)
