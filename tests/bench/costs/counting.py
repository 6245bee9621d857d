"""Counts one heartbeat, one poll, one look and one roll by a deployment at work, and a whole stretch of time beside.

What the multiplication says of that stretch must be what was counted: that is the check that nothing was forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import reduce

from tests.bench.costs.deployment import Deployment, Fleet, deployed, remember_rolls
from tests.bench.costs.meter import Runs
from tests.bench.costs.month import Counted, Span
from tests.bench.costs.usage import Unit, Usage

WORKER, EVALUATION, POLL = "reconcile_cluster", "evaluate_drift", "watch_amis"
MINUTE = timedelta(minutes=1)
WEEKS_KEPT = 12
LARGE = Fleet(pools=20, nodes=100, until_window=timedelta(minutes=45), expected_roll="5m", bake="1h")
SMALL = Fleet(
    clusters=2, pools=2, nodes=3, until_window=timedelta(minutes=45), window="1h", expected_roll="5m", bake="1h"
)
SMALL_SPAN = Span(minutes=180, window_min=60, bake_min=5, rolls=2)
"""Two pools roll one node each in the first minutes of the window, whose bakes end as many minutes after it."""


def count(fleet: Fleet, rolling_min: int, weeks: int = WEEKS_KEPT) -> Counted:
    """At rest first, then through the first minutes of the window, in which one pool after the other rolls."""
    with deployed(fleet) as on:
        remember_rolls(on, fleet, weeks)
        for _ in range(2):
            on.poll()
            on.advance(MINUTE)
            on.beat()
        on.advance(MINUTE)
        rest, poll = on.beat()[EVALUATION], on.poll()[POLL]
        on.advance(timedelta(minutes=31))
        look = _looks(on.beat(), rest) * (1 / fleet.clusters)
        on.advance(timedelta(minutes=12))
        return Counted(
            heartbeat=rest.usage(),
            poll=poll.usage(),
            look=look,
            roll=_roll(on, rest, look, rolling_min),
            fleet_bytes=rest.read_bytes / fleet.clusters,
        )


def _looks(runs: Mapping[str, Runs], rest: Runs) -> Usage:
    """Of a heartbeat that asked for looks: they and what asking for them took, the heartbeat itself taken off."""
    return runs[WORKER].usage() + (runs[EVALUATION].usage() - rest.usage() * runs[EVALUATION].count)


def _roll(on: Deployment, rest: Runs, look: Usage, minutes: int) -> Usage:
    """What a roll takes beside the looks that there are in a window anyway. Raises RuntimeError: nothing rolled."""
    used, looks = Usage(), 0
    for _ in range(minutes):
        on.advance(MINUTE)
        beaten = on.beat()
        if WORKER in beaten:
            used += _looks(beaten, rest)
            looks += beaten[WORKER].count
    rolled = sum(len(sim.witness.disruptions) for sim in on.sims.values())
    if not rolled:
        raise RuntimeError("nothing rolled, so a roll could not be counted")
    return (used - look * looks) * (1 / rolled)


def count_span(fleet: Fleet, span: Span) -> tuple[Usage, int]:
    """All that is used while schedules and queues run by themselves, and how many nodes rolled."""
    with deployed(fleet) as on:
        on.poll()
        on.beat()
        on.poll()
        on.start()
        on.taken()
        on.advance(timedelta(minutes=span.minutes))
        runs = on.taken()
        rolled = sum(len(sim.witness.disruptions) for sim in on.sims.values())
    return reduce(Usage.__add__, (runs[name].usage() for name in (WORKER, EVALUATION, POLL)), Usage()), rolled


def without(used: Usage, *units: Unit) -> Usage:
    return Usage({unit: amount for unit, amount in used.amounts.items() if unit not in units})
