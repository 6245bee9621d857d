"""What a person must know of a gate that may still stand open after something went wrong."""

from __future__ import annotations

from driftgate.app.pipeline import Pipeline
from driftgate.cli.answers import note
from driftgate.domain.errors import DriftgateError
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.roll import Roll


def note_open_gate(pipeline: Pipeline, pool: str) -> None:
    """Says that the gate may stand open, who shuts it and when, and how to shut it now; nothing if it is shut."""
    try:
        rolls = pipeline.ledger.load(pipeline.cluster_names[0]).rolls
    except DriftgateError:
        note(f"Whether the gate of {pool} stands open is not known. {_how(pool)}")
        return
    for roll in rolls:
        if roll.pool == pool and roll.may_be_open:
            note(f"The gate of {pool} may still stand open. {_guard(roll)}{_how(pool)}")


def _guard(roll: Roll) -> str:
    if roll.guard_at is None:
        return ""
    return f"Karpenter itself shuts it at {rfc3339(roll.guard_at)}, whatever becomes of driftgate. "


def _how(pool: str) -> str:
    return f"To shut it yourself: driftgate close --pool {pool}"
