"""What a poll makes of one parameter: the history, the change that people do not know yet, and what is wrong."""

from datetime import timedelta

import pytest

from driftgate.domain.image_watch import Trouble, begun, change_of, looked_at, undescribed
from driftgate.domain.images import Direction
from driftgate.domain.seen_images import KEPT, SeenImage, SeenParameter, bare_image
from tests.factories import NEW_IMAGE, NEW_NAME, NOW, OLD_IMAGE, OLD_NAME, image, parameter

PUBLIC = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
KEY = ("eu-central-1", "", PUBLIC)
EC2 = {NEW_IMAGE: image(), OLD_IMAGE: image(OLD_IMAGE, OLD_NAME, "2026-09-02T10:00:00Z")}


def seen(*ids, told="", name=PUBLIC):
    found = SeenParameter(region="eu-central-1", name=name, told=told)
    for id_ in ids:
        found = found.naming(SeenImage(image=id_))
    return found.described(EC2)


def after(before, value, **fields):
    found, _ = looked_at(before, parameter(before.name, value, **fields), None, NOW)
    return found


class TestFirstSight:
    def test_is_nothing_to_tell(self):
        found = after(begun(KEY, None), NEW_IMAGE)

        assert (found.current and found.current.image, change_of(found)) == (NEW_IMAGE, None)

    def test_where_our_mirror_holds_another_image_is_told(self):
        change = change_of(after(begun(KEY, OLD_IMAGE), NEW_IMAGE))

        assert change is not None
        assert (change.before.image, change.now.image) == (OLD_IMAGE, NEW_IMAGE)

    def test_where_our_mirror_holds_the_same_image_is_not(self):
        assert change_of(after(begun(KEY, NEW_IMAGE), NEW_IMAGE)) is None


class TestHistory:
    def test_says_since_when_by_the_parameters_own_time(self):
        at = NOW - timedelta(hours=3)

        found = after(seen(OLD_IMAGE), NEW_IMAGE, modified_at=at)

        assert [image.since for image in found.images] == [None, at]

    def test_says_since_when_by_the_poll_where_the_parameter_does_not_tell(self):
        assert after(seen(OLD_IMAGE), NEW_IMAGE).images[-1].since == NOW

    def test_does_not_grow_while_nothing_changes(self):
        before = seen(OLD_IMAGE, NEW_IMAGE)

        assert after(before, NEW_IMAGE) == before

    def test_is_bounded(self):
        found = seen(*[f"ami-{number}" for number in range(KEPT + 5)])

        assert [image.image for image in found.images] == [f"ami-{number}" for number in range(5, KEPT + 5)]

    def test_keeps_an_image_that_came_again_twice(self):
        assert [image.image for image in seen("ami-1", "ami-2", "ami-1").images] == ["ami-1", "ami-2", "ami-1"]


class TestChange:
    def test_to_a_newer_image_is_news(self):
        change = change_of(seen(OLD_IMAGE, NEW_IMAGE))

        assert change is not None
        assert (change.direction, change.is_rollback, change.is_news) == (Direction.NEWER, False, True)

    def test_to_an_older_image_is_a_rollback(self):
        change = change_of(seen(NEW_IMAGE, OLD_IMAGE))

        assert change is not None
        assert (change.direction, change.is_rollback, change.is_news) == (Direction.OLDER, True, True)

    def test_between_images_that_nobody_described_has_no_direction(self):
        change = change_of(seen("ami-1", "ami-2"))

        assert change is not None
        assert change.direction is Direction.NOT_KNOWN

    def test_that_people_missed_is_told_from_the_image_they_know(self):
        change = change_of(seen(OLD_IMAGE, "ami-between", NEW_IMAGE, told=OLD_IMAGE))

        assert change is not None
        assert (change.before.name, change.now.name) == (OLD_NAME, NEW_NAME)

    def test_there_and_back_again_is_none(self):
        assert change_of(seen(OLD_IMAGE, NEW_IMAGE, OLD_IMAGE, told=OLD_IMAGE)) is None

    def test_from_an_image_that_fell_out_of_the_history_is_told_all_the_same(self):
        change = change_of(seen(*[f"ami-{number}" for number in range(KEPT + 1)], told="ami-0"))

        assert change is not None
        assert change.before == SeenImage(image="ami-0")

    def test_of_a_frozen_family_is_no_news_unless_it_goes_back(self):
        frozen = "/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id"

        forward = change_of(seen(OLD_IMAGE, NEW_IMAGE, name=frozen))
        back = change_of(seen(NEW_IMAGE, OLD_IMAGE, name=frozen))

        assert forward is not None
        assert back is not None
        assert (forward.is_news, back.is_news) == (False, True)


class TestTrouble:
    def trouble(self, before, value=None, refusal=None):
        found, trouble = looked_at(before, value, refusal, NOW)
        assert found == before
        return trouble

    def test_is_a_parameter_that_is_gone(self):
        assert self.trouble(seen(OLD_IMAGE)) is Trouble.MISSING

    def test_is_an_own_parameter_that_never_was(self):
        assert self.trouble(seen(name="/golden/id")) is Trouble.MISSING

    def test_is_not_a_variant_that_is_not_published(self):
        assert self.trouble(seen()) is None

    def test_is_a_parameter_that_may_not_be_read(self):
        assert self.trouble(seen(OLD_IMAGE), refusal="denied") is Trouble.REFUSED

    @pytest.mark.parametrize("value", ["", '{"image_id": "ami-1"}', "ami-1 ", "AMI-1", "ami-1,ami-2", "i-1"])
    def test_is_a_value_that_is_no_bare_image(self, value):
        assert self.trouble(seen(OLD_IMAGE), parameter(PUBLIC, value)) is Trouble.NO_IMAGE


def test_an_id_of_either_length_is_an_image():
    assert bare_image(parameter("/a", "ami-0abcdef1")) == "ami-0abcdef1"
    assert bare_image(parameter("/a", NEW_IMAGE)) == NEW_IMAGE


def test_ec2_is_asked_only_of_images_that_nobody_described():
    parameters = [seen(OLD_IMAGE, "ami-1"), seen(NEW_IMAGE), seen("ami-1"), seen("ami-2", "ami-3", told="ami-2")]

    assert undescribed(parameters) == ("ami-1", "ami-2", "ami-3")


def test_what_ec2_said_before_stays():
    described = seen(NEW_IMAGE)

    assert described.described({NEW_IMAGE: image(name="other")}) == described
