"""`driftgate status`: what is under way, and what keeps things from being under way."""

from __future__ import annotations

from datetime import datetime

import typer

from driftgate.cli import options
from driftgate.cli.answers import is_for_machines, sentence, write
from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.situation import Choice, find_config, reach
from driftgate.cli.tables import Row, show
from driftgate.cli.wording import age, scope_of, until_of
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.ledger import LeaseRecord, Stop, StopCause
from driftgate.domain.records import lease_to_object, roll_to_object, stop_to_object
from driftgate.domain.roll import Roll
from driftgate.ports import LedgerState

RECENT = 5
_WHO = {
    StopCause.PAUSE: "paused by {}",
    StopCause.ALARM: "because of alarm {}",
    StopCause.ROLL: "because roll {} was left alone",
}
HEADER = ("ROLL", "POOL", "STATE", "SINCE", "GATE", "NODE")


def status(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.ConfigFile = None,
    cluster: options.ClusterName = None,
    ledger: options.LedgerSpec = None,
    output: options.OutputFormat = options.Output.TABLE,
) -> int:
    """Show the rolls under way, the last that ended, every stop, and who works on the cluster.

    Reads the ledger only.
    """
    choice = Choice(kubeconfig=kubeconfig, context=context, config=config, cluster=cluster, ledger=ledger)
    pipeline = reach(choice, find_config(choice))
    state, now = pipeline.ledger.load(pipeline.cluster_names[0]), pipeline.clock.now()
    if is_for_machines(output):
        write(_object(state), output)
        return ExitCode.OK
    if state.rolls:
        show(HEADER, [_row(roll) for roll in _shown(state)], output)
    else:
        typer.echo(f"No roll of {state.cluster} is under way, and none ended in the last 90 days.")
    for line in (*(_stop_line(stop, now) for stop in state.stops), _lease_line(state.lease, now)):
        typer.echo(line)
    return ExitCode.OK


def _shown(state: LedgerState) -> list[Roll]:
    under_way = [roll for roll in state.rolls if not roll.is_finished]
    ended = [roll for roll in state.rolls if roll.is_finished]
    return under_way + sorted(ended, key=lambda roll: roll.id, reverse=True)[:RECENT]


def _row(roll: Roll) -> Row:
    gate = "may be open" if roll.may_be_open else "shut"
    return (roll.id, roll.pool, str(roll.state), rfc3339(roll.state_since) or "", gate, roll.node or "-")


def _stop_line(stop: Stop, now: datetime) -> str:
    """What may not open, because of whom, since when and until when."""
    over = "" if stop.is_active(now) else "(over)"
    since = "" if stop.at is None else f"{age(stop.at, now)} ago"
    said = sentence(f"Stopped: {scope_of(stop)},", _WHO[stop.cause].format(stop.ref), since)
    return sentence(f"{said}, {until_of(stop)}{': ' + stop.reason if stop.reason else '.'}", over)


def _lease_line(lease: LeaseRecord | None, now: datetime) -> str:
    if lease is None or lease.expires_at <= now:
        return "Nobody works on the cluster now."
    return f"Held by {lease.holder}, for {age(lease.acquired_at, now)} so far."


def _object(state: LedgerState) -> dict[str, object]:
    return {
        "cluster": state.cluster,
        "rolls": [roll_to_object(roll) for roll in _shown(state)],
        "stops": [stop_to_object(stop) for stop in state.stops],
        "lease": None if state.lease is None else lease_to_object(state.lease),
        "lookedAt": rfc3339(state.looked_at),
    }
