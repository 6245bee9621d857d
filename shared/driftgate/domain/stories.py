"""What people are told of a roll: one thread per roll, calm, exact, with what happens next."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from driftgate.domain.advance import Advance
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.message import DomainEvent, EventKind
from driftgate.domain.plan import Alert, PoolPlan, Verdict
from driftgate.domain.reasons import REASONS, ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.signs import DRIFT_SIGNS


def of_opening(roll: Roll, plan: PoolPlan, at: datetime) -> DomainEvent:
    """The first message of a thread: what, where, why now, what happens next."""
    behind = max((line.days_behind or 0 for line in plan.images), default=0)
    lag = f", up to {behind} days behind" if behind else ""
    window = f"the window {plan.current_window.name}" if plan.current_window is not None else "a person's --now"
    return _event(
        EventKind.BUDGETS_OPENED,
        roll,
        at,
        title=f"{roll.pool}: the gate opens for one node",
        text=(
            f"{plan.drifted or 0} of {plan.nodes or 0} nodes are drifted{lag}. In {window} the Drifted budget of "
            f"{roll.pool} allows one from now. Next in line: {plan.next_node or 'not known'}"
            f"{f', for the image {roll.image}' if roll.image else ''}."
        ),
        next_steps=(
            "driftgate shuts the gate as soon as Karpenter takes a node.",
            f"At the latest it is shut at {rfc3339(roll.revert_by)}.",
            "If all of driftgate dies, Karpenter itself shuts it within 90 s.",
        ),
    )


def of_step(was: Roll, roll: Roll, step: Advance, at: datetime) -> Iterable[DomainEvent]:
    """The messages of one step: a closing where there was one, and a change of state where people care."""
    if was.closed_at is None and roll.closed_at is not None and was.opened_at is not None:
        yield of_closing(roll, step.reason, at)
    if was.state is not roll.state and (told := _of_state(roll, step.reason, at)) is not None:
        yield told


def of_closing(roll: Roll, reason: ReasonCode, at: datetime) -> DomainEvent:
    """The gate is back."""
    stood = _seconds(roll.opened_at, roll.closed_at)
    if roll.sign_at is not None:
        text = (
            f"Karpenter took {roll.node or roll.claim} ({roll.sign}). The gate stood open for {stood} s "
            f"and was shut {_seconds(roll.sign_at, roll.closed_at)} s after the sign."
        )
        next_steps = ("That node goes on by itself: a budget cannot call it back. driftgate follows it.",)
    else:
        text = f"{REASONS[reason].meaning} The gate stood open for {stood} s; no sign of a taken node was seen."
        next_steps = ("Whether Karpenter took a node all the same is known after the guard's minute.",)
    title = f"{roll.pool}: the gate is shut{_baseline(roll)}"
    return _event(EventKind.BUDGETS_CLOSED, roll, at, title=title, text=text, next_steps=next_steps, code=str(reason))


def of_alert(cluster: str, pool: str, thread: str, alert: Alert, at: datetime) -> DomainEvent:
    """Something a person should know."""
    return DomainEvent(
        kind=EventKind.ALERT,
        at=at,
        cluster=cluster,
        pool=pool,
        thread=thread,
        code=str(alert.code),
        title=f"{pool}: {REASONS[alert.code].meaning}",
        text=alert.message,
        next_steps=(alert.remedy or REASONS[alert.code].lifted_by,),
        facts={"objects": list(alert.objects)},
    )


def of_verdict(cluster: str, plan: PoolPlan, at: datetime) -> DomainEvent | None:
    """What a pool's verdict tells people, once per change; None where there is nothing to tell."""
    if plan.verdict in (Verdict.CLEAN, Verdict.OPEN):
        return None
    behind = max((line.days_behind or 0 for line in plan.images), default=0)
    since = f" since {rfc3339(plan.since)}" if plan.since else ""
    lag = f"{plan.drifted or 0} of {plan.nodes or 0} nodes are drifted{since}, {behind} days behind."
    next_window = (
        f"The next window is {plan.next_window.name} at {rfc3339(plan.next_window.start)}."
        if plan.next_window is not None
        else "No window is configured."
    )
    reasons = tuple(f"{hold.code}: {hold.message}" for hold in plan.action.reasons)
    return DomainEvent(
        kind=EventKind.POOL_TRAPPED if plan.verdict is Verdict.TRAPPED else EventKind.ALERT,
        at=at,
        cluster=cluster,
        pool=plan.name,
        thread=f"{cluster}/{plan.name}",
        code=str(plan.verdict),
        title=f"{plan.name}: {plan.verdict}",
        text=lag if plan.drifted else f"{plan.nodes if plan.nodes is not None else '?'} nodes.",
        next_steps=(*reasons, next_window),
        facts={"plan": plan.to_object()},
    )


THRESHOLDS = (1, 3, 7, 14, 30, 60, 90, 180)
"""Days behind at which a pool that stays trapped is told of again."""


def fingerprint(plan: PoolPlan, at: datetime) -> str:
    """What must change before people are told of the pool's verdict again."""
    behind = max((line.days_behind or 0 for line in plan.images), default=0)
    reached = max((days for days in THRESHOLDS if behind >= days), default=0)
    rights = ",".join(sorted({line.right for line in plan.images}))
    daily = f"{at:%Y-%m-%d}" if plan.verdict is not Verdict.TRAPPED else ""
    return f"{plan.verdict}|{reached}|{rights}|{daily}"


def _of_state(roll: Roll, reason: ReasonCode, at: datetime) -> DomainEvent | None:
    match roll.state:
        case RollState.SETTLING:
            came = f"{roll.replacement} takes its place." if roll.replacement else "No replacement was seen (yet)."
            title = f"{roll.pool}: {roll.node or roll.claim} is gone"
            return _event(EventKind.NODE_GONE, roll, at, title=title, text=came)
        case RollState.BAKING:
            title = f"{roll.pool}: {roll.replacement} is Ready"
            text = f"It is the first node of {roll.image or 'its image'} here and is watched before the next one rolls."
            return _event(EventKind.REPLACEMENT_READY, roll, at, title=title, text=text)
        case RollState.DONE | RollState.CLOSED_UNUSED | RollState.FAILED | RollState.SUSPECT:
            return _event(
                EventKind.ROLL_ENDED,
                roll,
                at,
                title=f"{roll.pool}: the roll ended as {roll.state}",
                text="\n".join((_ending(roll, reason), *_evidence(roll))),
                code=str(reason),
            )
        case _:
            return None


def _ending(roll: Roll, reason: ReasonCode) -> str:
    if roll.state is RollState.CLOSED_UNUSED:
        return "No node was taken. The window's slot is given back."
    node = roll.node or roll.claim or "the node"
    if roll.also_taken:
        node += f" (one of {1 + len(roll.also_taken)} that went: {', '.join(roll.also_taken)} too)"
    if roll.state is not RollState.DONE:
        return f"{REASONS[reason].meaning} Node: {node}."
    stood = _seconds(roll.opened_at, roll.closed_at)
    if roll.sign not in DRIFT_SIGNS:
        return f"{node} left for another reason ({roll.sign}), which proves nothing about the image. Open: {stood} s."
    if not roll.replacement:
        return f"{node} is gone and needed no replacement, so the image is still unproven. Open: {stood} s."
    return f"{node} was replaced by {roll.replacement}. The gate stood open for {stood} s{_baseline(roll)}."


def _evidence(roll: Roll) -> Iterable[str]:
    """What the record says, with its times: for who was asleep, and for who writes the report."""
    if roll.opened_at is None:
        return
    yield f"Opened: {rfc3339(roll.opened_at)}."
    if roll.sign_at is not None:
        yield f"Sign: {roll.sign or 'not known'} at {rfc3339(roll.sign_at)}."
    if roll.closed_at is not None:
        back = "the baseline is back exactly" if roll.baseline_restored else "the budgets are not those found before"
        yield f"Shut: {rfc3339(roll.closed_at)} by {roll.closed_by or 'nobody known'}; {back}."
    if roll.image:
        yield f"Image: {roll.image}."


def _baseline(roll: Roll) -> str:
    return ", the baseline is back" if roll.baseline_restored else ""


def _seconds(start: datetime | None, end: datetime | None) -> str:
    return "?" if start is None or end is None else f"{max(0.0, (end - start).total_seconds()):.1f}"


def _event(
    kind: EventKind,
    roll: Roll,
    at: datetime,
    *,
    title: str,
    text: str,
    next_steps: tuple[str, ...] = (),
    code: str = "",
) -> DomainEvent:
    return DomainEvent(
        kind=kind,
        at=at,
        cluster=roll.cluster,
        pool=roll.pool,
        thread=roll.id,
        title=title,
        text=text,
        next_steps=next_steps,
        code=code,
        facts={"rollId": roll.id, "state": str(roll.state), "node": roll.node, "replacement": roll.replacement},
    )
