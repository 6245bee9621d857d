"""What the cluster itself says against an opening: other rolls, health, room, and whether any node could go."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from driftgate.domain.candidates import Candidate, may_go_first
from driftgate.domain.gate_duty import stands_open_for_others
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.limits import limit_holds
from driftgate.domain.observation import Observation
from driftgate.domain.plan import Hold
from driftgate.domain.pod_blocks import lone_pods
from driftgate.domain.policy import PoolPolicy
from driftgate.domain.pool_facts import NEEDED, PoolFacts
from driftgate.domain.pool_health import health_holds, listed, pause_hold
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState

FLYING = frozenset(
    {
        RollState.PLANNED,
        RollState.OPENING,
        RollState.OPENED,
        RollState.CLOSED,
        RollState.IN_FLIGHT,
        RollState.SETTLING,
    }
)
"""States in which nothing else in the cluster may open; another pool's bake does not block."""

_OWN = {
    RollState.CLOSED: (ReasonCode.CLOSING_PROOF_PENDING, "its gate is shut; whether a node was taken is being proved"),
    RollState.IN_FLIGHT: (ReasonCode.IN_FLIGHT, "its node is on the way out"),
    RollState.SETTLING: (ReasonCode.SETTLING, "its replacement is not Ready yet"),
    RollState.BAKING: (ReasonCode.BAKING, "its image is being watched"),
}


def roll_holds(facts: PoolFacts, rolls: Iterable[Roll], policy: PoolPolicy, others: Iterable[str]) -> tuple[Hold, ...]:
    """The pool's own unfinished roll, and those of other pools that nothing may run beside.

    `others` names pools in which a roll that the ledger does not know is in flight.
    """
    unfinished = [roll for roll in rolls if not roll.is_finished]
    own = [_own(roll, policy) for roll in unfinished if roll.pool == facts.pool.name]
    waiting = {roll.pool for roll in unfinished if roll.pool != facts.pool.name and roll.state in FLYING}
    waiting |= {pool for pool in others if pool != facts.pool.name}
    return (*own, *(waiting_for(pool) for pool in sorted(waiting)))


def waiting_for(pool: str) -> Hold:
    """Another pool goes first."""
    return Hold(
        code=ReasonCode.WAITING_FOR,
        message=f"One roll at a time in a cluster: {pool} goes first.",
        objects=(f"nodepool/{pool}",),
        remedy=f"The end of the roll in {pool} lifts this.",
    )


def foreign_roll_hold(facts: PoolFacts, known: frozenset[str]) -> tuple[Hold, ...]:
    """A roll in flight in this very pool that this ledger does not know: somebody's laptop, or another deployment."""
    live = stands_open_for_others(facts.pool, known, facts.now)
    if live is None:
        return ()
    text = f"The deployment {live.deployment} has the roll {live.id} in flight here until {rfc3339(live.revert_by)}."
    return (
        Hold(
            code=ReasonCode.IN_FLIGHT,
            message=text,
            objects=(f"roll/{live.id}",),
            until=live.revert_by,
            remedy="Its end, or `driftgate close` if you know that nobody is at it.",
        ),
    )


def node_holds(facts: PoolFacts, observation: Observation, policy: PoolPolicy) -> tuple[Hold, ...]:
    """Health, limits, and whether a node is there that Karpenter could and we would take."""
    paused = pause_hold(observation.nodeclaims)
    return (
        *health_holds(facts.members),
        *((paused,) if paused is not None else ()),
        *limit_holds(facts.pool, facts.members),
        *_single(facts, observation, policy),
        *_unread_details(observation),
        *_eligible(facts, policy),
    )


def _own(roll: Roll, policy: PoolPolicy) -> Hold:
    code, what = _OWN.get(roll.state, (ReasonCode.IN_FLIGHT, "its gate is open or about to be"))
    until: datetime | None = roll.state_since + policy.guards.bake if roll.state is RollState.BAKING else None
    return Hold(
        code=code,
        message=f"The roll {roll.id} is {roll.state}: {what}.",
        objects=(f"roll/{roll.id}",),
        until=until,
    )


def _single(facts: PoolFacts, observation: Observation, policy: PoolPolicy) -> tuple[Hold, ...]:
    if facts.total != 1 or policy.open.allow_single_node_pool:
        return ()
    node = next(member.name for member in facts.members if member.is_counted)
    alone = sorted(pod.key for pod in lone_pods(observation.pods, node))
    with_it = f" Pods with one replica on it: {listed(alone)}." if alone else ""
    return (
        Hold(
            code=ReasonCode.SINGLE_NODE_POOL,
            message=f"{facts.pool.name} has one node: rolling it is 100 % of the pool.{with_it}",
            objects=(f"nodepool/{facts.pool.name}",),
            remedy="Set open.allow_single_node_pool: true for this pool if that is fine.",
        ),
    )


_JUDGED_ELSEWHERE = frozenset(
    {*NEEDED, "alarms", "calendars", "images", "parameters", "karpenter", "volumeattachments", "ledger"}
)
"""Unread, these have holds of their own, or only leave something unsaid."""


def _unread_details(observation: Observation) -> tuple[Hold, ...]:
    """Pods and PodDisruptionBudgets decide which node can go: unread, they are not empty. Nor is what nobody knows."""
    return tuple(
        Hold(
            code=ReasonCode.UNKNOWN,
            message=f"{error.resource} could not be read: {error.message or error.status}",
            objects=(error.resource,),
            remedy="Give driftgate the rights that `driftgate cluster-manifests` prints, or try again.",
        )
        for error in observation.errors
        if error.resource.lower() not in _JUDGED_ELSEWHERE
    )


def _eligible(facts: PoolFacts, policy: PoolPolicy) -> tuple[Hold, ...]:
    """What speaks against any node that may be the one to go; where none may go, that and why."""
    first = may_go_first(facts.candidates, is_static=facts.pool.replicas is not None)
    if not first:
        return (_nothing(facts), *_skipped(facts))
    unwanted = tuple(hold for candidate in first for hold in candidate.unwanted)
    if not policy.respect.do_not_disrupt:
        return unwanted
    return (*unwanted, *(_force(candidate, hold) for candidate in first for hold in candidate.would_force))


def _nothing(facts: PoolFacts) -> Hold:
    if not facts.drifted:
        return Hold(
            code=ReasonCode.NOTHING_ELIGIBLE,
            message="Nodes lag, but Karpenter has not marked any of them drifted yet: an open gate would take none.",
            objects=(f"nodepool/{facts.pool.name}",),
            remedy="Karpenter looks every five minutes; if nothing happens, look at its log and the node class.",
            needs_person=False,
        )
    names = sorted(candidate.name for candidate in facts.candidates)
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return Hold(
        code=ReasonCode.NOTHING_ELIGIBLE,
        message=f"Every drifted node is kept by something: {shown}.",
        objects=tuple(f"node/{name}" for name in names[:20]),
        remedy="Look at `blocked`: it names what keeps each of them.",
    )


def _skipped(facts: PoolFacts) -> tuple[Hold, ...]:
    """VERSION_SKIPS_EMPTY where empty nodes are all that is left: this Karpenter will never take them."""
    blockers = (hold for candidate in facts.candidates for hold in candidate.blockers)
    skipped = [hold for hold in blockers if hold.code is ReasonCode.VERSION_SKIPS_EMPTY]
    objects = tuple(name for hold in skipped for name in hold.objects if name.startswith("node/"))
    if not skipped:
        return ()
    text = f"{len(skipped)} drifted nodes are empty, and this version of Karpenter never takes such a node for drift."
    return (Hold(code=ReasonCode.VERSION_SKIPS_EMPTY, message=text, objects=objects[:20]),)


def _force(candidate: Candidate, hold: Hold) -> Hold:
    return Hold(
        code=ReasonCode.WOULD_FORCE,
        message=f"{candidate.name} has a terminationGracePeriod: drift would end its pods by force. {hold.message}",
        objects=hold.objects,
        remedy="Wait for the pods' end, or set respect.do_not_disrupt: false.",
    )
