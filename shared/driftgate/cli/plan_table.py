"""A plan as people read it: one line per pool, then the reasons."""

from __future__ import annotations

from driftgate.cli.options import Output
from driftgate.cli.tables import Row, show
from driftgate.domain.plan import ClusterPlan, PoolPlan


def show_plan(plan: ClusterPlan, output: Output) -> None:
    """The pools, each with its verdict, action and reasons."""
    header = ("POOL", "VERDICT", "ACTION", "NODES", "DRIFTED", "NEXT NODE", "REASONS")
    show(header, [_row(pool) for pool in plan.pools], output)


def _row(pool: PoolPlan) -> Row:
    codes = ", ".join(str(hold.code) for hold in pool.action.reasons)
    return (
        pool.name,
        str(pool.verdict),
        str(pool.action.kind),
        _shown(pool.nodes),
        _shown(pool.drifted),
        pool.next_node or "-",
        codes or "-",
    )


def _shown(value: int | None) -> str:
    return "?" if value is None else str(value)
