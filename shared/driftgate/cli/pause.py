"""`driftgate pause` and `driftgate resume`: a person's word that nothing may open, at once and without a deployment."""

from __future__ import annotations

import getpass
from datetime import timedelta
from typing import Annotated

import typer

from driftgate.app.close_budgets import close_budgets
from driftgate.app.pipeline import Pipeline
from driftgate.cli import options
from driftgate.cli.answers import note
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, ledger_called, reach
from driftgate.cli.wording import scope_of, until_of
from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import InvalidInputError
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
    length = None if duration is None else _length(duration)
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    pipeline = reach(choice, find_config(choice))
    now = pipeline.clock.now()
    stop = Stop(
        cause=StopCause.PAUSE,
        ref=getpass.getuser(),
        cluster=FLEET if fleet else pipeline.cluster_names[0],
        pool=pool,
        at=now,
        until=None if length is None else now + length,
        reason=reason.strip(),
    )
    pipeline.ledger.commit(stop.cluster, PutStop(stop))
    typer.echo(f"Paused {scope_of(stop)} {until_of(stop)}: {stop.reason}")
    typer.echo(f"It holds for every driftgate with this ledger: {ledger_called(choice, pipeline)}")
    _close_now(pipeline, stop)
    return ExitCode.OK


def _length(duration: str) -> timedelta:
    try:
        length = parse_duration(duration)
    except InvalidInputError as error:
        raise InvalidInputError(error.message, place="--for", remedy=error.remedy) from error
    if length <= timedelta(0):
        raise InvalidInputError(f"{duration!r} is over at once", place="--for", remedy="Write how long, such as 3h.")
    return length


def _close_now(pipeline: Pipeline, stop: Stop) -> None:
    """Shuts what stands open. Raises ClusterUnavailableError where that is not known: the pause stands all the same."""
    request = CloseRequest(cluster=pipeline.cluster_names[0], cause=stop.cause, ref=stop.ref, pool=stop.pool)
    report = close_budgets(pipeline, request)
    for name in report.closed:
        typer.echo(f"Shut the gate of {name}, which stood open.")
    if report.failures:
        note("the pause stands, but whether a gate stands open is not known; nothing new opens.")
    report.raise_failures()


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
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    pipeline = reach(choice, find_config(choice))
    scope = FLEET if fleet else pipeline.cluster_names[0]
    known = pipeline.ledger.load(pipeline.cluster_names[0]).stops
    lifted = [s for s in known if s.cause is StopCause.PAUSE and (s.cluster, s.pool) == (scope, pool)]
    if lifted:
        pipeline.ledger.commit(scope, *(RemoveStop(stop) for stop in lifted))
    for stop in lifted:
        typer.echo(f"Resumed {scope_of(stop)}, which {stop.ref} had paused: {stop.reason}")
    if not lifted:
        typer.echo(f"No pause of exactly this scope: {_scope(scope, pool)}. `driftgate status` lists every stop.")
    return ExitCode.OK


def _scope(cluster: str, pool: str | None) -> str:
    return scope_of(Stop(cause=StopCause.PAUSE, ref="", cluster=cluster, pool=pool))
