"""`driftgate roll`: one roll, asked for by a person, supervised until its end."""

from __future__ import annotations

import getpass
import sys
from dataclasses import replace
from typing import Annotated

import typer

from driftgate.app.close_budgets import close_budgets
from driftgate.app.observe import observe
from driftgate.app.pipeline import Pipeline
from driftgate.app.roll_once import Until, roll_once
from driftgate.app.run_report import RunReport
from driftgate.cli import options
from driftgate.cli.answers import note
from driftgate.cli.dry_run import show_dry_run
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.gate_notes import note_open_gate
from driftgate.cli.interrupts import interrupted_once
from driftgate.cli.pools import named_pool
from driftgate.cli.roll_result import exit_code, show_result
from driftgate.cli.situation import Choice, find_config, reach
from driftgate.cli.take_over import refuse_beside_another, take_over
from driftgate.cli.wording import age
from driftgate.config.load import Config
from driftgate.domain.errors import DriftgateError, InvalidInputError, LeaseHeldError
from driftgate.domain.judge import judge
from driftgate.domain.plan import ActionKind, PoolPlan
from driftgate.domain.policy import GuardPolicy, Mode, NowRequest, PoolPolicy
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
    until: Annotated[
        Until, typer.Option("--until", help="Stay until Karpenter took the node, it was replaced, or it has baked.")
    ] = Until.SETTLED,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Roll exactly one node of a pool: open its gate, close it at the first sign, follow the node."""
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    found = find_config(choice)
    request = _request(found, now=now, reason=reason)
    pipeline = _only(reach(choice, found), pool, found)
    if dry_run:
        return show_dry_run(pipeline, _plan(pipeline, pool, request), output)
    if not yes and not _is_wanted(pipeline, pool, request):
        typer.echo("Nothing was opened.", err=True)
        return ExitCode.NEEDS_PERSON
    with interrupted_once():
        try:
            refuse_beside_another(pipeline)
            take_over(pipeline)
            result = roll_once(pipeline, pool, until, request, _told)
        except KeyboardInterrupt:
            return _close_first(pipeline, pool)
        except LeaseHeldError as error:
            return _refused(pipeline, error)
        except DriftgateError:
            note_open_gate(pipeline, pool)
            raise
    show_result(result, output)
    return exit_code(result)


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
        note("there is no driftgate.yaml, so the mode is act and no alarm guards this roll.")
    return NowRequest(person=getpass.getuser(), reason=reason.strip()) if now else None


def _only(pipeline: Pipeline, pool: str, config: Config | None) -> Pipeline:
    """The same pipeline, whose policy covers this one pool."""
    name = pipeline.cluster_names[0]
    base = pipeline.policy(name)
    own = PoolPolicy(mode=Mode.ACT, guards=GuardPolicy(alarms=())) if config is None else base.of(pool)
    if own is None:
        known = ", ".join(sorted(listed for listed, _ in base.pools or ()))
        raise InvalidInputError(
            f"driftgate.yaml does not have {pool!r} among its pools", place="--pool", remedy=f"It has {known}."
        )
    chosen = replace(base, pools=((pool, own),), default=own)
    named_pool(pipeline.clusters.connect(name), name, pool)
    return replace(pipeline, policy=lambda _: chosen)


def _plan(pipeline: Pipeline, pool: str, request: NowRequest | None) -> PoolPlan:
    """What a roll would do now. Raises InvalidInputError where the NodePool is gone."""
    name = pipeline.cluster_names[0]
    cluster, policy = pipeline.clusters.connect(name), pipeline.policy(name)
    seen = observe(pipeline.sources(cluster), policy, pipeline.ledger.load(name), pipeline.clock.now())
    found = judge(seen, policy, request=request).plan
    return found.of(pool) or found.pools[0]


def _is_wanted(pipeline: Pipeline, pool: str, request: NowRequest | None) -> bool:
    """The person's answer; where there is nothing to open there is nothing to ask, and the roll says why."""
    if not sys.stdin.isatty():
        raise InvalidInputError("nobody is there to be asked", place="roll", remedy="Say --yes.")
    plan = _plan(pipeline, pool, request)
    if plan.action.kind is not ActionKind.OPEN:
        return True
    typer.echo(f"{plan.drifted} of {plan.nodes} nodes of {pool} are drifted. Next in line: {plan.next_node}.", err=True)
    return typer.confirm(f"Open the gate of {pool} in {pipeline.cluster_names[0]} for one node?", err=True)


def _close_first(pipeline: Pipeline, pool: str) -> int:
    """Shuts the gate before the process ends. Raises ClusterUnavailableError where it could not be shut."""
    typer.echo(f"\nStopping. The gate of {pool} is shut first …", err=True)
    request = CloseRequest(cluster=pipeline.cluster_names[0], cause="person", ref=pipeline.holder, pool=pool)
    report = close_budgets(pipeline, request)
    if report.failures:
        note_open_gate(pipeline, pool)
    report.raise_failures()
    shut = "The gate is shut and the baseline is back." if report.closed else "No gate was open."
    typer.echo(f"{shut} A node that Karpenter took already goes on by itself.", err=True)
    return ExitCode.INTERRUPTED


def _refused(pipeline: Pipeline, error: LeaseHeldError) -> int:
    """Says who holds the cluster, and for how long."""
    held = age(error.since, pipeline.clock.now())
    note(f"{error.cluster} is held by {error.holder}, for {held} so far; nothing was opened.")
    note(
        "Wait until it is done (`driftgate status` shows it), or end that process with Ctrl-C: it shuts its gate first."
    )
    return ExitCode.REFUSED


def _told(report: RunReport) -> None:
    for problem in report.problems:
        note(problem)
