"""May the image that a pool would roll onto be rolled out: age, denial, suspicion; and what to tell about images.

Which image is right is decided in `images`; here is only what the owner, people and earlier rolls say of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from driftgate.domain.candidates import Candidate
from driftgate.domain.duration import format_duration
from driftgate.domain.image_age import ImageCatalog
from driftgate.domain.images import IMAGE_DRIFT, ImageGroup, PoolImages
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.ledger import Approval, ImageVerdict
from driftgate.domain.plan import Alert, Hold
from driftgate.domain.policy import ImagePolicy
from driftgate.domain.reasons import ReasonCode

_STRICTNESS = (Approval.CLEARED, Approval.APPROVED, Approval.SUSPECT, Approval.DENIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRules:
    """What one pool's images are measured by. `verdicts` None means that the ledger was not read."""

    pool: str
    policy: ImagePolicy
    verdicts: tuple[ImageVerdict, ...] | None
    catalog: ImageCatalog
    now: datetime


def image_holds(images: PoolImages, rules: ImageRules) -> tuple[Hold, ...]:
    """Why the images that the pool would roll onto may not be rolled out now, in the order too young, denied, suspect.

    A rollback is not too young: its image was in use before. An image whose age is wanted and not known holds.
    """
    newer = {group.right.id: None for group in images.groups if not group.is_rollback}
    targets = {group.right.id: None for group in images.groups}
    found = [
        *(_too_young(image, rules) for image in newer),
        *(_denied(image, rules) for image in targets),
        *(_suspect(image, rules) for image in targets),
    ]
    return tuple(hold for hold in found if hold is not None)


def image_alerts(images: PoolImages, rules: ImageRules) -> tuple[Alert, ...]:
    """What people should know: nodes that already run an image that is held back, and recalls."""
    return (*_mixed(images, rules), *(_recall(group, rules) for group in images.groups if group.is_rollback))


def first_for_another_reason(candidate: Candidate | None) -> Alert | None:
    """That the next node drifted for another reason than its image, so its roll may say nothing of the image."""
    reason = "" if candidate is None else candidate.member.claim.drift_reason
    if candidate is None or reason in ("", IMAGE_DRIFT):
        return None
    return Alert(
        code=ReasonCode.NON_AMI_FIRST,
        objects=candidate.member.objects,
        message=f"The next node, {candidate.name}, drifted for {reason}: one Drifted budget covers every reason.",
    )


def last_word(image: str, pool: str, verdicts: tuple[ImageVerdict, ...]) -> ImageVerdict | None:
    """The latest verdict that covers the image in this pool; of equal times the strictest."""
    covering = [v for v in verdicts if v.image == image and v.pool in (None, pool)]
    return max(covering, key=_later_then_stricter, default=None)


def _later_then_stricter(verdict: ImageVerdict) -> tuple[bool, float, int]:
    at = verdict.at
    return at is not None, 0.0 if at is None else at.timestamp(), _STRICTNESS.index(verdict.verdict)


def _too_young(image: str, rules: ImageRules) -> Hold | None:
    wanted, created = rules.policy.min_age, rules.catalog.created.get(image)
    if wanted <= timedelta(0):
        return None
    if created is None:
        return Hold(
            code=ReasonCode.UNKNOWN,
            objects=(f"image/{image}",),
            message=f"When {rules.catalog.label(image)} was made is not known, and ami.min_age wants it.",
            remedy="Allow ec2:DescribeImages, or set ami.min_age to 0h.",
        )
    if rules.now - created >= wanted:
        return None
    age = max(rules.now - created, timedelta(0))
    return Hold(
        code=ReasonCode.AMI_TOO_YOUNG,
        objects=(f"image/{image}",),
        message=(
            f"{rules.catalog.label(image)} is {_age(age)} old of the {format_duration(wanted)} that ami.min_age wants; "
            f"it may be rolled out from {rfc3339(created + wanted)} on."
        ),
        until=created + wanted,
    )


def _denied(image: str, rules: ImageRules) -> Hold | None:
    pattern = next((entry for entry in rules.policy.deny if _fits(entry, image, rules.catalog)), None)
    verdict = last_word(image, rules.pool, rules.verdicts or ())
    if pattern is not None:
        said = f'ami.deny has "{pattern}"'
    elif verdict is not None and verdict.verdict is Approval.DENIED:
        said = _said(verdict)
    else:
        return None
    return Hold(
        code=ReasonCode.DENIED,
        objects=(f"image/{image}",),
        message=f"{rules.catalog.label(image)} is denied: {said}.",
    )


def _suspect(image: str, rules: ImageRules) -> Hold | None:
    verdict = last_word(image, rules.pool, rules.verdicts or ())
    if verdict is None or verdict.verdict is not Approval.SUSPECT:
        return None
    return Hold(
        code=ReasonCode.SUSPECT_AMI,
        objects=(f"image/{image}",),
        message=f"{rules.catalog.label(image)} is suspect: {_said(verdict)}.",
    )


def _mixed(images: PoolImages, rules: ImageRules) -> Iterator[Alert]:
    nodes = sum(images.running.values())
    for right in images.rights:
        running = images.running.get(right.id, 0)
        held = _too_young(right.id, rules), _denied(right.id, rules), _suspect(right.id, rules)
        codes = [hold.code for hold in held if hold is not None and hold.code is not ReasonCode.UNKNOWN]
        if running and codes:
            yield Alert(
                code=ReasonCode.MIXED,
                objects=(f"image/{right.id}",),
                message=(
                    f"{running} of {nodes} nodes of {rules.pool} already run {rules.catalog.label(right.id)}, which is "
                    f"held back ({', '.join(codes)}): Karpenter launches new nodes on it whatever the budgets say."
                ),
            )


def _recall(group: ImageGroup, rules: ImageRules) -> Alert:
    label = rules.catalog.label
    return Alert(
        code=ReasonCode.ROLLBACK,
        objects=tuple(f"node/{member.name}" for member in group.members),
        message=(
            f"{len(group.members)} nodes run {label(group.running)}, and the older {label(group.right.id)} is right "
            "for them now: the newer image was recalled, or the node class points back."
        ),
    )


def _fits(pattern: str, image: str, catalog: ImageCatalog) -> bool:
    return pattern == image or fnmatchcase(image, pattern) or fnmatchcase(catalog.name(image), pattern)


def _said(verdict: ImageVerdict) -> str:
    by = f" by {verdict.by}" if verdict.by else ""
    at = f" at {rfc3339(verdict.at)}" if verdict.at is not None else ""
    return f"{verdict.reason or 'no reason given'}{by}{at}"


def _age(age: timedelta) -> str:
    """Hours and minutes: `6h10m`."""
    return format_duration(timedelta(minutes=age // timedelta(minutes=1)))
