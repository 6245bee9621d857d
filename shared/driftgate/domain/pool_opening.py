"""Whether a trapped pool opens now, and every reason why not, in the order in which they are shown."""

from __future__ import annotations

from driftgate.domain.budget import DisruptionReason
from driftgate.domain.candidates import next_candidate
from driftgate.domain.holds_alarm import alarm_holds
from driftgate.domain.holds_cluster import foreign_roll_hold, node_holds, roll_holds
from driftgate.domain.holds_time import (
    blackout_holds,
    count_holds,
    earliest_end,
    mode_holds,
    pause_holds,
    stop_holds,
    window_holds,
)
from driftgate.domain.horizon import next_opening
from driftgate.domain.image_rules import image_holds
from driftgate.domain.opening import Obstacle, check_opened, why_not_openable
from driftgate.domain.opening_plan import open_patch, revert_by, roll_id, timed
from driftgate.domain.plan import Action, ActionKind, Hold
from driftgate.domain.pool_case import PoolCase, rules_of
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.roll_annotation import LiveRoll, Tombstone, from_text
from driftgate.domain.roll_counts import OpeningCount, count_openings
from driftgate.domain.roll_steps import NOW_KEY

DRIFTED = DisruptionReason.DRIFTED


def open_or_hold(case: PoolCase) -> Action:
    """OPEN with the exact patch and the roll to write first, or HOLD with all reasons."""
    holds = _holds(case)
    if any(hold.code is ReasonCode.UNKNOWN and hold.objects == ("ledger/rolls",) for hold in holds):
        return Action(kind=ActionKind.HOLD, reasons=holds)
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
    obstacles = why_not_openable(facts.pool.budgets, total=facts.total)
    return (
        *mode_holds(policy),
        *stop_holds(seen, case.name, facts.pool, policy),
        *window_holds(moment, request),
        *blackout_holds(seen, policy, facts.now),
        *_ledger_holds(case),
        *count_holds(_count(case), policy, request),
        *pause_holds(finished, policy, facts.now),
        *(_of_obstacle(case, obstacle) for obstacle in obstacles),
        *image_holds(facts.images, rules_of(case)),
        *alarm_holds(seen, policy.guards, facts.now),
        *foreign_roll_hold(facts, case.known_rolls),
        *roll_holds(facts, case.rolls, policy, case.others),
        *node_holds(facts, seen, policy),
        *_fit_holds(case),
    )


def _ledger_holds(case: PoolCase) -> tuple[Hold, ...]:
    if case.cluster.observation.rolls is not None:
        return ()
    return (
        Hold(
            code=ReasonCode.UNKNOWN,
            message="The ledger's rolls are not known, so nobody can say how often this pool was opened.",
            objects=("ledger/rolls",),
            remedy="Give the observation a list of rolls (an empty one if there are none), or a ledger to read.",
        ),
    )


def _count(case: PoolCase) -> OpeningCount:
    key = case.moment.key
    standing = from_text(case.facts.pool.roll_annotation)
    same = isinstance(standing, LiveRoll | Tombstone) and standing.window_key == key
    annotated = standing.count if same and isinstance(standing, LiveRoll | Tombstone) else 0
    if not key:
        return OpeningCount()
    return count_openings(key, case.rolls, case.cluster.observation.counters or (), annotated)


def _fit_holds(case: PoolCase) -> tuple[Hold, ...]:
    end = earliest_end(case.moment, case.cluster.observation, case.policy)
    if end is None or case.request is not None or case.facts.now + case.policy.open.expected_roll <= end:
        return ()
    minutes = int(case.policy.open.expected_roll.total_seconds() // 60)
    return (
        Hold(
            code=ReasonCode.WILL_NOT_FIT,
            message=f"A roll takes about {minutes} min and would not end before {end:%H:%M}Z.",
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
    identity = roll_id(facts.pool.name, now)
    first = next_candidate(facts.candidates)
    group = None if first is None else facts.images.group_of(first.member.claim.name)
    end = earliest_end(case.moment, case.cluster.observation, case.policy)
    return Roll(
        id=identity,
        cluster=case.name,
        pool=facts.pool.name,
        state=RollState.PLANNED,
        state_since=now,
        window_key=f"{NOW_KEY}{identity}" if case.request is not None else case.moment.key,
        baseline=facts.pool.budgets,
        opened=(),
        revert_by=revert_by(now, case.policy.open.open_timeout, (None if case.request is not None else end,)),
        image="" if group is None else group.right.id,
        trigger="" if case.request is None else f"{case.request.person}: {case.request.reason}",
        count=_count(case).taken + 1,
    )


def _of_obstacle(case: PoolCase, obstacle: Obstacle) -> Hold:
    pool = f"nodepool/{case.facts.pool.name}"
    shown = f" (entry {', '.join(str(index) for index in obstacle.entries)})" if obstacle.entries else ""
    opens = next_opening(case.facts.pool.budgets, case.facts.total, case.facts.now, DRIFTED)
    until = opens if obstacle.code is ReasonCode.NATIVE_BLACKOUT else None
    return Hold(code=obstacle.code, message=obstacle.message + shown, objects=(pool,), until=until)
