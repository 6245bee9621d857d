"""Which of two images is newer: by creation, else by the release in their names.

With `images` and `resolutions`, the only place in the domain that knows how AWS names images.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from driftgate.domain.nodepool import NodeClassSnapshot
from driftgate.domain.observation import ImageObservation

_DATED = re.compile(r"-v(\d{4})(\d{2})(\d{2})$")
_WINDOWS = re.compile(r"-(\d{4})\.(\d{2})\.(\d{2})$")
_VERSIONED = re.compile(r"-v(\d+)\.(\d+)\.(\d+)(?:-[0-9a-f]+)?$")


@dataclass(frozen=True, slots=True)
class ImageCatalog:
    """What is known of images by id: names and creation times from EC2, names from node classes too."""

    names: Mapping[str, str] = field(default_factory=dict)
    created: Mapping[str, datetime] = field(default_factory=dict)

    @classmethod
    def build(
        cls, observed: tuple[ImageObservation, ...] | None, node_classes: tuple[NodeClassSnapshot, ...]
    ) -> ImageCatalog:
        """The catalog; `observed` None means that EC2 was not asked."""
        names = {image.id: image.name for found in node_classes for image in found.images or ()}
        names |= {image.id: image.name for image in observed or () if image.name}
        created = {image.id: image.created_at for image in observed or () if image.created_at is not None}
        return cls(names, created)

    def name(self, image: str) -> str:
        return self.names.get(image, "")

    def label(self, image: str) -> str:
        """The id, with the name where it is known."""
        return f"{image} ({self.names[image]})" if self.names.get(image) else image

    def is_older(self, image: str, than: str) -> bool | None:
        """Whether it was made before the other; None where that cannot be told."""
        left, right = self.created.get(image), self.created.get(than)
        if left is not None and right is not None:
            return left < right
        return _release_is_older(self.name(image), self.name(than))

    def release_distance(self, older: str, newer: str) -> int | None:
        """Days from one release date to the other; negative backwards, None where a name has no date."""
        left, right = release_date(self.name(older)), release_date(self.name(newer))
        return None if left is None or right is None else (right - left) // timedelta(days=1)


def release_date(name: str) -> datetime | None:
    """The date at the end of an image's name (`…-v20260923`, `…-2026.09.15`): the tag's, not the publication's."""
    found = _DATED.search(name) or _WINDOWS.search(name)
    if found is None:
        return None
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
    except ValueError:
        return None


def _release_is_older(name: str, than: str) -> bool | None:
    left, right = release_date(name), release_date(than)
    if left is not None and right is not None:
        return left < right
    first, second = _version(name), _version(than)
    return None if first is None or second is None else first < second


def _version(name: str) -> tuple[int, int, int] | None:
    """The version of a Bottlerocket image's name (`…-v1.64.0-<hash>`)."""
    found = _VERSIONED.search(name)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))
