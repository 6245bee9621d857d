"""One pool: its verdict, what is done about it, and everything that a person or a script is shown of it."""

from __future__ import annotations

from driftgate.domain.advance import Advance
from driftgate.domain.budget import DisruptionReason
from driftgate.domain.budget_findings import findings
from driftgate.domain.candidates import blocked, eligible, next_candidate
from driftgate.domain.findings import Finding
from driftgate.domain.gate_duty import stands_open_for_others
from driftgate.domain.horizon import next_change, next_opening
from driftgate.domain.plan import Action, ActionKind, Alert, PoolPlan, RollOutlook, Verdict
from driftgate.domain.pool_alerts import pool_alerts
from driftgate.domain.pool_case import PoolCase
from driftgate.domain.pool_closing_duty import closing_action
from driftgate.domain.pool_opening import open_or_hold
from driftgate.domain.resolutions import stale_resolutions
from driftgate.domain.roll import Roll
from driftgate.domain.verdicts import verdict_holds, verdict_of

DRIFTED = DisruptionReason.DRIFTED


def plan_pool(case: PoolCase) -> PoolPlan:
    """The pool's plan; only `judge` knows whether another pool of the cluster goes first."""
    facts = case.facts
    verdict = verdict_of(facts, case.cluster, case.policy)
    action, closing_alerts = _action(case, verdict)
    unread = verdict is Verdict.UNKNOWN and bool(case.cluster.unread)
    own, budgets, now = case.own_step, facts.pool.budgets, facts.now
    return PoolPlan(
        name=facts.pool.name,
        verdict=verdict,
        nodes=None if unread else facts.total,
        drifted=None if unread else len(facts.drifted),
        lagging=None if unread else facts.images.lagging,
        rollback=None if unread else facts.images.rollback,
        since=facts.since,
        allowed=facts.limits,
        consuming=None if unread else facts.consuming,
        effective=facts.effective(),
        binding=facts.binding,
        next_native_change=next_change(budgets, facts.total, now, DRIFTED),
        next_native_opening=next_opening(budgets, facts.total, now, DRIFTED),
        current_window=case.moment.window,
        next_window=case.moment.upcoming,
        images=facts.images.lines,
        findings=_findings(case),
        eligible=eligible(facts.candidates),
        next_node=None if (first := next_candidate(facts.candidates)) is None else first.name,
        blocked=blocked(facts.candidates),
        roll=None if own is None else _outlook(*own),
        action=action,
        alerts=(*closing_alerts, *pool_alerts(case, verdict)),
    )


def _outlook(roll: Roll, step: Advance) -> RollOutlook:
    return RollOutlook(id=roll.id, state=roll.state, next=step.next, reason=step.reason)


def _action(case: PoolCase, verdict: Verdict) -> tuple[Action, tuple[Alert, ...]]:
    closing = closing_action(case)
    if closing is not None:
        return closing
    holds = verdict_holds(verdict, case.facts, case.cluster)
    if holds:
        return Action(kind=ActionKind.HOLD, reasons=holds), ()
    if verdict is not Verdict.TRAPPED:
        return Action(kind=ActionKind.NONE), ()
    return open_or_hold(case), ()


def _findings(case: PoolCase) -> tuple[Finding, ...]:
    facts, parameters = case.facts, case.cluster.observation.parameters or ()
    is_foreign = stands_open_for_others(facts.pool, case.known_rolls, facts.now) is not None
    about_budgets = findings(
        facts.pool.budgets,
        facts.total,
        facts.now,
        windows_cover=bool(case.policy.windows),
        budgets_given=facts.pool.budgets_given,
        rolling=case.own_step is not None or is_foreign,
        lagging=facts.images.lagging,
        expected_roll=case.policy.open.expected_roll,
    )
    stale = () if facts.node_class is None else stale_resolutions(facts.node_class, parameters)
    return (*about_budgets, *stale)
