"""The next step of every unfinished roll of a cluster, whether its pool is still there or not."""

from __future__ import annotations

from dataclasses import replace

from driftgate.domain.advance import GUARD_AT_MOST, Advance, RollView, advance
from driftgate.domain.allowance import allowed
from driftgate.domain.budget import DisruptionReason
from driftgate.domain.candidates import blocked, candidates, eligible, facts_for
from driftgate.domain.gate_duty import has_leftovers
from driftgate.domain.gitops import budgets_owner, ignore_advice
from driftgate.domain.holds_alarm import alarm_holds, alarms_firing
from driftgate.domain.holds_time import Moment, blackout_holds, mode_holds, stop_holds, window_holds
from driftgate.domain.marks import is_open_mark, without_marks
from driftgate.domain.members import Member, total
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.observation import Observation
from driftgate.domain.plan import Alert, Hold
from driftgate.domain.policy import ClusterPolicy, PoolPolicy
from driftgate.domain.pool_facts import ClusterFacts
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState

NOW_KEY = "now:"
"""Window keys of rolls that a person asked for by `--now`: no window bounds them."""


def steps_of(facts: ClusterFacts, policy: ClusterPolicy) -> tuple[tuple[Roll, Advance], ...]:
    """Each unfinished roll with its next step."""
    rolls = [roll for roll in facts.observation.rolls or () if not roll.is_finished]
    return tuple((roll, _step(roll, facts, policy)) for roll in rolls)


def _step(roll: Roll, facts: ClusterFacts, policy: ClusterPolicy) -> Advance:
    pool = next((p for p in facts.observation.nodepools if p.name == roll.pool), None)
    own = policy.of(roll.pool) or policy.default
    view = _view(roll, pool, facts, own, policy.cluster)
    step = advance(roll, view, facts.observation.at)
    if step.reason is ReasonCode.REVERTED_BY and pool is not None:
        step = replace(step, alerts=(*step.alerts, _reverted_by(roll, pool)))
    if step.reason is ReasonCode.NOT_STARTED and _was_open_to_its_end(roll):
        step = replace(step, alerts=(*step.alerts, _not_started(roll, facts)))
    if step.reason is ReasonCode.ROLL_FAILED and pool is not None:
        step = replace(step, alerts=tuple(_with_registration(alert, pool) for alert in step.alerts))
    if pool is not None and roll.closed_at is not None and has_leftovers(pool):
        return replace(step, close=True)
    return step


def _view(roll: Roll, pool: NodePoolSnapshot | None, facts: ClusterFacts, policy: PoolPolicy, cluster: str) -> RollView:
    members = facts.members.get(roll.pool, ())
    unread = any(error.resource in ("nodeclaims", "nodes") for error in facts.unread)
    return RollView(
        claims=None if unread else {member.claim.name: member.claim for member in members},
        nodes={member.claim.name: member.node for member in members if member.node is not None},
        read_at=facts.observation.at,
        is_marked=None if pool is None else any(is_open_mark(budget) for budget in pool.budgets),
        must_close=must_close(roll, pool, facts, policy, cluster) if roll.may_be_open else (),
        sick=_sick(roll, members, facts.observation, policy) if roll.state is RollState.BAKING else (),
        is_bake_owed=is_bake_owed(roll, facts.observation),
        bake=policy.guards.bake,
        open=policy.open,
    )


def must_close(
    roll: Roll, pool: NodePoolSnapshot | None, facts: ClusterFacts, policy: PoolPolicy, cluster: str
) -> tuple[Hold, ...]:
    """Every reason for which this roll's gate may not stay open."""
    observation, now = facts.observation, facts.observation.at
    moment = Moment.of(roll.pool, policy, now, None)
    windowed = not roll.window_key.startswith(NOW_KEY)
    return (
        *(_blind(error.resource) for error in facts.unread),
        *mode_holds(policy),
        *(stop_holds(observation, cluster, pool, policy) if pool is not None else ()),
        *(window_holds(moment, None) if windowed else ()),
        *blackout_holds(observation, policy, now),
        *(_native_zero(pool, facts) if pool is not None else ()),
        *alarm_holds(observation, policy.guards, now),
    )


def is_bake_owed(roll: Roll, observation: Observation) -> bool:
    """Whether no roll of this pool has proved the image yet: bake is owed once per image and pool."""
    proved = (
        r.image for r in observation.rolls or () if r.pool == roll.pool and r.state is RollState.DONE and r.replacement
    )
    return roll.image == "" or roll.image not in set(proved)


def _native_zero(pool: NodePoolSnapshot, facts: ClusterFacts) -> tuple[Hold, ...]:
    """An entry of the owner's that shuts Drifted now although the open mark stands."""
    own = without_marks(pool.budgets)
    if not own or not any(map(is_open_mark, pool.budgets)):
        return ()
    limit = allowed(own, total(facts.members.get(pool.name, ())), facts.observation.at, _DRIFTED)
    if limit is None or limit >= 1:
        return ()
    text = f"An entry of {pool.name} shuts Drifted now."
    return (Hold(code=ReasonCode.NATIVE_BLACKOUT, message=text, objects=(f"nodepool/{pool.name}",)),)


_DRIFTED = DisruptionReason.DRIFTED


def _blind(resource: str) -> Hold:
    text = f"{resource} could not be read, so nobody would see that a node is taken."
    return Hold(code=ReasonCode.UNKNOWN, message=text, objects=(resource,))


def _sick(roll: Roll, members: tuple[Member, ...], observation: Observation, policy: PoolPolicy) -> tuple[Hold, ...]:
    """What speaks against the image while it bakes: a firing guard, or a node on it that is not Ready."""
    ill = [m for m in members if m.claim.image_id == roll.image and m.is_counted and m.node and not m.node.is_ready]
    nodes = tuple(
        Hold(
            code=ReasonCode.NODE_NOT_READY,
            message=f"{member.name} on this image is not Ready.",
            objects=(f"node/{member.name}",),
        )
        for member in ill
    )
    return alarms_firing(observation, policy.guards) + nodes


def _was_open_to_its_end(roll: Roll) -> bool:
    """Whether nothing but time closed the gate: at its end, or where no further guard fitted before it."""
    if roll.closed_at is None or roll.revert_by is None:
        return False
    return roll.closed_at + GUARD_AT_MOST >= roll.revert_by


def _not_started(roll: Roll, facts: ClusterFacts) -> Alert:
    """Karpenter had all the time that it was given, and took none: what keeps the nodes, as far as can be seen."""
    members = facts.members.get(roll.pool, ())
    found = candidates(members, facts_for(facts.observation, members, None))
    free = ", ".join(eligible(found)[:5])
    kept = [f"{line.node} ({', '.join(hold.code for hold in line.reasons)})" for line in blocked(found)]
    shown = f" Kept: {', '.join(kept[:5])}{' and more' if len(kept) > 5 else ''}." if kept else ""
    return Alert(
        code=ReasonCode.NOT_STARTED,
        message=f"The gate of {roll.pool} was open until its time was over, and Karpenter took no node."
        f" Free to go: {free or 'none'}.{shown}",
        objects=(f"nodepool/{roll.pool}", f"roll/{roll.id}"),
        remedy="Look at the nodes' blockers, at Karpenter's log, and whether the pods would fit elsewhere.",
    )


def _with_registration(alert: Alert, pool: NodePoolSnapshot) -> Alert:
    """The alert, with Karpenter's own word that nodes of the pool do not register, where it says so."""
    health = pool.conditions.get("NodeRegistrationHealthy")
    if health is None or health.status != "False":
        return alert
    why = f": {health.message}" if health.message else "."
    return replace(alert, message=f"{alert.message} The NodePool's condition NodeRegistrationHealthy is False{why}")


def _reverted_by(roll: Roll, pool: NodePoolSnapshot) -> Alert:
    owner = budgets_owner(pool) or "somebody"
    return Alert(
        code=ReasonCode.REVERTED_BY,
        message=f"{owner} put the budgets of {pool.name} back before Karpenter took a node.",
        objects=(f"nodepool/{pool.name}", f"roll/{roll.id}"),
        remedy=ignore_advice(owner) if owner != "somebody" else "Find out who writes this NodePool.",
    )
