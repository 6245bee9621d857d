"""What people are told of image parameters: one calm message per family, region and change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from driftgate.domain.image_parameters import is_public, pinned_versions
from driftgate.domain.image_streams import LATEST, stream_of_parameter
from driftgate.domain.image_watch import ImageChange, Trouble
from driftgate.domain.images import Direction
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.ledger import FLEET
from driftgate.domain.location import Location
from driftgate.domain.message import DomainEvent, EventKind
from driftgate.domain.pool_health import listed
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.seen_images import SeenImage, SeenParameter

MAX_NAMED = 100
"""Clusters that are named one by one for machines; people get three and a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followers:
    """Who follows the parameters that are asked for there: their names by cluster."""

    at: Location
    parameters: Mapping[str, Sequence[str]]

    @property
    def place(self) -> str:
        return f"{self.at.region} of account {self.at.account}" if self.at.account else self.at.region

    def of(self, names: Iterable[str]) -> list[str]:
        """The clusters that follow any of these parameters, by name."""
        wanted = set(names)
        return sorted(cluster for cluster, followed in self.parameters.items() if wanted & set(followed))


def news_of(changes: Iterable[ImageChange], followers: Followers, now: datetime) -> Iterator[DomainEvent]:
    """One message for all images of a family that changed in the same direction."""
    groups: dict[tuple[str, Direction], list[ImageChange]] = {}
    for change in changes:
        groups.setdefault((_family(change.parameter), change.direction), []).append(change)
    for (family, direction), group in groups.items():
        tell = _of_rollback if direction is Direction.OLDER else _of_release
        yield tell(family, group, followers, now)


def of_trouble(seen: SeenParameter, trouble: Trouble, why: str, followers: Followers, now: datetime) -> DomainEvent:
    """Nobody can tell from this parameter which image is right. `why` is what AWS said, "" for nothing."""
    last = seen.current
    known = f" It named {_shown(last, now)} last." if last is not None else ""
    return DomainEvent(
        kind=EventKind.ALERT,
        at=now,
        cluster=FLEET,
        code=str(ReasonCode.UNKNOWN),
        thread=f"images/{followers.at.region}/{seen.name}",
        title=f"Image not known in {followers.place}: {seen.name}",
        text=f"{_TROUBLES[trouble]}{f' {why}' if why else ''}{known} {_followed_by(followers, [seen.name])}",
        next_steps=(
            _REMEDIES[trouble],
            "Nothing was lost: what it named before is kept, and Karpenter keeps what it has resolved.",
        ),
        facts=_facts(followers, [seen.name]) | {"trouble": str(trouble)},
    )


_TROUBLES = {
    Trouble.MISSING: "There is no such parameter.",
    Trouble.REFUSED: "It could not be read.",
    Trouble.NO_IMAGE: "Its value is not the id of an image alone (ami-…), so Karpenter passes it over.",
}
_REMEDIES = {
    Trouble.MISSING: "Check the name in the EC2NodeClass, and whether the parameter was deleted or release withdrawn.",
    Trouble.REFUSED: (
        "Correct the name, or let it be read: name it in watch_parameters and deploy; in another account, allow "
        "ssm:GetParameters on it to the cluster's account_role."
    ),
    Trouble.NO_IMAGE: "Name a parameter with a bare id in the EC2NodeClass; of AWS's own, the one ending in /image_id.",
}


def _of_release(family: str, changes: Sequence[ImageChange], followers: Followers, now: datetime) -> DomainEvent:
    names = [change.parameter for change in changes]
    newer = "a newer" if changes[0].direction is Direction.NEWER else "another"
    return DomainEvent(
        kind=EventKind.IMAGE_CHANGED,
        at=now,
        cluster=FLEET,
        thread=f"images/{followers.at.region}/{family}",
        title=f"{family}: {newer} node image in {followers.at.region}",
        text=f"{_lines(changes, now)}\n{_followed_by(followers, names)}",
        next_steps=(_when_it_drifts(names), *_pins(followers, names)),
        facts=_facts(followers, names) | {"images": [_change_to_object(change) for change in changes]},
    )


def _of_rollback(family: str, changes: Sequence[ImageChange], followers: Followers, now: datetime) -> DomainEvent:
    names = [change.parameter for change in changes]
    return DomainEvent(
        kind=EventKind.ALERT,
        at=now,
        cluster=FLEET,
        code=str(ReasonCode.ROLLBACK),
        thread=f"images/{followers.at.region}/{family}",
        title=f"{family}: the node image was moved back in {followers.at.region}",
        text=f"{_lines(changes, now)}\n{_followed_by(followers, names)}",
        next_steps=(
            "The newer image may have been recalled: its release notes say so.",
            f"{_when_it_drifts(names)} Those on the newer image will go back, in windows like any other roll.",
            "To let nothing roll meanwhile: driftgate pause --fleet --reason TEXT.",
        ),
        facts=_facts(followers, names) | {"images": [_change_to_object(change) for change in changes]},
    )


def _family(parameter: str) -> str:
    found = stream_of_parameter(parameter)
    return parameter if found is None else found[0].title


def _lines(changes: Sequence[ImageChange], now: datetime) -> str:
    return "\n".join(
        f"{_kind(change.parameter)}{_shown(change.now, now)}, before {_shown(change.before, now)}."
        for change in changes
    )


def _kind(parameter: str) -> str:
    found = stream_of_parameter(parameter)
    return "" if found is None else f"{found[0].arch} {found[0].variant}: "


def _shown(image: SeenImage, now: datetime) -> str:
    known = [image.image] if image.name else []
    if image.created_at is not None:
        known.append(f"created {image.created_at:%Y-%m-%d}")
    if image.deprecated_at is not None and image.deprecated_at <= now:
        known.append(f"deprecated since {image.deprecated_at:%Y-%m-%d}")
    return (image.name or image.image) + (f" ({', '.join(known)})" if known else "")


def _followed_by(followers: Followers, names: Sequence[str]) -> str:
    clusters = followers.of(names)
    return f"Followed by {listed(clusters)}." if clusters else "No cluster follows it any more."


def _when_it_drifts(names: Sequence[str]) -> str:
    """Source: aws/karpenter-provider-aws v1.14.1, pkg/providers/ssm/types.go (24 hours, 5 minutes for own terms)."""
    patience = "up to 24 hours" if is_public(names[0]) else "up to 5 minutes"
    return f"Karpenter keeps a parameter for {patience}; nodes drift when it has read it again."


def _pins(followers: Followers, names: Sequence[str]) -> tuple[str, ...]:
    """Who follows a release by its version: there, nothing changes by itself."""
    streams = {found[0] for name in names if (found := stream_of_parameter(name)) and found[1] == LATEST}
    pinned = {
        cluster: version
        for cluster, followed in sorted(followers.parameters.items())
        for stream, version in pinned_versions(followed).items()
        if stream in streams
    }
    if not pinned:
        return ()
    shown = listed([f"{cluster} ({version})" for cluster, version in pinned.items()])
    return (f"A version is pinned in {shown}: nothing changes there until the EC2NodeClass names another one.",)


def _facts(followers: Followers, names: Sequence[str]) -> dict[str, object]:
    clusters = followers.of(names)
    return {
        "region": followers.at.region,
        "account": followers.at.account,
        "parameters": list(names),
        "clusterCount": len(clusters),
        "clusters": clusters[:MAX_NAMED],
    }


def _change_to_object(change: ImageChange) -> dict[str, object]:
    return {
        "parameter": change.parameter,
        "before": _image_to_object(change.before),
        "now": _image_to_object(change.now),
        "direction": str(change.direction),
    }


def _image_to_object(image: SeenImage) -> dict[str, object]:
    return {"id": image.image, "name": image.name, "createdAt": rfc3339(image.created_at)}
