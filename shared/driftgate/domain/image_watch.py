"""What a poll of image parameters makes of what it read: a new image, an older one again, or something wrong.

What it gives may be done twice: it follows from what was stored before and from what is there now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from driftgate.domain.image_parameters import is_public
from driftgate.domain.image_streams import stream_of_parameter
from driftgate.domain.images import DIRECTIONS, Direction
from driftgate.domain.observation import ParameterObservation
from driftgate.domain.seen_images import Key, SeenImage, SeenParameter, bare_image


class Trouble(StrEnum):
    """Why it is not known which image a parameter names. Values are stored."""

    MISSING = "missing"
    REFUSED = "refused"
    NO_IMAGE = "no image"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageChange:
    """A parameter names another image than the one that people know of."""

    parameter: str
    before: SeenImage
    now: SeenImage
    direction: Direction

    @property
    def is_rollback(self) -> bool:
        return self.direction is Direction.OLDER

    @property
    def is_news(self) -> bool:
        """Whether people should hear of it. A frozen family has no new images, but it may be moved back."""
        found = stream_of_parameter(self.parameter)
        return self.is_rollback or found is None or not found[0].is_frozen


def begun(key: Key, mirror: str | None) -> SeenParameter:
    """A parameter of which no history is stored. What our mirror of it holds was seen and told before."""
    region, account, name = key
    seen = SeenParameter(region=region, account=account, name=name)
    return seen if mirror is None else seen.naming(SeenImage(image=mirror))


def looked_at(
    before: SeenParameter, value: ParameterObservation | None, refusal: str | None, now: datetime
) -> tuple[SeenParameter, Trouble | None]:
    """What is known of the parameter after this reading, and what is wrong with it.

    A public parameter that was never there is nothing wrong: not every variant is published for every release.
    """
    if refusal is not None:
        return before, Trouble.REFUSED
    if value is None:
        is_expected = bool(before.images) or not is_public(before.name)
        return before, Trouble.MISSING if is_expected else None
    image = bare_image(value)
    if image is None:
        return before, Trouble.NO_IMAGE
    return before.naming(SeenImage(image=image, since=value.modified_at or now)), None


def undescribed(parameters: Iterable[SeenParameter]) -> tuple[str, ...]:
    """The ids that EC2 has to be asked of: of images named now, or told last, that nobody described yet."""
    wanted = {
        image.image
        for seen in parameters
        for image in (seen.current, seen.known)
        if image is not None and not image.is_described
    }
    return tuple(sorted(wanted))


def change_of(seen: SeenParameter) -> ImageChange | None:
    """What people do not know yet; None where they know it all."""
    current, known = seen.current, seen.known or SeenImage(image=seen.told)
    if current is None or current.image == known.image:
        return None
    direction = DIRECTIONS[seen.catalog.is_older(current.image, known.image)]
    return ImageChange(parameter=seen.name, before=known, now=current, direction=direction)
