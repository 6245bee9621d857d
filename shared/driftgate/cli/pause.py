"""`driftgate pause` and `driftgate resume`: a person's word that nothing may open, at once and without a deployment."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from driftgate.app.close_budgets import close_budgets
from driftgate.app.pipeline import Pipeline
from driftgate.cli import options
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, reach
from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.ledger import FLEET, Stop, StopCause
from driftgate.ports import CloseRequest, PutStop, RemoveStop

Pool = Annotated[str | None, typer.Option("--pool", help="Only this NodePool. Default: the whole cluster.")]
Fleet = Annotated[bool, typer.Option("--fleet", help="Every cluster that shares the ledger.")]


def pause(
    reason: Annotated[str, typer.Option("--reason", help="Why: people read it in every report.")],
    duration: Annotated[str | None, typer.Option("--for", help="How long, such as 3h. Default: until resumed.")] = None,
    pool: Pool = None,
    fleet: Fleet = False,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
) -> int:
    """Open nothing here until resumed; a gate that stands open is shut now."""
    if not reason.strip():
        raise InvalidInputError("the reason is empty", place="--reason", remedy="Say why, for those who read it.")
    pipeline = _pipeline(kubeconfig, context, config, cluster, ledger)
    now = pipeline.clock.now()
    stop = Stop(
        cause=StopCause.PAUSE,
        ref=getpass.getuser(),
        cluster=FLEET if fleet else pipeline.cluster_names[0],
        pool=pool,
        at=now,
        until=None if duration is None else now + parse_duration(duration),
        reason=reason.strip(),
    )
    pipeline.ledger.commit(stop.cluster, PutStop(stop))
    until = "until resumed" if stop.until is None else f"until {rfc3339(stop.until)}"
    typer.echo(f"Paused {_scope(stop)} {until}: {stop.reason}")
    request = CloseRequest(cluster=pipeline.cluster_names[0], cause=StopCause.PAUSE, ref=stop.ref, pool=pool)
    report = close_budgets(pipeline, request)
    for name in report.closed:
        typer.echo(f"Shut the gate of {name}, which stood open.")
    report.raise_failures()
    return ExitCode.OK


def resume(
    pool: Pool = None,
    fleet: Fleet = False,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
) -> int:
    """Lift every pause of exactly this scope, whoever said it."""
    pipeline = _pipeline(kubeconfig, context, config, cluster, ledger)
    scope = FLEET if fleet else pipeline.cluster_names[0]
    known = pipeline.ledger.load(pipeline.cluster_names[0]).stops
    lifted = [s for s in known if s.cause is StopCause.PAUSE and (s.cluster, s.pool) == (scope, pool)]
    if lifted:
        pipeline.ledger.commit(scope, *(RemoveStop(stop) for stop in lifted))
    for stop in lifted:
        typer.echo(f"Resumed {_scope(stop)}, paused by {stop.ref}: {stop.reason}")
    if not lifted:
        typer.echo("Nothing of this scope is paused. `driftgate status` lists every stop.")
    return ExitCode.OK


def _pipeline(
    kubeconfig: str | None,
    context: str | None,
    config: options.ConfigFile,
    cluster: str | None,
    ledger: str | None,
) -> Pipeline:
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    return reach(choice, find_config(choice))


def _scope(stop: Stop) -> str:
    cluster = "the fleet" if stop.cluster == FLEET else stop.cluster
    return cluster if stop.pool is None else f"{cluster}/{stop.pool}"
