"""Where a roll goes next: a total function of its record, what is seen of it, and the time.

It never waits, never writes, and gives a reason on every branch. Whether the gate is open is a fact of its own
(`closed_at` is None): in any state, an open gate that must not be open gives `close`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import assert_never

from driftgate.domain import roll_alerts
from driftgate.domain.conditions import is_true
from driftgate.domain.duration import parse_duration
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.ledger import Approval
from driftgate.domain.nodes import NodeClaimSnapshot, NodeSnapshot
from driftgate.domain.plan import Alert, Hold
from driftgate.domain.policy import OpenPolicy
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.roll_clock import BEAT_STALE, is_abandoned
from driftgate.domain.signs import DRIFT_SIGNS, Sign, find_signs, sign_of

GUARD_AT_MOST = timedelta(seconds=90)
OVERDUE = timedelta(seconds=30)
"""A living worker shuts its gate within seconds of its revertBy: later than this, it was left open."""

READY_DEADLINE = timedelta(minutes=15)
PROOF_DEADLINE = timedelta(days=1)
STRAGGLERS = timedelta(minutes=2)
"""So long after the gate was shut for everybody, a further node that goes is still put down to the opening."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollView:
    """What is seen of one roll's pool.

    `claims` and `nodes` are keyed by NodeClaim name; None where they could not be read. `is_marked` says whether
    our open mark stands in the list, None where the NodePool could not be read. `must_close` holds every reason
    for which an open gate has to be shut now. `sick` says what speaks against an image that bakes.
    """

    claims: Mapping[str, NodeClaimSnapshot] | None
    nodes: Mapping[str, NodeSnapshot]
    read_at: datetime
    is_marked: bool | None = True
    must_close: tuple[Hold, ...] = ()
    sick: tuple[Hold, ...] = ()
    is_bake_owed: bool = False
    bake: timedelta = timedelta(hours=4)
    open: OpenPolicy = field(default_factory=OpenPolicy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """The decision: the roll as it is to be stored, why, and what follows.

    `close` asks for the gate to be shut before the record is stored. `gives_back` returns the window's slot.
    `image_verdict` is what the roll says of its image.
    """

    roll: Roll
    reason: ReasonCode
    close: bool = False
    gives_back: bool = False
    alerts: tuple[Alert, ...] = ()
    image_verdict: Approval | None = None

    @property
    def next(self) -> RollState:
        return self.roll.state


def advance(roll: Roll, view: RollView, now: datetime) -> Advance:
    """The next state of the roll; the same roll where nothing changes."""
    match roll.state:
        case RollState.PLANNED:
            return _planned(roll, now)
        case RollState.OPENING:
            return _opening(roll, view, now)
        case RollState.OPENED:
            return _opened(roll, view, now)
        case RollState.CLOSED:
            return _closed(roll, view, now)
        case RollState.IN_FLIGHT:
            return _with_others_told(_in_flight(_with_others(roll, view), view, now))
        case RollState.SETTLING:
            return _with_others_told(_settling(_with_others(roll, view), view, now))
        case RollState.BAKING:
            return _baking(roll, view, now)
        case RollState.DONE | RollState.CLOSED_UNUSED | RollState.FAILED | RollState.SUSPECT:
            return Advance(roll=roll, reason=_ENDINGS[roll.state])
        case _:
            assert_never(roll.state)


_ENDINGS = {
    RollState.DONE: ReasonCode.REPLACEMENT_READY,
    RollState.CLOSED_UNUSED: ReasonCode.NOT_STARTED,
    RollState.FAILED: ReasonCode.ROLL_FAILED,
    RollState.SUSPECT: ReasonCode.BAKE_FAILED,
}


def proof_due(roll: Roll) -> datetime:
    """When claims that show no sign prove that nothing was taken: the last guard's instant."""
    if roll.guard_at is not None:
        return roll.guard_at
    return (roll.closed_at or roll.revert_by or roll.state_since) + GUARD_AT_MOST


def taken(roll: Roll, signs: tuple[Sign, ...], now: datetime) -> Advance:
    """Karpenter took a node: the gate must be shut, and the node is followed; any further ones are counted."""
    first, *others = signs
    gone = _to(
        roll,
        RollState.IN_FLIGHT,
        now,
        sign_at=roll.sign_at or now,
        sign=first.kind,
        claim=first.claim,
        node=first.node,
        also_taken=tuple(sign.claim for sign in others if sign.may_be_drift),
    )
    return _with_others_told(Advance(roll=gone, reason=ReasonCode.SIGN_SEEN, close=roll.closed_at is None))


def recounted(step: Advance, signs: tuple[Sign, ...], now: datetime) -> Advance:
    """The step of a gate that is shut, with every sign of claims that were read since then."""
    if not signs:
        return step
    if step.roll.state is not RollState.IN_FLIGHT:
        return taken(step.roll, signs, now)
    return _with_others_told(replace(step, roll=_and(step.roll, signs), alerts=()))


def to_closed(roll: Roll, reason: ReasonCode, now: datetime) -> Advance:
    """The gate must be shut without a sign; whether a node was taken is proved later."""
    return Advance(roll=_to(roll, RollState.CLOSED, now), reason=reason, close=True)


def to_unopened(roll: Roll, now: datetime) -> Advance:
    """The opening was refused, so nothing was ever opened and the slot goes back."""
    never = replace(_to(roll, RollState.CLOSED_UNUSED, now), opened_at=None, guard_at=None)
    return Advance(roll=never, reason=ReasonCode.PATCH_REFUSED, gives_back=True)


def _with_others(roll: Roll, view: RollView) -> Roll:
    """The roll with every further node that went on its opening; later departures are not its doing."""
    shut_for_all = max(proof_due(roll), roll.closed_at or view.read_at)
    return roll if view.read_at > shut_for_all + STRAGGLERS else _and(roll, _signs(roll, view))


def _and(roll: Roll, signs: tuple[Sign, ...]) -> Roll:
    more = {sign.claim for sign in signs if sign.may_be_drift and sign.claim != roll.claim}
    return replace(roll, also_taken=tuple(sorted({*roll.also_taken, *more})))


def _with_others_told(step: Advance) -> Advance:
    """Said at every look, so that it is not lost with the worker that saw it first."""
    if not step.roll.also_taken:
        return step
    return replace(step, alerts=(roll_alerts.more_than_one(step.roll), *step.alerts))


def _to(roll: Roll, state: RollState, now: datetime, **changes: object) -> Roll:
    ended: dict[str, object] = {"ended_at": now} if state in _ENDINGS else {}
    if ended and roll.sign_at is not None and roll.closed_at is not None:
        # they have told the sign, and the gate is shut; every look reads this record again for 90 days
        ended["claims_at_open"] = ()
    return replace(roll, state=state, state_since=now, **ended, **changes)  # type: ignore[arg-type]


def _is_worker_alive(roll: Roll, now: datetime) -> bool:
    return now - (roll.beat_at or roll.state_since) <= BEAT_STALE


def _planned(roll: Roll, now: datetime) -> Advance:
    if _is_worker_alive(roll, now):
        return Advance(roll=roll, reason=ReasonCode.PLANNED)
    ended = _to(roll, RollState.CLOSED_UNUSED, now)
    return Advance(roll=ended, reason=ReasonCode.ABANDONED, close=True, gives_back=True)


def _opening(roll: Roll, view: RollView, now: datetime) -> Advance:
    signs, (_, alerts) = _signs(roll, view), neglect(roll, now)
    if signs:
        step = taken(roll, signs, now)
        return replace(step, alerts=alerts + step.alerts)
    if _is_worker_alive(roll, now) and not view.must_close:
        return Advance(roll=roll, reason=ReasonCode.OPENING)
    reason = view.must_close[0].code if view.must_close else ReasonCode.ABANDONED
    return replace(to_closed(roll, reason, now), alerts=alerts)


def _opened(roll: Roll, view: RollView, now: datetime) -> Advance:
    signs = _signs(roll, view)
    reason, alerts = _why_shut(roll, view, now)
    if signs:
        step = taken(roll, signs, now)
        return replace(step, alerts=alerts + step.alerts)
    if reason is None:
        return Advance(roll=roll, reason=ReasonCode.OPENED)
    return replace(to_closed(roll, reason, now), alerts=alerts)


def neglect(roll: Roll, now: datetime) -> tuple[ReasonCode | None, tuple[Alert, ...]]:
    """Why a gate that may be open was left alone, and what people must be told of it; None where it was not."""
    if roll.closed_at is not None or roll.state is RollState.PLANNED:
        return None, ()
    if roll.revert_by is not None and now >= roll.revert_by + OVERDUE:
        return ReasonCode.GATE_LEFT_OPEN, (roll_alerts.left_open(roll, now),)
    if is_abandoned(roll, now):
        return ReasonCode.ABANDONED, (roll_alerts.abandoned(roll),)
    return None, ()


def _why_shut(roll: Roll, view: RollView, now: datetime) -> tuple[ReasonCode | None, tuple[Alert, ...]]:
    neglected, alerts = neglect(roll, now)
    if neglected is not None:
        return neglected, alerts
    if view.must_close:
        return view.must_close[0].code, ()
    if roll.revert_by is not None and now >= roll.revert_by:
        return ReasonCode.OPEN_TIMEOUT, ()
    if view.is_marked is False:
        return ReasonCode.REVERTED_BY, ()
    return None, ()


def _closed(roll: Roll, view: RollView, now: datetime) -> Advance:
    signs = _signs(roll, view)
    if signs:
        return taken(roll, signs, now)
    open_still = roll.closed_at is None
    if view.claims is not None and not open_still and view.read_at >= proof_due(roll):
        ended = _to(roll, RollState.CLOSED_UNUSED, now)
        return Advance(roll=ended, reason=ReasonCode.NOT_STARTED, gives_back=True)
    if view.claims is None and not open_still and now >= proof_due(roll) + PROOF_DEADLINE:
        return Advance(roll=_to(roll, RollState.FAILED, now), reason=ReasonCode.UNKNOWN)
    return Advance(roll=roll, reason=ReasonCode.CLOSING_PROOF_PENDING, close=open_still)


def _in_flight(roll: Roll, view: RollView, now: datetime) -> Advance:
    close = roll.closed_at is None
    if view.claims is None:
        return Advance(roll=roll, reason=ReasonCode.UNKNOWN, close=close)
    seen = _with_replacement(roll, view)
    claim = _claim_of(roll, view.claims)
    if claim is None:
        return Advance(roll=_to(seen, RollState.SETTLING, now), reason=ReasonCode.OLD_NODE_GONE, close=close)
    sign = sign_of(claim, view.nodes.get(claim.name))
    if sign is None:
        return _rolled_back(seen, view.claims, now, close=close)
    waited = now - (roll.sign_at or roll.state_since)
    stuck = waited >= _patience(claim, view)
    told = (roll_alerts.drain_stuck(roll, claim, waited),) if stuck else ()
    named = replace(seen, node=seen.node or sign.node, claim=claim.name, sign=_clearer(seen.sign, sign))
    reason = ReasonCode.DRAIN_STUCK if told else ReasonCode.IN_FLIGHT
    return Advance(roll=named, reason=reason, close=close, alerts=told)


def _settling(roll: Roll, view: RollView, now: datetime) -> Advance:
    close = roll.closed_at is None
    if view.claims is None:
        return Advance(roll=roll, reason=ReasonCode.UNKNOWN, close=close)
    if roll.sign and roll.sign not in DRIFT_SIGNS:
        done = _to(roll, RollState.DONE, now)
        return Advance(roll=done, reason=ReasonCode.LEFT_FOR_ANOTHER_REASON, close=close)
    seen = _with_replacement(roll, view)
    if not seen.replacement and not _born(roll, view.claims):
        done = _to(seen, RollState.DONE, now)
        return Advance(roll=done, reason=ReasonCode.NO_REPLACEMENT_NEEDED, close=close)
    if _is_ready(seen.replacement, view):
        return _proved(seen, view, now, close=close)
    is_lost = bool(seen.replacement) and seen.replacement not in view.claims
    if now >= roll.state_since + READY_DEADLINE or is_lost:
        return _failed(seen, view.claims, now, close=close)
    return Advance(roll=seen, reason=ReasonCode.SETTLING, close=close)


def _proved(roll: Roll, view: RollView, now: datetime, *, close: bool) -> Advance:
    bakes = view.is_bake_owed and view.bake > timedelta(0)
    state = RollState.BAKING if bakes else RollState.DONE
    return Advance(roll=_to(roll, state, now), reason=ReasonCode.REPLACEMENT_READY, close=close)


def _baking(roll: Roll, view: RollView, now: datetime) -> Advance:
    close = roll.closed_at is None
    if view.sick:
        return Advance(
            roll=_to(roll, RollState.SUSPECT, now),
            reason=ReasonCode.BAKE_FAILED,
            close=close,
            alerts=(roll_alerts.bake_failed(roll, view.sick[0]),),
            image_verdict=Approval.SUSPECT,
        )
    if now >= roll.state_since + view.bake and view.claims is not None:
        return Advance(roll=_to(roll, RollState.DONE, now), reason=ReasonCode.REPLACEMENT_READY, close=close)
    return Advance(roll=roll, reason=ReasonCode.BAKING, close=close)


def _signs(roll: Roll, view: RollView) -> tuple[Sign, ...]:
    if view.claims is None:
        return ()
    return find_signs(roll.claims_at_open or tuple(sorted(view.claims)), view.claims, view.nodes)


def _patience(claim: NodeClaimSnapshot, view: RollView) -> timedelta:
    grace = claim.termination_grace_period
    try:
        return view.open.settle_timeout + (parse_duration(grace) if grace else timedelta(0))
    except InvalidInputError:
        return view.open.settle_timeout


def _claim_of(roll: Roll, claims: Mapping[str, NodeClaimSnapshot]) -> NodeClaimSnapshot | None:
    if roll.claim:
        return claims.get(roll.claim)
    return next((claim for claim in claims.values() if claim.node_name == roll.node), None)


def _clearer(kind: str, sign: Sign) -> str:
    return sign.kind if kind in ("", "tainted", "deleting", "gone") and sign.kind != "deleting" else kind or sign.kind


def _with_replacement(roll: Roll, view: RollView) -> Roll:
    """The roll with the first claim that got a machine after the gate opened: Karpenter gives no link between them.

    A claim without a machine says nothing of the image, so it is never written down.
    """
    if roll.replacement or view.claims is None:
        return roll
    launched = (claim.name for claim in _born(roll, view.claims) if _is_launched(claim))
    return replace(roll, replacement=next(launched, ""))


def _born(roll: Roll, claims: Mapping[str, NodeClaimSnapshot]) -> list[NodeClaimSnapshot]:
    """The claims that came after the gate opened, oldest first."""
    since = (roll.opened_at or roll.state_since).replace(microsecond=0)  # Kubernetes gives whole seconds
    births = [(_birth(claim), claim) for claim in claims.values() if claim.name not in roll.claims_at_open]
    born = [
        (at or since, claim.name)
        for at, claim in births
        if (at is None and roll.claims_at_open) or (at and at >= since)
    ]
    return [claims[name] for _, name in sorted(born)]


def _birth(claim: NodeClaimSnapshot) -> datetime | None:
    """When the claim was made; by its first condition where no creation time is known."""
    if claim.created_at is not None:
        return claim.created_at
    return min((found.since for found in claim.conditions.values() if found.since is not None), default=None)


def _is_launched(claim: NodeClaimSnapshot) -> bool:
    return is_true(claim.conditions, "Launched") or bool(claim.provider_id)


def _is_ready(claim_name: str, view: RollView) -> bool:
    claim = (view.claims or {}).get(claim_name)
    node = view.nodes.get(claim_name)
    return claim is not None and is_true(claim.conditions, "Initialized") and node is not None and node.is_ready


def _rolled_back(roll: Roll, claims: Mapping[str, NodeClaimSnapshot], now: datetime, *, close: bool) -> Advance:
    if roll.sign and roll.sign not in DRIFT_SIGNS:
        done = _to(roll, RollState.DONE, now)
        return Advance(roll=done, reason=ReasonCode.LEFT_FOR_ANOTHER_REASON, close=close)
    return _failed(roll, claims, now, close=close)


def _failed(roll: Roll, claims: Mapping[str, NodeClaimSnapshot], now: datetime, *, close: bool) -> Advance:
    """The roll failed; its image is to blame if a machine was launched on it, also one that is gone by now."""
    replacement = claims.get(roll.replacement)
    orphans = [claim.name for claim in _born(roll, claims) if not is_true(claim.conditions, "Initialized")]
    image = roll.image if replacement is None else replacement.image_id or roll.image
    return Advance(
        roll=_to(replace(roll, image=image), RollState.FAILED, now),
        reason=ReasonCode.ROLL_FAILED,
        close=close,
        alerts=(roll_alerts.failed(roll, orphans),),
        image_verdict=Approval.SUSPECT if roll.replacement else None,
    )
