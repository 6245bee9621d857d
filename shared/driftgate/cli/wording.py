"""Words that several commands share: how old something is, what a stop covers and how long."""

from __future__ import annotations

from datetime import datetime

from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.ledger import FLEET, Stop


def age(since: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that tells enough: `40 s`, `12 min`, `5 h`, `3 days`."""
    seconds = max(0, int((now - since).total_seconds()))
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def scope_of(stop: Stop) -> str:
    """`the whole fleet`, a cluster, or `cluster/pool`."""
    cluster = "the whole fleet" if stop.cluster == FLEET else stop.cluster
    return cluster if stop.pool is None else f"pool {stop.pool} of {cluster}"


def until_of(stop: Stop) -> str:
    return "until it is lifted" if stop.until is None else f"until {rfc3339(stop.until)}"
