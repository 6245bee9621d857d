"""What people are told of image parameters."""

from dataclasses import replace
from datetime import timedelta

import pytest

from driftgate.domain.image_news import MAX_NAMED, Followers, news_of, of_trouble
from driftgate.domain.image_streams import ImageStream, parameter_of
from driftgate.domain.image_watch import ImageChange, Trouble
from driftgate.domain.images import Direction
from driftgate.domain.location import Location
from driftgate.domain.seen_images import SeenImage, SeenParameter
from tests.factories import NEW_IMAGE, NEW_NAME, NOW, OLD_IMAGE, OLD_NAME, at

STREAM = ImageStream(family="al2023", minor="1.34")
STANDARD, ARM = parameter_of(STREAM), parameter_of(replace(STREAM, arch="arm64"))
OLD = SeenImage(image=OLD_IMAGE, name=OLD_NAME, created_at=at("2026-09-02T10:00:00Z"))
NEW = SeenImage(image=NEW_IMAGE, name=NEW_NAME, created_at=at("2026-09-24T10:00:00Z"))
HERE = Location("eu-central-1")
ROLE = "arn:aws:iam::444455556666:role/driftgate"
DEMO = Followers(at=HERE, parameters={"demo": [STANDARD, ARM]})


def change(parameter=STANDARD, before=OLD, now=NEW, direction=Direction.NEWER):
    return ImageChange(parameter=parameter, before=before, now=now, direction=direction)


def told(*changes, followers=DEMO):
    return list(news_of(changes, followers, NOW))


class TestANewImage:
    def test_is_told_with_both_names_dates_and_who_follows_it(self):
        (event,) = told(change())

        assert event.kind == "ImageChanged"
        assert event.title == "AL2023 for Kubernetes 1.34: a newer node image in eu-central-1"
        assert event.text == (
            f"x86_64 standard: {NEW_NAME} ({NEW_IMAGE}, created 2026-09-24), "
            f"before {OLD_NAME} ({OLD_IMAGE}, created 2026-09-02).\nFollowed by demo."
        )
        assert "up to 24 hours" in event.next_steps[0]

    def test_is_told_to_machines_whole(self):
        (event,) = told(change())

        assert event.facts == {
            "region": "eu-central-1",
            "account": "",
            "parameters": [STANDARD],
            "clusterCount": 1,
            "clusters": ["demo"],
            "images": [
                {
                    "parameter": STANDARD,
                    "before": {"id": OLD_IMAGE, "name": OLD_NAME, "createdAt": "2026-09-02T10:00:00Z"},
                    "now": {"id": NEW_IMAGE, "name": NEW_NAME, "createdAt": "2026-09-24T10:00:00Z"},
                    "direction": "newer",
                }
            ],
        }

    def test_comes_in_one_message_for_a_family(self):
        (event,) = told(change(), change(ARM))

        assert event.text.count("before") == 2
        assert event.facts["parameters"] == [STANDARD, ARM]

    def test_of_another_family_comes_in_another_message(self):
        windows = parameter_of(ImageStream(family="windows2022", minor="1.34", variant="Core"))

        assert [event.title.partition(":")[0] for event in told(change(), change(windows))] == [
            "AL2023 for Kubernetes 1.34",
            "Windows Server 2022 for Kubernetes 1.34",
        ]

    def test_whose_order_nobody_knows_is_called_another(self):
        (event,) = told(change(direction=Direction.NOT_KNOWN))

        assert "another node image" in event.title

    def test_that_nobody_described_is_told_by_its_id(self):
        (event,) = told(change(before=SeenImage(image="ami-1"), now=SeenImage(image="ami-2")))

        assert event.text.startswith("x86_64 standard: ami-2, before ami-1.")

    def test_is_called_deprecated_only_when_its_time_has_come(self):
        past, future = (replace(NEW, deprecated_at=NOW + timedelta(days=days)) for days in (-1, 700))

        assert "deprecated since 2026-10-16" in told(change(now=past))[0].text
        assert "deprecated" not in told(change(now=future))[0].text

    def test_says_where_a_version_is_pinned(self):
        pinned = parameter_of(STREAM, "v20260901")
        followers = Followers(at=HERE, parameters={"demo": [STANDARD], "prod": [STANDARD, pinned]})

        (event,) = told(change(), followers=followers)

        assert "A version is pinned in prod (v20260901): nothing changes there" in event.next_steps[-1]
        assert "demo (" not in event.next_steps[-1]

    def test_of_ones_own_parameter_is_called_by_its_name_and_comes_sooner(self):
        followers = Followers(at=Location("eu-central-1", ROLE), parameters={"demo": ["/golden/id"]})

        (event,) = told(change("/golden/id"), followers=followers)

        assert event.title == "/golden/id: a newer node image in eu-central-1"
        assert "up to 5 minutes" in event.next_steps[0]
        assert event.facts["account"] == "444455556666"

    def test_names_few_clusters_to_people_and_many_to_machines(self):
        followers = Followers(at=HERE, parameters={f"c{number:04}": [STANDARD] for number in range(1000)})

        (event,) = told(change(), followers=followers)

        assert event.text.endswith("Followed by c0000, c0001, c0002 and 997 more.")
        assert event.facts["clusterCount"] == 1000
        assert event.facts["clusters"] == [f"c{number:04}" for number in range(MAX_NAMED)]


def test_a_move_back_is_an_alert_that_says_how_to_wait():
    (event,) = told(change(before=NEW, now=OLD, direction=Direction.OLDER))

    assert (event.kind, event.code) == ("Alert", "ROLLBACK")
    assert event.title == "AL2023 for Kubernetes 1.34: the node image was moved back in eu-central-1"
    assert f"{OLD_NAME} ({OLD_IMAGE}, created 2026-09-02), before {NEW_NAME}" in event.text
    assert "driftgate pause --fleet" in event.next_steps[-1]


def test_new_and_recalled_images_of_one_family_are_told_apart():
    events = told(change(), change(ARM, before=NEW, now=OLD, direction=Direction.OLDER))

    assert [event.kind for event in events] == ["ImageChanged", "Alert"]


@pytest.mark.parametrize(
    ("trouble", "text", "remedy"),
    [
        (Trouble.MISSING, "There is no such parameter.", "was deleted"),
        (Trouble.REFUSED, "It could not be read. said AWS", "name it in watch_parameters and deploy"),
        (Trouble.NO_IMAGE, "Its value is not the id of an image alone", "/image_id"),
    ],
)
def test_trouble_is_told_as_unknown_with_its_place_and_what_to_do(trouble, text, remedy):
    seen = SeenParameter(region="eu-central-1", name=STANDARD, images=(NEW,), told=NEW_IMAGE)

    event = of_trouble(seen, trouble, "said AWS" if trouble is Trouble.REFUSED else "", DEMO, NOW)

    assert (event.kind, event.code) == ("Alert", "UNKNOWN")
    assert event.title == f"Image not known in eu-central-1: {STANDARD}"
    assert event.text.startswith(text)
    assert f"It named {NEW_NAME} ({NEW_IMAGE}, created 2026-09-24) last. Followed by demo." in event.text
    assert remedy in event.next_steps[0]
    assert event.facts["clusters"] == ["demo"]
