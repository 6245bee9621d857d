"""`driftgate roll`: one roll, asked for by a person, supervised until its end."""

from __future__ import annotations

import getpass
import json
import signal
from dataclasses import replace
from types import FrameType
from typing import Annotated

import typer

from driftgate.app.close_budgets import close_budgets
from driftgate.app.pipeline import Pipeline
from driftgate.app.roll_once import RollResult, Until, roll_once
from driftgate.app.run_report import RunReport
from driftgate.cli import options
from driftgate.cli.dry_run import show_dry_run
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, reach
from driftgate.config.load import Config
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.plan import Hold
from driftgate.domain.policy import ClusterPolicy, GuardPolicy, Mode, NowRequest, PoolPolicy
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import RollState
from driftgate.ports import CloseRequest


def roll(
    pool: Annotated[str, typer.Option("--pool", help="The NodePool to roll one node of.")],
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
    now: Annotated[
        bool, typer.Option("--now", help="Roll outside a window too, and beyond its count. Needs --reason.")
    ] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why now: people read it later.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the exact patch and its revert; write nothing.")] = (
        False
    ),
    until: Annotated[Until, typer.Option("--until", help="How long to stay with the roll.")] = Until.DONE,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Roll exactly one node of a pool: open its gate, close it at the first sign, follow the node."""
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    found = find_config(choice)
    request = _request(found, now=now, reason=reason)
    pipeline = _only(reach(choice, found), pool, found)
    if dry_run:
        return show_dry_run(pipeline, pool, request, output)
    if not yes:
        _ask(pipeline, pool)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        result = roll_once(pipeline, pool, until, request, _told)
    except KeyboardInterrupt:
        return _close_first(pipeline, pool)
    _show(result, output)
    return _exit_code(result)


def _request(config: Config | None, *, now: bool, reason: str) -> NowRequest | None:
    if not now and config is None:
        raise InvalidInputError(
            "there is no driftgate.yaml, so no window",
            place="roll",
            remedy='Name one with --config, or say --now --reason "…" to roll one node now, without guarding alarms.',
        )
    if now and not reason.strip():
        raise InvalidInputError("--now needs a reason", place="roll", remedy='Say why: --reason "…".')
    if config is None:
        typer.echo("Without a driftgate.yaml: mode is act and no alarm guards this roll.", err=True)
    return NowRequest(person=getpass.getuser(), reason=reason.strip()) if now else None


def _only(pipeline: Pipeline, pool: str, config: Config | None) -> Pipeline:
    """The same pipeline, whose policy covers this one pool."""
    name = pipeline.cluster_names[0]
    base = pipeline.policy(name)
    own = PoolPolicy(mode=Mode.ACT, guards=GuardPolicy(alarms=())) if config is None else base.of(pool)
    if own is None:
        known = ", ".join(sorted(listed for listed, _ in base.pools or ()))
        raise InvalidInputError(f"pools does not have {pool!r}", place="--pool", remedy=f"It has {known}.")
    chosen: ClusterPolicy = replace(base, pools=((pool, own),), default=own)
    pipeline.clusters.connect(name).get_nodepool(pool)
    return replace(pipeline, policy=lambda _: chosen)


def _ask(pipeline: Pipeline, pool: str) -> None:
    cluster = pipeline.cluster_names[0]
    typer.confirm(f"Roll one node of {pool} in {cluster}?", abort=True, err=True)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _close_first(pipeline: Pipeline, pool: str) -> int:
    """Ctrl-C and SIGTERM shut the gate before the process ends, whatever is pressed meanwhile."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    typer.echo(f"\nStopping: the gate of {pool} is shut first.", err=True)
    request = CloseRequest(cluster=pipeline.cluster_names[0], cause="person", ref=pipeline.holder, pool=pool)
    report = close_budgets(pipeline, request)
    report.raise_failures()
    shut = "The gate is shut and the baseline is back." if report.closed else "No gate was open."
    typer.echo(f"{shut} A node that Karpenter took already goes on by itself.", err=True)
    return ExitCode.INTERRUPTED


def _told(report: RunReport) -> None:
    for problem in report.problems:
        typer.echo(f"driftgate: {problem}", err=True)


def _show(result: RollResult, output: options.Output) -> None:
    if output is options.Output.JSON:
        typer.echo(json.dumps(result.to_object(), ensure_ascii=False))
        return
    if result.roll is None:
        typer.echo(f"Held: {result.pool} was not opened.")
        for hold in result.reasons or (_nothing(result),):
            typer.echo(f"  {hold.code}: {hold.message} {hold.remedy}".rstrip())
        return
    shown = result.to_object()
    for key in ("roll", "state", "node", "replacement", "openedAt", "signAt", "closedAt", "baselineRestored"):
        typer.echo(f"{key:<17} {shown[key] if shown[key] is not None else '-'}")


def _nothing(result: RollResult) -> Hold:
    problems = "; ".join(result.problems)
    text = problems or "There is nothing to roll: no node of the pool waits behind a shut gate."
    return Hold(code=ReasonCode.NOTHING_ELIGIBLE, message=text, needs_person=False)


def _exit_code(result: RollResult) -> int:
    if result.roll is not None:
        failed = result.roll.state in (RollState.FAILED, RollState.SUSPECT) or not result.roll.baseline_restored
        return ExitCode.REFUSED if failed else ExitCode.OK
    if any(hold.code is ReasonCode.UNKNOWN for hold in result.reasons):
        return ExitCode.UNKNOWN
    return ExitCode.NEEDS_PERSON if any(hold.is_for_a_person for hold in result.reasons) else ExitCode.OK
