"""What one pool is, worked out once from the observation: everything that verdict and holds ask about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from driftgate.domain.allowance import allowed_by_reason, binding, problems
from driftgate.domain.budget import DisruptionReason
from driftgate.domain.candidates import Candidate, candidates, facts_for
from driftgate.domain.image_age import ImageCatalog
from driftgate.domain.images import ImageFacts, PoolImages, pool_images
from driftgate.domain.members import Member, consuming, drifted, members_by_pool, total
from driftgate.domain.nodepool import NodeClassSnapshot, NodePoolSnapshot
from driftgate.domain.observation import Observation, ReadError
from driftgate.domain.resolutions import became_right

NEEDED = ("nodepools", "nodeclasses", "ec2nodeclasses", "nodeclaims", "nodes")
"""What a verdict cannot do without. Anything else unread holds an opening back, but does not blind us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """What pools of one cluster share."""

    observation: Observation
    members: Mapping[str, tuple[Member, ...]]
    catalog: ImageCatalog
    unread: tuple[ReadError, ...]

    @classmethod
    def of(cls, observation: Observation) -> ClusterFacts:
        return cls(
            observation=observation,
            members=members_by_pool(observation.nodeclaims, observation.nodes),
            catalog=ImageCatalog.build(observation.images, observation.node_classes),
            unread=tuple(error for error in observation.errors if error.resource in NEEDED),
        )

    def node_class_of(self, pool: NodePoolSnapshot) -> NodeClassSnapshot | None:
        """The node class that the NodePool names; None where there is none of that kind and name."""
        ref = pool.node_class
        if ref is None:
            return None
        wanted = (ref.group, ref.kind, ref.name)
        found = (nc for nc in self.observation.node_classes if (nc.group, nc.kind, nc.name) == wanted)
        return next(found, None)

    def image_facts(self, node_class: NodeClassSnapshot | None) -> ImageFacts:
        """What the images of this node class are judged by, our own mirror's history among it."""
        seen = self.observation.parameters or ()
        history = {} if node_class is None else became_right(node_class, seen)
        return ImageFacts(node_class=node_class, catalog=self.catalog, now=self.observation.at, became_right=history)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFacts:
    """One pool. `limits` are what Karpenter allows by reason now, None for no limit."""

    pool: NodePoolSnapshot
    now: datetime
    members: tuple[Member, ...]
    drifted: tuple[Member, ...]
    total: int
    consuming: int
    limits: Mapping[DisruptionReason, int | None]
    binding: tuple[int, ...]
    node_class: NodeClassSnapshot | None
    images: PoolImages
    candidates: tuple[Candidate, ...]
    is_invalid: bool

    @classmethod
    def of(cls, pool: NodePoolSnapshot, cluster: ClusterFacts, expires_by: datetime | None = None) -> PoolFacts:
        """The pool at the observation's moment; nodes that expire until `expires_by` are noted."""
        now = cluster.observation.at
        members = cluster.members.get(pool.name, ())
        node_class = cluster.node_class_of(pool)
        count = total(members)
        facts = facts_for(cluster.observation, members, expires_by)
        return cls(
            pool=pool,
            now=now,
            members=members,
            drifted=drifted(members),
            total=count,
            consuming=consuming(members),
            limits=allowed_by_reason(pool.budgets, count, now),
            binding=binding(pool.budgets, count, now, DisruptionReason.DRIFTED),
            node_class=node_class,
            images=pool_images(members, cluster.image_facts(node_class)),
            candidates=candidates(members, facts),
            is_invalid=bool(problems(pool.budgets)),
        )

    @property
    def allowed(self) -> int | None:
        """Karpenter's limit for Drifted now, before what is used up."""
        return self.limits[DisruptionReason.DRIFTED]

    @property
    def waits(self) -> bool:
        """Whether any node lags, should go back, or is drifted for whatever reason."""
        return bool(self.drifted or self.images.lagging or self.images.rollback)

    @property
    def since(self) -> datetime | None:
        """Since when the pool has had a drifted node that is still there."""
        times = (member.drifted_since for member in self.drifted)
        return min((at for at in times if at is not None), default=None)

    def effective(self) -> dict[DisruptionReason, int | None]:
        """What is left of the limits after sick and leaving nodes."""
        return {
            reason: None if limit is None else max(limit - self.consuming, 0) for reason, limit in self.limits.items()
        }
