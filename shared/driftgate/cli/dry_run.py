"""What `driftgate roll` would write, and what it would write to take it back."""

from __future__ import annotations

import json

import typer

from driftgate.app.pipeline import Pipeline
from driftgate.cli.answers import is_for_machines, write
from driftgate.cli.exit_codes import ExitCode, of_holds
from driftgate.cli.options import Output
from driftgate.cli.plan_table import hold_line
from driftgate.domain.gate_duty import decide_closing
from driftgate.domain.patch import JsonPatch
from driftgate.domain.plan import PoolPlan


def show_dry_run(pipeline: Pipeline, plan: PoolPlan, output: Output) -> int:
    """Prints the opening patch and the patch that takes it back; the server checks the first and stores nothing."""
    opening = plan.action.patch
    if opening is None:
        return _show_hold(plan, output)
    name = pipeline.cluster_names[0]
    opened = pipeline.clusters.connect(name).patch_nodepool(plan.name, opening, dry_run=True)
    revert = decide_closing(opened, plan.action.roll, pipeline.policy(name).deployment).patch
    if is_for_machines(output):
        shown = {"pool": plan.name, "wouldOpen": True, "patch": _objects(opening), "revert": _objects(revert)}
        write(shown | {"reasons": []}, output)
    else:
        typer.echo(f"# Opens the gate of {plan.name} for one node. The server accepted it; nothing was stored.")
        typer.echo(json.dumps(_objects(opening), indent=2, ensure_ascii=False))
        typer.echo("# Takes it back.")
        typer.echo(json.dumps(_objects(revert), indent=2, ensure_ascii=False))
    return ExitCode.OK


def _show_hold(plan: PoolPlan, output: Output) -> int:
    reasons = plan.action.reasons
    if is_for_machines(output):
        shown = {"pool": plan.name, "wouldOpen": False, "patch": None, "revert": None}
        write(shown | {"reasons": [hold.to_object() for hold in reasons]}, output)
    else:
        typer.echo(f"{plan.name} would not be opened: it is {plan.verdict}.")
        for hold in reasons:
            typer.echo(f"  {hold_line(hold)}")
    return of_holds(reasons)


def _objects(patch: JsonPatch) -> list[dict[str, object]]:
    return [operation.to_object() for operation in patch]
