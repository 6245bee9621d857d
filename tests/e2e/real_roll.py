"""One roll by the deployed handlers, from Karpenter's mark to the replacement, as seen from outside."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from driftgate.domain.roll import Roll
from tests.e2e.harness.api import Object
from tests.e2e.harness.scenario import NODEPOOLS, has_condition, nodeclaims, wait_for
from tests.e2e.real_facts import RollSeen
from tests.e2e.real_world import RealWorld
from tests.e2e.rolls import other_limits
from tests.e2e.sightings import Departure, Opening

BEAT_S = 2.0
ROLL_TIMEOUT_S = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A pool whose nodes Karpenter has marked, before anything is done about it."""

    pool: str
    verdict: str
    alerts: tuple[str, ...]
    marks: tuple[str, ...]
    drifted: int
    baseline: str
    claims: frozenset[str]
    openings: int
    left: int
    rolls: frozenset[str]


def marked(world: RealWorld, pool: str, image: str) -> Marked:
    """The pool, once Karpenter has marked its nodes on other images and no others, and what driftgate makes of it."""
    found = wait_for(lambda: _drifted(world, pool, image), f"Karpenter's mark on what is not {image} in {pool}")
    plan = world.judged(pool)
    return Marked(
        pool=pool,
        verdict=str(plan.verdict),
        alerts=tuple(str(alert.code) for alert in plan.alerts),
        marks=tuple(sorted({_reason(claim) for claim in found})),
        drifted=len(found),
        baseline=_budgets(world, pool),
        claims=frozenset(_images(world, pool)),
        openings=len(world.onlooker.openings(pool)),
        left=len(world.onlooker.left(pool)),
        rolls=frozenset(roll.id for roll in world.rolls(pool)),
    )


def rolled(world: RealWorld, before: Marked, right_image: str) -> RollSeen:
    """What came of it, once driftgate has followed one roll of the pool to its end."""
    ended = _followed(world, before)
    openings = world.onlooker.openings(before.pool)[before.openings :]
    left = world.onlooker.left(before.pool)[before.left :]
    images = _images(world, before.pool)
    return RollSeen(
        pool=before.pool,
        verdict=before.verdict,
        alerts=before.alerts,
        marks=before.marks,
        drifted=before.drifted,
        openings=len(openings),
        left=len(left),
        seconds_to_sign=_to_sign(openings, left),
        seconds_to_shut=_to_shut(openings, left),
        baseline=before.baseline,
        budgets=_budgets(world, before.pool),
        others=frozenset(other_limits(world.onlooker, before.pool, 10)),
        state=str(ended.state),
        node=ended.node,
        right_image=right_image,
        new_images=tuple(sorted(images[claim] for claim in images.keys() - before.claims)),
    )


def _followed(world: RealWorld, before: Marked) -> Roll:
    """The next roll of the pool, once it is finished; a tick every other second, in place of every minute."""
    deadline = time.monotonic() + ROLL_TIMEOUT_S
    while time.monotonic() < deadline:
        world.handlers.beat()
        ended = [r for r in world.rolls(before.pool) if r.id not in before.rolls and r.is_finished]
        if ended:
            return ended[0]
        time.sleep(BEAT_S)
    held = [f"{hold.code}: {hold.message}" for hold in world.judged(before.pool).action.reasons]
    raise TimeoutError(f"no roll of {before.pool} ended in {ROLL_TIMEOUT_S:.0f} s; {'; '.join(held) or 'nothing held'}")


def _drifted(world: RealWorld, pool: str, image: str) -> list[Object] | None:
    claims = nodeclaims(world.admin, pool)
    found = [claim for claim in claims if has_condition(claim, "Drifted")]
    return found if found and found == [claim for claim in claims if claim["status"]["imageID"] != image] else None


def _reason(claim: Object) -> str:
    return next(str(c["reason"]) for c in claim["status"]["conditions"] if c["type"] == "Drifted")


def _images(world: RealWorld, pool: str) -> dict[str, str]:
    """The image of every NodeClaim of the pool, as Karpenter wrote it down at the launch."""
    return {
        claim["metadata"]["name"]: claim.get("status", {}).get("imageID", "") for claim in nodeclaims(world.admin, pool)
    }


def _budgets(world: RealWorld, pool: str) -> str:
    """As the server stores them, to the byte."""
    return json.dumps(world.admin.get(f"{NODEPOOLS}/{pool}")["spec"]["disruption"]["budgets"])


def _to_sign(openings: Sequence[Opening], left: Sequence[Departure]) -> float:
    return (left[0].at - openings[0].at).total_seconds() if openings and left else 0.0


def _to_shut(openings: Sequence[Opening], left: Sequence[Departure]) -> float:
    shut = openings[0].closed_at if openings and left else None
    return 0.0 if shut is None else (shut - left[0].at).total_seconds()
