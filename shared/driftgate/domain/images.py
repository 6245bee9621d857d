"""Which image is right for a node, and how the nodes of a pool stand to it.

The right image is the first entry of the node class's `status.amis` whose requirements fit the node.
Source: aws/karpenter-provider-aws v1.14.1, pkg/cloudprovider/drift.go (isAMIDrifted), pkg/providers/amifamily/ami.go
(MapToInstanceTypes).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from driftgate.domain.image_age import ImageCatalog
from driftgate.domain.image_streams import stream_of_image
from driftgate.domain.members import Member
from driftgate.domain.nodepool import NodeClassRef, NodeClassSnapshot, ResolvedImage
from driftgate.domain.plan import ImageLine
from driftgate.domain.selectors import all_match

IMAGE_DRIFT = "AMIDrift"
AWS_GROUP = "karpenter.k8s.aws"


class Direction(StrEnum):
    """Where the right image lies, seen from the node's."""

    NEWER = "newer"
    OLDER = "older"
    NOT_KNOWN = "not known"


DIRECTIONS = {None: Direction.NOT_KNOWN, True: Direction.OLDER, False: Direction.NEWER}
"""By whether the right image is older than the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageGroup:
    """Nodes that run one image while another is right for them.

    `days_behind` is None for a rollback, and where nothing tells since when.
    """

    running: str
    right: ResolvedImage
    members: tuple[Member, ...]
    direction: Direction
    days_behind: int | None = None
    release_distance_days: int | None = None

    @property
    def is_rollback(self) -> bool:
        return self.direction is Direction.OLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolImages:
    """How a pool's nodes stand to their right images.

    `groups` holds those that run another one. `running` counts nodes by image. `unclear` are nodes for which no
    right image could be told. `is_known` is False where the node class has no image list to ask.
    """

    groups: tuple[ImageGroup, ...] = ()
    rights: tuple[ResolvedImage, ...] = ()
    running: Mapping[str, int] = field(default_factory=dict)
    unclear: tuple[Member, ...] = ()
    is_known: bool = True

    @property
    def lagging(self) -> int:
        """Nodes whose right image is not older than theirs."""
        return sum(len(group.members) for group in self.groups if not group.is_rollback)

    @property
    def rollback(self) -> int:
        """Nodes whose right image is older than theirs."""
        return sum(len(group.members) for group in self.groups if group.is_rollback)

    @property
    def lines(self) -> tuple[ImageLine, ...]:
        return tuple(
            ImageLine(
                image=group.running,
                right=group.right.id,
                nodes=tuple(member.name for member in group.members),
                days_behind=group.days_behind,
                release_distance_days=group.release_distance_days,
            )
            for group in self.groups
        )

    def group_of(self, claim: str) -> ImageGroup | None:
        """The group that the NodeClaim of this name is in, None where its image is right or not known."""
        return next((group for group in self.groups if any(m.claim.name == claim for m in group.members)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """What the judgement of images rests on beside the nodes.

    `became_right` is our own history of this node class: since when an image has been the right one.
    """

    node_class: NodeClassSnapshot | None
    catalog: ImageCatalog
    now: datetime
    became_right: Mapping[str, datetime] = field(default_factory=dict)


def why_unresolved(ref: NodeClassRef | None, node_class: NodeClassSnapshot | None) -> str:
    """Why nobody can say which images are right, as a sentence; "" where they are told, or the kind has none.

    Only AWS's node class lists its images; pools of other providers are judged by the Drifted condition alone.
    """
    if ref is None or ref.group != AWS_GROUP:
        return ""
    if node_class is None:
        return f"There is no {ref.kind} {ref.name}, which the NodePool names: nobody can say which image is right."
    ready = node_class.conditions.get("AMIsReady")
    if ready is None or ready.is_true:
        return ""
    why = f" ({ready.reason})" if ready.reason else ""
    return f"{ref.kind} {ref.name} has AMIsReady {ready.status}{why}: nobody can say which image is right."


def pool_images(members: Iterable[Member], facts: ImageFacts) -> PoolImages:
    """Every node with an image, except those on their way out, by the image it runs and the one that is right."""
    present = [member for member in members if member.claim.image_id and not member.is_leaving]
    running = Counter(member.claim.image_id for member in present)
    images = None if facts.node_class is None else facts.node_class.images
    if images is None:
        return PoolImages(running=running, unclear=tuple(present), is_known=False)
    split, unclear = _split(present, image_chooser(images))
    rights = {right: image for image in images for _, right in split if image.id == right}
    groups = [_group(old, rights[right], found, facts) for (old, right), found in split.items() if old != right]
    return PoolImages(
        groups=tuple(sorted(groups, key=_most_behind_first)),
        rights=tuple(rights.values()),
        running=running,
        unclear=tuple(unclear),
    )


def _split(
    members: Iterable[Member], right_image: Callable[[Member], ResolvedImage | None]
) -> tuple[dict[tuple[str, str], list[Member]], list[Member]]:
    """The members by the ids of their image and of the right one, and those without a right one."""
    split: dict[tuple[str, str], list[Member]] = defaultdict(list)
    unclear = []
    for member in members:
        right = right_image(member)
        if right is None:
            unclear.append(member)
        else:
            split[member.claim.image_id, right.id].append(member)
    return split, unclear


def image_chooser(images: tuple[ResolvedImage, ...]) -> Callable[[Member], ResolvedImage | None]:
    """A function that gives a node's right image, None where no entry fits.

    Nodes that agree on the labels in question are asked once: thousands of nodes come in a handful of kinds.
    """
    keys = tuple({requirement.key: None for image in images for requirement in image.requirements})
    answers: dict[tuple[str | None, ...], ResolvedImage | None] = {}

    def right_image(member: Member) -> ResolvedImage | None:
        signature = tuple(_label(member, key) for key in keys)
        if signature not in answers:
            labels = {key: label for key, label in zip(keys, signature, strict=True) if label is not None}
            answers[signature] = next((image for image in images if all_match(image.requirements, labels)), None)
        return answers[signature]

    return right_image


def _label(member: Member, key: str) -> str | None:
    """The NodeClaim's label, else the Node's: the claim's are what Karpenter launched it with."""
    found = member.claim.labels.get(key)
    return member.node.labels.get(key) if found is None and member.node is not None else found


def _group(running: str, right: ResolvedImage, members: list[Member], facts: ImageFacts) -> ImageGroup:
    older = facts.catalog.is_older(right.id, running)
    since = None if older else _behind_since(running, right, members, facts)
    return ImageGroup(
        running=running,
        right=right,
        members=tuple(sorted(members, key=lambda member: member.name)),
        direction=DIRECTIONS[older],
        days_behind=None if since is None else max((facts.now - since) // timedelta(days=1), 0),
        release_distance_days=facts.catalog.release_distance(running, right.id),
    )


def _behind_since(running: str, right: ResolvedImage, members: list[Member], facts: ImageFacts) -> datetime | None:
    """Since when a newer image than theirs has been right for them, by the best that is known.

    Our own history tells it where it reaches back to their image; where it does not, an image that came before it may
    have been the first, so Karpenter's mark counts too if it is older.
    """
    history = facts.became_right if _is_one_stream(running, right, facts.catalog) else {}
    newer = [at for image, at in history.items() if image == right.id or facts.catalog.is_older(running, image)]
    reaches_back = any(image == running or facts.catalog.is_older(image, running) for image in history)
    marks = [m.drifted_since for m in members if m.claim.drift_reason == IMAGE_DRIFT and m.drifted_since is not None]
    known = newer if newer and reaches_back else [*newer, *marks]
    return min(known, default=None) or facts.catalog.created.get(right.id)


def _is_one_stream(running: str, right: ResolvedImage, catalog: ImageCatalog) -> bool:
    """Whether both follow each other in one stream, as far as names tell: after an upgrade of Kubernetes they do not,
    and the new stream was not right for these nodes before."""
    left, then = stream_of_image(catalog.name(running)), stream_of_image(right.name)
    return left is None or then is None or left == then


def _most_behind_first(group: ImageGroup) -> tuple[int, str, str]:
    return -(group.days_behind or 0), group.running, group.right.id
