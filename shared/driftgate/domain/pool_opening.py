"""Whether a trapped pool opens now, and every reason why not, in the order in which they are shown."""

from __future__ import annotations

from datetime import datetime

from driftgate.domain.budget import DisruptionReason
from driftgate.domain.candidates import next_candidate
from driftgate.domain.gate import opened_list, parts_of
from driftgate.domain.guard import first_guard
from driftgate.domain.holds_alarm import alarm_holds
from driftgate.domain.holds_cluster import foreign_roll_hold, node_holds, roll_holds
from driftgate.domain.holds_time import (
    blackout_holds,
    count_holds,
    ends_of_permission,
    ledger_unknown,
    mode_holds,
    pause_holds,
    stop_holds,
    window_holds,
)
from driftgate.domain.horizon import next_opening
from driftgate.domain.image_rules import image_holds
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.nodepool import ROLL_ANNOTATION
from driftgate.domain.opening import Obstacle, check_opened, native_blackout, next_native_zero, why_not_openable
from driftgate.domain.opening_plan import open_patch, revert_by, roll_id, timed
from driftgate.domain.plan import Action, ActionKind, Hold
from driftgate.domain.pool_case import PoolCase, rules_of
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.roll_annotation import LiveRoll, Tombstone, Unreadable, from_text
from driftgate.domain.roll_counts import OpeningCount, count_openings
from driftgate.domain.roll_steps import NOW_KEY
from driftgate.domain.verdicts import image_blind_spots

DRIFTED = DisruptionReason.DRIFTED


def open_or_hold(case: PoolCase) -> Action:
    """OPEN with the exact patch and the roll to write first, or HOLD with all reasons."""
    holds = _holds(case)
    planned = None if holds else timed(_planned(case), case.facts.now)
    if planned is None:
        return Action(kind=ActionKind.HOLD, reasons=holds or (_no_minute(),))
    blackout = check_opened(
        planned.baseline,
        planned.opened,
        opened_at=case.facts.now,
        guard_at=planned.guard_at or case.facts.now,
        total=case.facts.total,
    )
    if blackout:
        return Action(kind=ActionKind.HOLD, reasons=tuple(_of_obstacle(case, obstacle) for obstacle in blackout))
    patch = open_patch(case.facts.pool, planned, case.deployment)
    return Action(kind=ActionKind.OPEN, patch=patch, roll=planned)


def _holds(case: PoolCase) -> tuple[Hold, ...]:
    """Every reason not to open, in the order in which they are shown."""
    facts, policy, request = case.facts, case.policy, case.request
    seen, moment = case.cluster.observation, case.moment
    finished = [roll for roll in case.rolls if roll.is_finished and roll.pool == facts.pool.name]
    return (
        *mode_holds(policy),
        *stop_holds(seen, case.name, facts.pool, policy),
        *window_holds(moment, request),
        *blackout_holds(seen, policy, facts.now),
        *_ledger_holds(case),
        *_annotation_holds(case),
        *count_holds(_count(case), policy, request),
        *pause_holds(finished, policy, facts.now),
        *(_of_obstacle(case, obstacle) for obstacle in _obstacles(case)),
        *_image_holds(case),
        *alarm_holds(seen, policy.guards, facts.now),
        *foreign_roll_hold(facts, case.known_rolls),
        *roll_holds(facts, case.rolls, policy, case.others),
        *node_holds(facts, seen, policy),
        *_fit_holds(case),
    )


def _ledger_holds(case: PoolCase) -> tuple[Hold, ...]:
    seen = case.cluster.observation
    failed = next((error for error in seen.errors if error.resource == "ledger"), None)
    return (ledger_unknown("rolls"),) if seen.rolls is None or failed is not None else ()


def _annotation_holds(case: PoolCase) -> tuple[Hold, ...]:
    """An annotation of ours that cannot be read may be the only record of an opening."""
    standing = from_text(case.facts.pool.roll_annotation)
    if not isinstance(standing, Unreadable):
        return ()
    return (
        Hold(
            code=ReasonCode.UNKNOWN,
            message=f"What driftgate wrote on this NodePool cannot be read: {standing.problem}",
            objects=(f"nodepool/{case.facts.pool.name}",),
            remedy=f"Look at its budgets; then remove the annotation {ROLL_ANNOTATION}.",
        ),
    )


def _image_holds(case: PoolCase) -> tuple[Hold, ...]:
    """What the image rules say of the images that the next node, and the others, would roll onto."""
    facts, first = case.facts, next_candidate(case.facts.candidates)
    unclear = [member for member in facts.images.unclear if first is not None and member is first.member]
    said = ledger_unknown("image verdicts") if case.cluster.observation.image_verdicts is None else None
    return (
        *image_blind_spots(facts, unclear),
        *((said,) if said is not None else ()),
        *image_holds(facts.images, rules_of(case)),
    )


def _count(case: PoolCase) -> OpeningCount:
    key = case.moment.key
    standing = from_text(case.facts.pool.roll_annotation)
    same = isinstance(standing, LiveRoll | Tombstone) and standing.window_key == key
    annotated = standing.count if same and isinstance(standing, LiveRoll | Tombstone) else 0
    if not key:
        return OpeningCount()
    return count_openings(key, case.rolls, case.cluster.observation.counters or (), annotated)


def _obstacles(case: PoolCase) -> tuple[Obstacle, ...]:
    """What the list itself forbids; where it forbids nothing, a scheduled zero that is active before the guard."""
    facts = case.facts
    budgets, guard_at = facts.pool.budgets, first_guard(facts.now)
    return why_not_openable(budgets, total=facts.total) or native_blackout(
        budgets, opened_list(budgets, guard_at), facts.now, guard_at, facts.total
    )


def _earliest_end(case: PoolCase) -> tuple[datetime, str] | None:
    """When an opening that starts now would have to be over, but for its timeout, and why."""
    facts = case.facts
    ends = ends_of_permission(facts.now, case.cluster.observation, case.policy, case.request)
    zero = next_native_zero(facts.pool.budgets, facts.total, facts.now)
    own = () if zero is None else ((zero, "a scheduled entry of the NodePool shuts Drifted"),)
    return min((*ends, *own), default=None)


def _fit_holds(case: PoolCase) -> tuple[Hold, ...]:
    end = _earliest_end(case)
    if end is None or case.request is not None or case.moment.window is None:
        return ()
    if case.facts.now + case.policy.open.expected_roll <= end[0]:
        return ()
    minutes = int(case.policy.open.expected_roll.total_seconds() // 60)
    return (
        Hold(
            code=ReasonCode.WILL_NOT_FIT,
            message=f"A roll takes about {minutes} min, and {end[1]} at {rfc3339(end[0])}.",
            remedy="The next window lifts this; a longer one, or a smaller open.expected_roll, if this is too careful.",
        ),
    )


def _no_minute() -> Hold:
    return Hold(
        code=ReasonCode.WILL_NOT_FIT,
        message="No full minute at least 30 s ahead lies before the gate would have to be shut again.",
        remedy="The next window lifts this.",
    )


def _planned(case: PoolCase) -> Roll:
    """The roll that an opening now would start, before its guard is known."""
    facts, now = case.facts, case.facts.now
    standing = from_text(facts.pool.roll_annotation)
    after = standing.id if isinstance(standing, LiveRoll | Tombstone) else ""
    identity = roll_id(facts.pool.name, now, after)
    first = next_candidate(facts.candidates)
    group = None if first is None else facts.images.group_of(first.member.claim.name)
    end = _earliest_end(case)
    return Roll(
        id=identity,
        cluster=case.name,
        pool=facts.pool.name,
        state=RollState.PLANNED,
        state_since=now,
        window_key=f"{NOW_KEY}{identity}" if case.request is not None else case.moment.key,
        baseline=facts.pool.budgets,
        opened=(),
        revert_by=revert_by(now, case.policy.open.open_timeout, (None if end is None else end[0],)),
        image="" if group is None else group.right.id,
        trigger="" if case.request is None else f"{case.request.person}: {case.request.reason}",
        count=_count(case).taken + 1,
    )


def _of_obstacle(case: PoolCase, obstacle: Obstacle) -> Hold:
    pool = f"nodepool/{case.facts.pool.name}"
    shown = f" (entry {', '.join(str(index) for index in obstacle.entries)})" if obstacle.entries else ""
    schedules = tuple(part.entry for part in parts_of(case.facts.pool.budgets))
    opens = next_opening(schedules, case.facts.total, case.facts.now, DRIFTED)
    until = opens if obstacle.code is ReasonCode.NATIVE_BLACKOUT else None
    return Hold(code=obstacle.code, message=obstacle.message + shown, objects=(pool,), until=until)
