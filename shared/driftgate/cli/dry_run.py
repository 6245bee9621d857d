"""What `driftgate roll` would write, and what it would write to take it back."""

from __future__ import annotations

import json

import typer

from driftgate.app.observe import observe
from driftgate.app.pipeline import Pipeline
from driftgate.cli.exit_codes import of_plan
from driftgate.cli.options import Output
from driftgate.domain.budget import to_objects
from driftgate.domain.judge import judge
from driftgate.domain.patch import JsonPatch
from driftgate.domain.plan import ActionKind
from driftgate.domain.policy import NowRequest


def show_dry_run(pipeline: Pipeline, pool: str, request: NowRequest | None, output: Output) -> int:
    """Prints the opening patch and its revert, checked by the server in a dry run; writes nothing."""
    name = pipeline.cluster_names[0]
    cluster, policy = pipeline.clusters.connect(name), pipeline.policy(name)
    seen = observe(pipeline.sources(cluster), policy, pipeline.ledger.load(name), pipeline.clock.now())
    plan = judge(seen, policy, request=request).plan
    decided = plan.of(pool)
    if decided is None or decided.action.kind is not ActionKind.OPEN or decided.action.patch is None:
        typer.echo(json.dumps({"pool": pool, "wouldOpen": False, "plan": plan.to_object()}, indent=2))
        return of_plan(plan)
    cluster.patch_nodepool(pool, decided.action.patch, dry_run=True)
    baseline = decided.action.roll.baseline if decided.action.roll is not None else ()
    if output is Output.JSON:
        shown = {"pool": pool, "wouldOpen": True, "patch": _objects(decided.action.patch)}
        typer.echo(json.dumps(shown | {"revert": to_objects(baseline)}, ensure_ascii=False))
    else:
        typer.echo("# opens the gate for one node (the server accepted it in a dry run)")
        typer.echo(json.dumps(_objects(decided.action.patch), indent=2, ensure_ascii=False))
        typer.echo("# the budgets that closing puts back")
        typer.echo(json.dumps(to_objects(baseline), indent=2, ensure_ascii=False))
    return of_plan(plan)


def _objects(patch: JsonPatch) -> list[dict[str, object]]:
    return [operation.to_object() for operation in patch]
