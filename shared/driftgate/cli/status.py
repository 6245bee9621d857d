"""`driftgate status`: what is under way, and what keeps things from being under way."""

from __future__ import annotations

import json

import typer

from driftgate.cli import options
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, reach
from driftgate.cli.tables import show
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.records import lease_to_object, roll_to_object, stop_to_object
from driftgate.domain.roll import Roll
from driftgate.ports import LedgerState

RECENT = 5


def status(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Show rolls under way and the last ones that ended, stops, and who holds the cluster. Reads the ledger only."""
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    pipeline = reach(choice, find_config(choice))
    state = pipeline.ledger.load(pipeline.cluster_names[0])
    if output is options.Output.JSON:
        typer.echo(json.dumps(_object(state), ensure_ascii=False))
        return ExitCode.OK
    rows = [_row(roll) for roll in _shown(state)]
    show(("ROLL", "POOL", "STATE", "SINCE", "NODE", "GATE"), rows, output)
    for stop in state.stops:
        until = "" if stop.until is None else f" until {rfc3339(stop.until)}"
        typer.echo(f"stop: {stop.cluster}/{stop.pool or '*'} by {stop.cause} {stop.ref}{until} {stop.reason}".rstrip())
    if state.lease is not None:
        typer.echo(f"held by {state.lease.holder} until {rfc3339(state.lease.expires_at)}")
    return ExitCode.OK


def _shown(state: LedgerState) -> list[Roll]:
    under_way = [roll for roll in state.rolls if not roll.is_finished]
    ended = [roll for roll in state.rolls if roll.is_finished]
    return under_way + sorted(ended, key=lambda roll: roll.id, reverse=True)[:RECENT]


def _row(roll: Roll) -> tuple[str, ...]:
    gate = "may be open" if roll.may_be_open else "shut"
    return (roll.id, roll.pool, str(roll.state), rfc3339(roll.state_since) or "", roll.node or "-", gate)


def _object(state: LedgerState) -> dict[str, object]:
    return {
        "cluster": state.cluster,
        "rolls": [roll_to_object(roll) for roll in _shown(state)],
        "stops": [stop_to_object(stop) for stop in state.stops],
        "lease": None if state.lease is None else lease_to_object(state.lease),
        "lookedAt": rfc3339(state.looked_at),
    }
