"""The bench's lines about cost: what a heartbeat that finds nothing asks AWS, and what a month comes to."""

from __future__ import annotations

from tests.bench.costs import record
from tests.bench.costs.counting import EVALUATION, SMALL, SMALL_SPAN, count, count_span
from tests.bench.costs.deployment import Fleet, deployed
from tests.bench.costs.month import month, of_clusters, of_fleet
from tests.bench.costs.page import FLEETS, GOAL
from tests.bench.costs.prices import cost
from tests.bench.figures import Figure, note

SMALL_ROLLING_MIN = 6
GOAL_DIFFERENCE = 0.05


def measure(*, is_checked: bool) -> list[Figure]:
    """`is_checked`: a small fleet also runs by itself for three hours, and the multiplication is held against it."""
    note("costs")
    found = [_heartbeat(), *_months()]
    return [*found, _difference()] if is_checked else found


def _heartbeat() -> Figure:
    with deployed(Fleet()) as on:
        on.beat()
        calls = on.beat()[EVALUATION].calls
    note(f"a heartbeat that finds nothing calls {', '.join(calls)}")
    what = "a heartbeat that finds nothing: calls to AWS"
    return Figure(key="heartbeatCalls", what=what, value=len(calls), unit="", at_most=1)


def _months() -> list[Figure]:
    counted = record.read()
    return [
        Figure(
            key=f"costPerCluster{clusters}",
            what=f"a cluster-month of {clusters:,}, by what was counted: USD",
            value=cost(month(clusters, counted)) / clusters,
            unit="",
            at_most=GOAL if clusters == max(FLEETS) else None,
        )
        for clusters in FLEETS
    ]


def _difference() -> Figure:
    counted = count(SMALL, SMALL_ROLLING_MIN, weeks=0)
    used, _ = count_span(SMALL, SMALL_SPAN)
    multiplied = of_fleet(SMALL.clusters, counted, SMALL_SPAN) + of_clusters(SMALL.clusters, counted, SMALL_SPAN)
    what = "three hours of two clusters: multiplied against counted, difference"
    return Figure(
        key="costDifference",
        what=what,
        value=abs(cost(multiplied) / cost(used) - 1),
        unit="",
        at_most=GOAL_DIFFERENCE,
    )
