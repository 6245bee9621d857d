"""`driftgate close`: puts the baseline back, at any time, also without a ledger or a readable driftgate.yaml."""

from __future__ import annotations

from typing import Annotated

import typer

from driftgate.app.close_gate import Closed
from driftgate.app.close_roll import close_persistently, store_closed
from driftgate.app.pipeline import Pipeline
from driftgate.cli import options
from driftgate.cli.answers import is_for_machines, note, write
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.gate_notes import note_open_gate
from driftgate.cli.plan_table import alert_line
from driftgate.cli.pools import no_such_pool
from driftgate.cli.situation import Choice, find_config, reach, shown_wait
from driftgate.config.load import Config
from driftgate.domain.budget import to_objects
from driftgate.domain.errors import DriftgateError, InvalidInputError
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.plan import Alert
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
    """Shut the gate of a pool now and put its budgets back as they were; a person's edit is kept."""
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    pipeline = reach(choice, _config(choice))
    name = pipeline.cluster_names[0]
    roll = _unfinished(pipeline, name, pool)
    reached, deployment = pipeline.clusters.connect(name), pipeline.policy(name).deployment
    try:
        with shown_wait(f"Shutting the gate of {pool}"):
            closed = close_persistently(reached, pipeline.clock, pool, roll, deployment)
    except DriftgateError:
        note_open_gate(pipeline, pool)
        raise
    if closed.pool is None:
        raise no_such_pool(reached, name, pool)
    if roll is not None:
        _remember(pipeline, roll, is_restored=closed.is_baseline_back)
    _answer(closed.pool, closed, output)
    return ExitCode.OK


def _answer(pool: NodePoolSnapshot, closed: Closed, output: options.Output) -> None:
    alert = None if closed.decision is None else closed.decision.alert(pool.name)
    if is_for_machines(output):
        write(_object(pool, closed, alert), output, on_one_line=True)
        return
    typer.echo(f"{pool.name}: {_sentence(closed)}")
    if alert is not None:
        typer.echo(f"  {alert_line(alert)}")


def _sentence(closed: Closed) -> str:
    if not closed.wrote:
        return "Nothing of driftgate stood open; nothing was written."
    kept = "what somebody else changed meanwhile was kept"
    return f"The gate is shut; {'the budgets are back as they were' if closed.is_baseline_back else kept}."


def _object(pool: NodePoolSnapshot, closed: Closed, alert: Alert | None) -> dict[str, object]:
    return {
        "pool": pool.name,
        "wrote": closed.wrote,
        "baselineRestored": closed.is_baseline_back or not closed.wrote,
        "budgets": to_objects(pool.budgets),
        "alert": None if alert is None else alert.to_object(),
    }


def _config(choice: Choice) -> Config | None:
    """The configuration; one that cannot be read must not keep a gate open."""
    try:
        return find_config(choice)
    except InvalidInputError as error:
        note(f"going on without the configuration, which closing does not need: {error}")
        return None


def _unfinished(pipeline: Pipeline, cluster: str, pool: str) -> Roll | None:
    """The pool's unfinished roll; a ledger that cannot be read must not keep a gate open."""
    try:
        rolls = pipeline.ledger.load(cluster).rolls
    except DriftgateError as error:
        note(f"the ledger was not read, so the NodePool's own record counts: {error}")
        return None
    return next((roll for roll in rolls if roll.pool == pool and not roll.is_finished), None)


def _remember(pipeline: Pipeline, roll: Roll, *, is_restored: bool) -> None:
    now = pipeline.clock.now()
    try:
        store_closed(pipeline.ledger, roll.cluster, roll, now, pipeline.holder, is_restored=is_restored)
    except DriftgateError as error:
        note(f"the gate is shut, but the ledger does not know it yet: {error}")
