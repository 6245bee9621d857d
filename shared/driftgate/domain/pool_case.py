"""Everything that one pool is judged by, and what the ledger and the images say of it."""

from __future__ import annotations

from dataclasses import dataclass

from driftgate.domain.advance import Advance
from driftgate.domain.holds_time import Moment
from driftgate.domain.image_rules import ImageRules
from driftgate.domain.ledger import Approval, ImageVerdict
from driftgate.domain.policy import NowRequest, PoolPolicy
from driftgate.domain.pool_facts import ClusterFacts, PoolFacts
from driftgate.domain.roll import Roll, RollState


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCase:
    """Everything that one pool is judged by. `others` are pools with a roll in flight that the ledger lacks."""

    facts: PoolFacts
    cluster: ClusterFacts
    policy: PoolPolicy
    name: str
    deployment: str
    steps: tuple[tuple[Roll, Advance], ...]
    request: NowRequest | None
    moment: Moment
    others: frozenset[str]

    @property
    def rolls(self) -> tuple[Roll, ...]:
        """The ledger's rolls, each unfinished one as its step leaves it."""
        stepped = {roll.id: step.roll for roll, step in self.steps}
        return tuple(stepped.get(roll.id, roll) for roll in self.cluster.observation.rolls or ())

    @property
    def own_step(self) -> tuple[Roll, Advance] | None:
        return next(((roll, step) for roll, step in self.steps if roll.pool == self.facts.pool.name), None)

    @property
    def known_rolls(self) -> frozenset[str]:
        """The ids that the ledger knows: an annotation with another one is somebody else's."""
        return frozenset(roll.id for roll in self.cluster.observation.rolls or ())


def rules_of(case: PoolCase) -> ImageRules:
    """The pool's image rules: what was said of images, by people and by rolls that failed, this moment's included."""
    verdicts = case.cluster.observation.image_verdicts
    blamed = [
        ImageVerdict(image=r.image, verdict=Approval.SUSPECT, at=r.ended_at, reason=str(r.state), by=r.id)
        for r in case.rolls
        if r.image and r.replacement and r.state in (RollState.FAILED, RollState.SUSPECT)
    ]
    stepping = [
        ImageVerdict(image=step.roll.image, verdict=step.image_verdict, at=case.facts.now, by=step.roll.id)
        for _, step in case.steps
        if step.image_verdict is not None and step.roll.image
    ]
    return ImageRules(
        pool=case.facts.pool.name,
        policy=case.policy.ami,
        verdicts=None if verdicts is None else (*verdicts, *blamed, *stepping),
        catalog=case.cluster.catalog,
        now=case.facts.now,
    )
