"""Thirty openings in one run, one after the other: each takes one node, and is shut within a second of its sign."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from driftgate.app.pipeline import Pipeline
from driftgate.app.reconcile import reconcile
from driftgate.ports import WorkMessage
from tests.e2e.rolls import CLUSTER, Rolling, other_limits
from tests.e2e.sightings import Onlooker

pytestmark = pytest.mark.slow

OPENINGS = 30
# Nothing opens in a pool before the guard of its last opening has passed, so several pools take turns.
POOLS = [f"thirty-{letter}" for letter in "abcdefgh"]
NODES = 6
PATIENCE = timedelta(minutes=9)


def test_thirty_openings_take_thirty_nodes_one_each(rolling: Rolling, onlooker: Onlooker, record_property):
    with ThreadPoolExecutor(4) as many:
        baseline = dict(zip(POOLS, many.map(lambda pool: rolling.trapped(pool, NODES)["spec"], POOLS), strict=True))

    roll_until_done(rolling.pipeline(POOLS))
    onlooker.watch_on()

    openings = onlooker.openings()
    took = Counter(len(onlooker.taken_by(opening)) for opening in openings)
    rolls = rolling.rolls("-".join(POOLS))
    to_sign = [(onlooker.taken_by(o)[0].at - o.at).total_seconds() for o in openings]
    to_closed = [(o.closed_at - onlooker.taken_by(o)[0].at).total_seconds() for o in openings if o.closed_at]
    written = [(r.closed_at - r.sign_at).total_seconds() for r in rolls if r.closed_at and r.sign_at]
    record_property("30 openings: nodes taken by each", f"{dict(took)}")
    record_property("30 openings: from open to the sign", spread(to_sign))
    record_property("30 openings: from the sign to shut, as driftgate measured it", spread(written))
    record_property("30 openings: from the sign to shut, as the onlooker saw it", spread(to_closed))
    assert took == {1: OPENINGS}
    assert percentile(written, 99) <= 1
    assert percentile(to_closed, 99) <= 1
    assert never_two_at_once(onlooker)
    assert {pool: rolling.pool(pool)["spec"] for pool in POOLS} == baseline
    assert {limits for pool in POOLS for limits in other_limits(onlooker, pool, 10)} == {(2, 0)}


def roll_until_done(pipeline: Pipeline) -> None:
    """One look after the other, as fast as they come, opening thirty times."""
    end, opened = datetime.now(UTC) + PATIENCE, 0
    while datetime.now(UTC) < end:
        message = WorkMessage(cluster=CLUSTER, dedup="thirty", cause="e2e")
        opened += len(reconcile(pipeline, message, may_open=opened < OPENINGS).opened)
        known = pipeline.ledger.load(CLUSTER).rolls
        if opened == OPENINGS and all(roll.is_finished for roll in known):
            return
        pipeline.clock.sleep(0.2)
    pytest.fail(f"{opened} of {OPENINGS} openings in {PATIENCE}")


def never_two_at_once(onlooker: Onlooker) -> bool:
    return all(first.closed_at and first.closed_at <= then.at for first, then in pairwise(onlooker.openings()))


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest rank."""
    ranked = sorted(values)
    return ranked[max(0, -(-len(ranked) * percent // 100) - 1)]


def spread(values: Sequence[float]) -> str:
    return f"p50 {percentile(values, 50):.2f} s, p99 {percentile(values, 99):.2f} s, most {max(values):.2f} s"
