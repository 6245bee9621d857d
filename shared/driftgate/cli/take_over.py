"""What a driftgate that was killed on this machine left behind: its gate is shut and its lease given back first."""

from __future__ import annotations

import os
import socket

from driftgate.app.close_budgets import close_budgets
from driftgate.app.pipeline import Pipeline
from driftgate.cli.answers import note
from driftgate.domain.ledger import LeaseRecord
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


def _is_dead(lease: LeaseRecord) -> bool:
    """Whether the holder was a process of this machine that is gone. What cannot be told counts as alive."""
    who, _, number = lease.holder.rpartition(":")
    if who.rpartition("@")[2] != socket.gethostname() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
