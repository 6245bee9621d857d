"""What every source of images tells; then how EC2 is asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse, HTTPHeaders

from driftgate.adapters.ec2_images import Ec2Images
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError
from driftgate.domain.location import Location
from driftgate.domain.observation import ImageObservation
from tests.factories import NEW_IMAGE, NEW_NAME, OLD_IMAGE, OLD_NAME
from tests.fakes.aws_faults import AwsFaults, refusal, timeout
from tests.fakes.ledgers import moto_session
from tests.fakes.pipeline import FakeImages

CREATED = datetime(2026, 9, 24, 10, 0, tzinfo=UTC)
NEW = ImageObservation(id=NEW_IMAGE, name=NEW_NAME, created_at=CREATED, deprecated_at=CREATED.replace(year=2028))
OLD = ImageObservation(id=OLD_IMAGE, name=OLD_NAME, created_at=CREATED.replace(month=8))


class ImagesApi:
    """EC2 with these images; a deprecated one is hidden unless asked for. One image per page."""

    def __init__(self, client: Any, images: list[dict[str, Any]]) -> None:
        self.asked: list[dict[str, Any]] = []
        self._images = images
        client.meta.events.register("before-parameter-build.ec2.DescribeImages", self._ask)
        client.meta.events.register_first("before-call.ec2.DescribeImages", self._answer)

    def _ask(self, params: dict[str, Any], **_: object) -> None:
        self.asked.append(dict(params))

    def _answer(self, **_: object) -> tuple[AWSResponse, dict[str, Any]]:
        asked = self.asked[-1]
        (wanted,) = asked["Filters"]
        found = [image for image in self._images if image["ImageId"] in wanted["Values"]]
        found = [image for image in found if "DeprecationTime" not in image or asked.get("IncludeDeprecated")]
        start = int(asked.get("NextToken", 0))
        answer: dict[str, Any] = {"Images": found[start : start + 1]}
        if start + 1 < len(found):
            answer["NextToken"] = str(start + 1)
        return AWSResponse("", 200, HTTPHeaders(), None), answer


@pytest.fixture
def aws():
    with moto_session() as session:
        yield session


@pytest.fixture
def api(aws):
    new = {"ImageId": NEW_IMAGE, "Name": NEW_NAME, "CreationDate": "2026-09-24T10:00:00.000Z"}
    old = {"ImageId": OLD_IMAGE, "Name": OLD_NAME, "CreationDate": "2026-08-24T10:00:00.000Z"}
    return ImagesApi(aws.client("ec2"), [new | {"DeprecationTime": "2028-09-24T10:00:00.000Z"}, old])


@pytest.fixture(params=["fake", "ec2"])
def images(request):
    if request.param == "fake":
        return FakeImages(NEW, OLD)
    request.getfixturevalue("api")
    return Ec2Images(request.getfixturevalue("aws"))


def test_image_is_told_with_name_creation_and_deprecation(images):
    assert images.describe([NEW_IMAGE]) == (NEW,)


def test_image_that_no_longer_exists_is_left_out_and_spoils_nothing(images):
    assert images.describe(["ami-0dead000000000000", OLD_IMAGE]) == (OLD,)


def test_no_ids_are_no_images(images):
    assert images.describe([]) == ()


def test_images_come_in_the_order_of_their_ids_whatever_the_pages(aws, api):
    assert Ec2Images(aws).describe([OLD_IMAGE, NEW_IMAGE, OLD_IMAGE]) == (OLD, NEW)


def test_ids_are_asked_for_by_as_many_as_a_filter_takes(aws, api):
    Ec2Images(aws).describe([f"ami-{number:017x}" for number in range(201)])

    assert [len(asked["Filters"][0]["Values"]) for asked in api.asked] == [200, 1]


def test_image_is_found_by_a_real_filter(aws):
    """moto evaluates the filter as EC2 does."""
    known = aws.client("ec2").describe_images(Filters=[{"Name": "name", "Values": ["amazon-eks-node-linux"]}])
    id_ = known["Images"][0]["ImageId"]

    assert [(image.id, image.name) for image in Ec2Images(aws).describe([id_, OLD_IMAGE])] == [
        (id_, "amazon-eks-node-linux")
    ]


def test_another_region_is_asked_there_and_a_role_is_taken(aws):
    role = "arn:aws:iam::444455556666:role/driftgate"
    theirs = aws.client("ec2", region="us-east-1", role=role).register_image(Name="golden", Architecture="x86_64")
    images = Ec2Images(aws)

    found = images.describe([theirs["ImageId"]], Location("us-east-1", role))

    assert [image.name for image in found] == ["golden"]
    assert images.describe([theirs["ImageId"]]) == ()


def test_denied_call_names_the_action(aws):
    AwsFaults(aws.client("ec2"), before=[refusal("UnauthorizedOperation", 403)])

    with pytest.raises(AwsForbiddenError, match="Allow ec2:DescribeImages"):
        Ec2Images(aws).describe([OLD_IMAGE])


@pytest.mark.parametrize("fault", [refusal("RequestLimitExceeded"), timeout()])
def test_call_that_fails_after_retries_is_unavailable(aws, fault):
    AwsFaults(aws.client("ec2"), after=[fault])

    with pytest.raises(AwsUnavailableError, match="ec2:DescribeImages"):
        Ec2Images(aws).describe([OLD_IMAGE])
