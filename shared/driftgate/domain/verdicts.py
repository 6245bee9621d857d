"""What a pool is: the first verdict that fits."""

from __future__ import annotations

from collections.abc import Iterable

from driftgate.domain.allowance import problems
from driftgate.domain.gate import is_freeze
from driftgate.domain.images import why_unresolved
from driftgate.domain.members import Member
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.observation import ReadError
from driftgate.domain.opening import has_unknown
from driftgate.domain.plan import Hold, Verdict
from driftgate.domain.policy import PoolPolicy
from driftgate.domain.pool_facts import ClusterFacts, PoolFacts
from driftgate.domain.reasons import ReasonCode

AUTO_MODE_GROUP = "eks.amazonaws.com"
API_VERSION = "karpenter.sh/v1"


def verdict_of(facts: PoolFacts, cluster: ClusterFacts, policy: PoolPolicy) -> Verdict:
    """The pool's verdict now, by what Karpenter allows, not by what is left of it."""
    if cluster.unread or blind_spots(facts):
        return Verdict.UNKNOWN
    if unsupported_why(facts.pool):
        return Verdict.UNSUPPORTED
    if facts.is_invalid:
        return Verdict.INVALID
    if policy.respect.freeze and is_freeze(facts.pool.budgets):
        return Verdict.FROZEN
    if facts.allowed is None:
        return Verdict.UNGATED
    if facts.allowed >= 1:
        return Verdict.OPEN
    return Verdict.TRAPPED if facts.waits else Verdict.CLEAN


def blind_spots(facts: PoolFacts) -> tuple[Hold, ...]:
    """What of the pool itself cannot be weighed, so that no verdict is possible."""
    holds: list[Hold] = []
    entries = [index for index, budget in enumerate(facts.pool.budgets) if has_unknown(budget)]
    if entries:
        shown = ", ".join(str(index) for index in entries)
        holds.append(
            Hold(
                code=ReasonCode.UNKNOWN_FIELD,
                message=f"Budget entry {shown} says something that this version of driftgate does not know.",
                objects=(f"nodepool/{facts.pool.name}",),
                remedy="Use a newer driftgate, or remove what it does not know.",
            )
        )
    if not facts.drifted:
        holds += image_blind_spots(facts, facts.images.unclear)
    return tuple(holds)


def image_blind_spots(facts: PoolFacts, unclear: Iterable[Member]) -> tuple[Hold, ...]:
    """UNKNOWN where the right image of these members cannot be told, though their node class should tell it."""
    ref, names = facts.pool.node_class, [member.name for member in unclear]
    why = why_unresolved(ref, facts.node_class) if facts.members else ""
    if not why and facts.images.is_known and names:
        why = f"No image of the node class fits {', '.join(names[:3])}, so nobody can say which is right."
    if not why:
        return ()
    place = facts.pool.name if ref is None else ref.name
    return (
        Hold(
            code=ReasonCode.UNKNOWN,
            message=why,
            objects=(f"{'nodepool' if ref is None else ref.kind.lower()}/{place}",),
            remedy="Look at the node class's condition AMIsReady and its status.amis.",
        ),
    )


def unsupported_why(pool: NodePoolSnapshot) -> str:
    """Why driftgate never writes this pool; "" where it may."""
    if pool.api_version != API_VERSION:
        return f"{pool.name} is served as {pool.api_version}; driftgate writes {API_VERSION} only."
    if pool.node_class is not None and pool.node_class.group == AUTO_MODE_GROUP:
        return f"{pool.name} belongs to EKS Auto Mode, which rolls its own nodes."
    return ""


def verdict_holds(verdict: Verdict, facts: PoolFacts, cluster: ClusterFacts) -> tuple[Hold, ...]:
    """The reasons that the verdict itself gives for doing nothing."""
    objects = (f"nodepool/{facts.pool.name}",)
    match verdict:
        case Verdict.UNKNOWN:
            return tuple(_unread(error) for error in cluster.unread) + blind_spots(facts)
        case Verdict.UNSUPPORTED:
            return (Hold(code=ReasonCode.UNSUPPORTED, message=unsupported_why(facts.pool), objects=objects),)
        case Verdict.INVALID:
            return (_invalid(facts),)
        case Verdict.FROZEN if facts.waits:
            text = "Always-on zeros cover every reason: somebody froze this pool, and driftgate keeps its hands off."
            return (Hold(code=ReasonCode.FROZEN, message=text, objects=objects),)
        case _:
            return ()


def _unread(error: ReadError) -> Hold:
    why = error.message or (f"HTTP {error.status}" if error.status else "no answer")
    return Hold(
        code=ReasonCode.UNKNOWN,
        message=f"{error.resource} could not be read: {why}",
        objects=(error.resource,),
        remedy="Give driftgate the rights that `driftgate cluster-manifests` prints, or try again when it answers.",
    )


def _invalid(facts: PoolFacts) -> Hold:
    found = problems(facts.pool.budgets)
    named = " ".join(f"Entry {problem.entry}, {problem.field}: {problem.message}." for problem in found)
    advice = " ".join(f"Write {problem.suggestion} there." for problem in found if problem.suggestion)
    return Hold(
        code=ReasonCode.INVALID,
        message=f"Karpenter cannot use an entry, and allows 0 for every reason. {named}",
        objects=(f"nodepool/{facts.pool.name}",),
        remedy=advice or "Correct the entry named.",
    )
