"""What `driftgate report` says of the cluster now, from inside the demo."""

from __future__ import annotations

from collections.abc import Callable

from driftgate.app.observe import observe
from driftgate.app.pipeline import Pipeline
from driftgate.cli.report import why
from driftgate.domain.judge import judge
from infra.local.settings import CLUSTER


def show_report(pipeline: Pipeline, tell: Callable[[str], None]) -> None:
    """One line per pool, then every reason of its hold."""
    cluster, policy = pipeline.clusters.connect(CLUSTER), pipeline.policy(CLUSTER)
    seen = observe(pipeline.sources(cluster), policy, pipeline.ledger.load(CLUSTER), pipeline.clock.now())
    tell("")
    tell("── What the report says now")
    for pool in judge(seen, policy).plan.pools:
        behind = max((line.days_behind or 0 for line in pool.images), default=0)
        tell(f"{pool.name}: {pool.verdict}, {pool.drifted} of {pool.nodes} nodes drifted, {behind} days behind.")
        tell(f"  {why(pool)}")
        for hold in pool.action.reasons:
            tell(f"  {hold.code}: {hold.message}")
        for blocked in pool.blocked:
            tell(f"  {blocked.node}: {'; '.join(reason.message for reason in blocked.reasons)}")
