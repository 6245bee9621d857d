"""What every pool of a cluster is, what is done about it, and why: one pure function of one observation.

Closing comes first and is always allowed. Less knowledge never means more permission.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from driftgate.domain.advance import Advance
from driftgate.domain.errors import InvariantError
from driftgate.domain.gate_duty import stands_open_for_others
from driftgate.domain.holds_cluster import waiting_for
from driftgate.domain.holds_time import Moment
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.observation import Observation
from driftgate.domain.plan import Action, ActionKind, ClusterPlan, Hold, PoolPlan, Verdict
from driftgate.domain.policy import ClusterPolicy, NowRequest, PoolPolicy
from driftgate.domain.pool_case import PoolCase
from driftgate.domain.pool_facts import ClusterFacts, PoolFacts
from driftgate.domain.pool_judge import plan_pool
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll
from driftgate.domain.roll_steps import steps_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The plan, and the next step of every unfinished roll."""

    plan: ClusterPlan
    steps: tuple[tuple[Roll, Advance], ...]
    nodepools: Mapping[str, NodePoolSnapshot]

    @property
    def is_unsettled(self) -> bool:
        """Whether a roll has a step to go that is not stored yet: the plan takes it for done, an opening must not."""
        return any(step.close or step.roll != roll for roll, step in self.steps)

    def nodepool(self, name: str) -> NodePoolSnapshot:
        return self.nodepools[name]


def judge(observation: Observation, policy: ClusterPolicy, *, request: NowRequest | None = None) -> Judgement:
    """The judgement of one cluster at `observation.at`; `request` is a person's `--now`."""
    if observation.at.tzinfo is None:
        raise InvariantError("an observation without a time zone cannot be judged")
    facts = ClusterFacts.of(observation)
    steps = steps_of(facts, policy)
    plans = [_plan(pool, facts, policy, steps, request) for pool in _covered(facts, policy)]
    plan = ClusterPlan(
        at=observation.at, cluster=policy.cluster, pools=tuple(one_at_a_time([*plans, *_unseen(facts, policy)]))
    )
    return Judgement(plan=plan, steps=steps, nodepools={pool.name: pool for pool in observation.nodepools})


def one_at_a_time(plans: list[PoolPlan]) -> list[PoolPlan]:
    """Of the pools that may open, the one that has been trapped longest does; the others wait for it."""
    ready = [plan for plan in plans if plan.action.kind is ActionKind.OPEN]
    if len(ready) < 2:
        return plans
    first = min(ready, key=lambda plan: (plan.since or datetime.max.replace(tzinfo=UTC), plan.name))
    held = Action(kind=ActionKind.HOLD, reasons=(waiting_for(first.name),))
    return [replace(plan, action=held) if plan in ready and plan is not first else plan for plan in plans]


def _covered(facts: ClusterFacts, policy: ClusterPolicy) -> list[tuple[NodePoolSnapshot, PoolPolicy]]:
    pools = sorted(facts.observation.nodepools, key=lambda pool: pool.name)
    return [(pool, found) for pool in pools if (found := policy.of(pool.name)) is not None]


def _plan(
    covered: tuple[NodePoolSnapshot, PoolPolicy],
    facts: ClusterFacts,
    policy: ClusterPolicy,
    steps: tuple[tuple[Roll, Advance], ...],
    request: NowRequest | None,
) -> PoolPlan:
    pool, own = covered
    observation = facts.observation
    moment = Moment.of(pool.name, own, observation.at, request)
    window = moment.window or moment.upcoming
    known = frozenset(roll.id for roll in observation.rolls or ())
    others = (p.name for p in observation.nodepools if stands_open_for_others(p, known, observation.at) is not None)
    case = PoolCase(
        facts=PoolFacts.of(pool, facts, None if window is None else window.end),
        cluster=facts,
        policy=own,
        name=policy.cluster,
        deployment=policy.deployment,
        steps=steps,
        request=request,
        moment=moment,
        others=frozenset(others),
    )
    return plan_pool(case)


def _unseen(facts: ClusterFacts, policy: ClusterPolicy) -> list[PoolPlan]:
    """Pools that should be there and are not, or could not be read: never left out, so never taken for fine."""
    seen = {pool.name for pool in facts.observation.nodepools}
    unread = next((error for error in facts.unread if error.resource == "nodepools"), None)
    configured = [name for name, _ in policy.pools or ()] or (["*"] if unread is not None else [])
    missing = [name for name in configured if name not in seen]
    return [_unseen_plan(name, "" if unread is None else unread.message or str(unread.status)) for name in missing]


def _unseen_plan(name: str, why: str) -> PoolPlan:
    text = f"NodePools could not be read: {why}" if why else f"There is no NodePool named {name} in this cluster."
    hold = Hold(
        code=ReasonCode.UNKNOWN,
        message=text,
        objects=(f"nodepool/{name}",),
        remedy="Give driftgate the rights that `driftgate cluster-manifests` prints."
        if why
        else "Correct the name under pools, or remove it.",
    )
    return PoolPlan(name=name, verdict=Verdict.UNKNOWN, action=Action(kind=ActionKind.HOLD, reasons=(hold,)))
