"""`driftgate doctor`: what driftgate needs and does not have, before a window finds out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import typer

from driftgate import laptop
from driftgate.app.doctor import diagnose
from driftgate.app.pipeline import Pipeline
from driftgate.cli import options
from driftgate.cli.answers import is_for_machines, write
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.manifests import to_yaml
from driftgate.cli.situation import Choice, find_config, reach
from driftgate.cli.tables import show
from driftgate.config import ClusterSetup, Config
from driftgate.domain.diagnosis import Diagnosis, Outcome
from driftgate.domain.endpoints import Endpoint, endpoints_of
from driftgate.domain.rights import Right, rules

_CODES = (
    (Outcome.REFUSED, ExitCode.REFUSED),
    (Outcome.UNREADABLE, ExitCode.UNKNOWN),
    (Outcome.WRONG, ExitCode.NEEDS_PERSON),
)


def doctor(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Check connection, clock, rights, Karpenter, a write (dry run), ledger and alarms. Writes nothing."""
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    settings = find_config(choice)
    pipeline = reach(choice, settings)
    name = pipeline.cluster_names[0]
    found = diagnose(pipeline, laptop.api_server_of(pipeline.clusters.connect(name)), name)
    found = replace(found, endpoints=_endpoints(pipeline, settings, cluster))
    _tell(found, output)
    return exit_code(found)


def _endpoints(pipeline: Pipeline, config: Config | None, cluster: str | None) -> tuple[Endpoint, ...]:
    """What the VPC from which the deployed driftgate reaches the cluster needs."""
    setup = ClusterSetup() if config is None else config.settings_of(cluster)
    if setup.placement is None:
        return ()
    policy = pipeline.policy(pipeline.cluster_names[0])
    asks_others = any(guard.account_role for pool in policy.policies() for guard in pool.guards.alarms or ())
    return endpoints_of(policy.location.region, takes_roles=setup.account_role is not None or asks_others)


def exit_code(found: Diagnosis) -> ExitCode:
    """The gravest outcome's code."""
    return next((code for outcome, code in _CODES if outcome in found.outcomes), ExitCode.OK)


def _tell(found: Diagnosis, output: options.Output) -> None:
    if is_for_machines(output):
        write(found.to_object(), output)
        return
    rows = [(check.name, str(check.outcome), f"{check.message} {check.remedy}".rstrip()) for check in found.checks]
    show(("CHECK", "OUTCOME", "WHAT WAS FOUND"), rows, output)
    if found.missing:
        _tell_missing(found.missing)
    if found.endpoints:
        typer.echo("\nReached from a VPC. Without a NAT it needs these endpoints:\n")
        show(("ENDPOINT", "KIND", "WHY"), [(each.service, each.kind, each.why) for each in found.endpoints], output)


def _tell_missing(missing: Sequence[Right]) -> None:
    """What each is for, and the rules to add."""
    typer.echo("\nMissing rights:\n")
    for right in missing:
        typer.echo(f"  {right}: {right.why}")
    typer.echo(f"\nMissing in the ClusterRole:\n\n{to_yaml({'rules': rules(missing)})}", nl=False)
