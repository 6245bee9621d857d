"""What a driftgate that was killed on this machine left behind: its gate is shut and its lease given back first."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from driftgate.app.close_budgets import close_budgets
from driftgate.app.pipeline import Pipeline
from driftgate.cli.answers import note
from driftgate.domain.errors import LeaseHeldError
from driftgate.domain.ledger import LeaseRecord
from driftgate.domain.roll import RollState
from driftgate.ports import CloseRequest


def take_over(pipeline: Pipeline) -> None:
    """Nothing of a dead process of this machine holds the cluster any more, and its gate is shut.

    Raises ClusterUnavailableError where the gate could not be shut; the lease then stays.
    """
    cluster = pipeline.cluster_names[0]
    lease = pipeline.ledger.load(cluster).lease
    if lease is None or lease.expires_at <= pipeline.clock.now() or not _is_dead(lease):
        return
    note(f"{lease.holder} was killed in the middle of its work. What it left open is shut first.")
    report = close_budgets(pipeline, CloseRequest(cluster=cluster, cause="person", ref=pipeline.holder))
    report.raise_failures()
    for name in report.closed:
        note(f"shut the gate of {name}; the baseline is back.")
    pipeline.ledger.release_lease(lease)


def refuse_beside_another(pipeline: Pipeline) -> None:
    """No other living driftgate of this machine is at a roll in this cluster.

    Raises LeaseHeldError with its name and since when: between two looks it holds no lease, and is at it all the same.
    """
    cluster = pipeline.cluster_names[0]
    for roll in pipeline.ledger.load(cluster).rolls:
        is_under_way = not roll.is_finished and roll.state is not RollState.BAKING
        if is_under_way and roll.holder != pipeline.holder and _process_of(roll.holder) is True:
            raise LeaseHeldError(cluster, roll.holder, roll.opened_at or roll.state_since)


def _is_dead(lease: LeaseRecord) -> bool:
    """Whether the holder was a process of this machine that is gone. What cannot be told counts as alive."""
    return _process_of(lease.holder) is False


def _process_of(holder: str) -> bool | None:
    """Whether the holder's process of this machine lives; None where it is another machine's, or cannot be told."""
    who, _, number = holder.rpartition(":")
    if who.rpartition("@")[2] != socket.gethostname() or not number.isdecimal():
        return None
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return None
    return not _is_zombie(int(number))


def _is_zombie(process: int) -> bool:
    """Whether it has ended and only its parent has not asked yet, as in a container whose first process never does.

    Where there is no /proc nobody can tell; it then counts as alive. Source: man 5 proc_pid_stat.
    """
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[:1] == ["Z"]
