"""What was seen of one image parameter: which images it has named, since when, and what people know of it.

This is our own history: Systems Manager tells nothing of a public parameter's earlier values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from driftgate.domain.image_age import ImageCatalog
from driftgate.domain.observation import ImageObservation, ParameterObservation

KEPT = 24
"""Images that are remembered of a parameter: with a release every 8 to 10 days, half a year and more."""

Key = tuple[str, str, str]
"""Region, account ("" for a public parameter, or our own account) and name."""

_IMAGE_ID = re.compile(r"ami-[0-9A-Za-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenImage:
    """An image, as EC2 described it when the parameter named it.

    `since` is when the parameter was changed to it; None where it is not known.
    """

    image: str
    name: str = ""
    created_at: datetime | None = None
    deprecated_at: datetime | None = None
    since: datetime | None = None

    @property
    def is_described(self) -> bool:
        return bool(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenParameter:
    """One parameter of one region; of another account where it is not public and `account` names one.

    `images` are those that it has named, oldest first. `told` is the image that people know of, `trouble` what they
    know to be wrong with the parameter, "" for nothing. `version` counts how often this was stored.
    """

    region: str
    name: str
    account: str = ""
    images: tuple[SeenImage, ...] = ()
    told: str = ""
    trouble: str = ""
    version: int = 0

    @property
    def key(self) -> Key:
        return self.region, self.account, self.name

    @property
    def current(self) -> SeenImage | None:
        """The image that it named last."""
        return self.images[-1] if self.images else None

    @property
    def known(self) -> SeenImage | None:
        """The image that people know of."""
        return next((image for image in reversed(self.images) if image.image == self.told), None)

    @property
    def catalog(self) -> ImageCatalog:
        return ImageCatalog(
            names={image.image: image.name for image in self.images if image.name},
            created={image.image: image.created_at for image in self.images if image.created_at is not None},
        )

    def naming(self, image: SeenImage) -> SeenParameter:
        """With the image as its newest one; the first image of all is nothing to tell people."""
        if self.current is not None and self.current.image == image.image:
            return self
        images = (*self.images, image)[-KEPT:]
        return replace(self, images=images, told=self.told or image.image)

    def described(self, found: Mapping[str, ImageObservation]) -> SeenParameter:
        """With what EC2 says of its images; what was described before stays."""
        return replace(self, images=tuple(_described(image, found.get(image.image)) for image in self.images))


def _described(image: SeenImage, found: ImageObservation | None) -> SeenImage:
    if image.is_described or found is None:
        return image
    return replace(image, name=found.name, created_at=found.created_at, deprecated_at=found.deprecated_at)


def bare_image(parameter: ParameterObservation) -> str | None:
    """The image id that is the parameter's whole value; None where it is anything else, as Karpenter takes it.

    Source: aws/karpenter-provider-aws v1.14.1, pkg/providers/amifamily/ami.go (the value must begin with `ami-`).
    """
    return parameter.value if _IMAGE_ID.fullmatch(parameter.value) else None
