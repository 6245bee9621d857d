"""Closes the gate of one roll and writes down that it is closed: used by the worker and by every closer.

The gate comes first. A ledger that does not answer, or a message that cannot be sent, never delays it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from driftgate.app.close_gate import Closed, close_gate
from driftgate.domain.errors import ClusterUnavailableError, LedgerConflictError
from driftgate.domain.roll import Roll, RollState
from driftgate.ports import Clock, Cluster, Ledger, PutRoll

PATIENCE = 5
"""How often an API server that does not answer is asked again, half a second later each time twice as long."""

COMMITS = 3


def close_persistently(cluster: Cluster, clock: Clock, pool: str, roll: Roll | None, deployment: str) -> Closed:
    """The gate is shut; an API server that does not answer is asked again a few times.

    Raises:
        ClusterUnavailableError: it never answered. The guard inside Karpenter shuts the gate at its minute.
    """
    wait = 0.5
    for _ in range(PATIENCE):
        try:
            return close_gate(cluster, pool, roll, deployment)
        except ClusterUnavailableError:
            clock.sleep(wait)
            wait *= 2
    return close_gate(cluster, pool, roll, deployment)


def as_closed(roll: Roll, now: datetime, by: str) -> Roll:
    """The record of a gate that was shut now; a roll whose node went on keeps its state."""
    before_sign = roll.state in (RollState.PLANNED, RollState.OPENING, RollState.OPENED)
    state = RollState.CLOSED if before_sign else roll.state
    since = now if before_sign else roll.state_since
    return replace(
        roll, state=state, state_since=since, closed_at=roll.closed_at or now, closed_by=roll.closed_by or by
    )


def store_closed(ledger: Ledger, cluster: str, roll: Roll, now: datetime, by: str) -> Roll:
    """The roll as stored, closed; whoever wrote meanwhile is read again and closed too.

    Raises:
        LedgerConflictError: others kept writing. LedgerUnavailableError, AnswerLostError: not stored.
    """
    current: Roll | None = roll
    for _ in range(COMMITS):
        if current is None or current.closed_at is not None:
            return current or roll
        shut = as_closed(current, now, by)
        try:
            ledger.commit(cluster, PutRoll(shut))
        except LedgerConflictError:
            current = next((r for r in ledger.load(cluster).rolls if r.id == roll.id), None)
            continue
        return replace(shut, version=shut.version + 1)
    raise LedgerConflictError(f"the closing of {roll.id} could not be written down: others kept writing")
