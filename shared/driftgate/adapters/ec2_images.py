"""What EC2 knows of images: name, creation, deprecation.

Asked by a filter, not by id: one id that no longer exists would fail the whole question.

Source: aws docs, ami-deprecate: others' deprecated images are left out unless IncludeDeprecated is set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driftgate.adapters.aws_errors import aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.domain.jsonvalue import instant
from driftgate.domain.location import HOME, Location
from driftgate.domain.observation import ImageObservation

# the most values that one filter takes
IDS_PER_CALL = 200


class Ec2Images:
    def __init__(self, aws: AwsSession, region: str | None = None) -> None:
        self._aws = aws
        self._region = region

    def describe(self, ids: Sequence[str], at: Location = HOME) -> tuple[ImageObservation, ...]:
        """Those that exist, in the order of the ids."""
        asked = list(dict.fromkeys(ids))
        found: dict[str, ImageObservation] = {}
        for start in range(0, len(asked), IDS_PER_CALL):
            found |= self._described(asked[start : start + IDS_PER_CALL], at)
        return tuple(found[id_] for id_ in asked if id_ in found)

    def _described(self, ids: Sequence[str], at: Location) -> dict[str, ImageObservation]:
        client = self._aws.client("ec2", region=at.region or self._region, role=at.role or None)
        request: dict[str, Any] = {
            "Filters": [{"Name": "image-id", "Values": list(ids)}],
            "IncludeDeprecated": True,
        }
        found: dict[str, ImageObservation] = {}
        while True:
            with aws_call("ec2:DescribeImages"):
                page = client.describe_images(**request)
            found |= {entry["ImageId"]: _observed(entry) for entry in page["Images"]}
            if not page.get("NextToken"):
                return found
            request["NextToken"] = page["NextToken"]


def _observed(entry: Mapping[str, Any]) -> ImageObservation:
    """Every public image has a time of deprecation, often to come: it is a time, not a verdict."""
    return ImageObservation(
        id=entry["ImageId"],
        name=entry.get("Name", ""),
        created_at=instant(entry.get("CreationDate")),
        deprecated_at=instant(entry.get("DeprecationTime")),
    )
