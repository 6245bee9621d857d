"""One poll: what is asked where, what is mirrored, told and remembered, and what is left to the next one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from driftgate.app.watch_amis import watch_amis
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError, LedgerUnavailableError
from driftgate.domain.ledger import FLEET
from driftgate.domain.location import Location
from driftgate.ports import PutLook
from tests.factories import NEW_IMAGE, NEW_NAME, NOW, OLD_IMAGE, OLD_NAME, at, cluster_policy, image
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import FakeImages, world

HOME = "eu-central-1"
PATH = "eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
PUBLIC = f"/aws/service/{PATH}"
MIRROR = f"/driftgate/demo/seen/{HOME}/{PATH}"
GOLDEN = "/golden/id"
ROLE = "arn:aws:iam::444455556666:role/driftgate"


class Fleet:
    """Clusters whose looks and policies the test chooses; AWS and the history are fakes."""

    def __init__(self):
        self.clock = FakeClock(NOW)
        self.world = world(FakeCluster(), self.clock, cluster_policy())
        self.world.images = FakeImages(image(), image(OLD_IMAGE, OLD_NAME, "2026-09-02T10:00:00Z"))
        self.policies = {}
        self.parameters, self.publisher, self.history = self.world.parameters, self.world.publisher, self.world.history

    def add(self, *names, cluster="demo", region=HOME, role="", watched=()):
        self.policies[cluster] = replace(
            cluster_policy(), cluster=cluster, location=Location(region, role), parameters=tuple(watched)
        )
        self.world.ledger.commit(cluster, PutLook(self.clock.now(), names))
        return self

    def offer(self, image_id, name=PUBLIC, region=HOME):
        self.parameters.regions.setdefault(region, {})[name] = image_id
        return self

    def withdraw(self, name=PUBLIC, region=HOME):
        del self.parameters.regions[region][name]

    def pipeline(self, holder="poll-1"):
        return replace(
            self.world.pipeline(holder),
            policy=lambda cluster: self.policies[cluster],
            cluster_names=tuple(self.policies),
        )

    def poll(self, holder="poll-1"):
        return watch_amis(self.pipeline(holder), "demo", HOME)

    def seen(self, name=PUBLIC, region=HOME, account=""):
        return self.history.saved[region, account, name]

    def asked(self, region):
        """The names that were asked for in a region, mirrors apart."""
        readings = [names for at, names in self.parameters.asked if at.region == region]
        return [name for names in readings for name in names]

    def titles(self):
        return [event.title for event in self.publisher.told]


@pytest.fixture
def fleet():
    return Fleet()


class TestFirstSight:
    def test_is_mirrored_and_remembered_and_told_to_nobody(self, fleet):
        report = fleet.add(PUBLIC).offer(NEW_IMAGE).poll()

        assert report.changed == {f"{HOME}{PUBLIC}": (None, NEW_IMAGE)}
        assert report.news == 0
        assert fleet.parameters.values[MIRROR] == NEW_IMAGE
        assert fleet.publisher.told == []
        assert [entry.name for entry in fleet.seen().images] == [NEW_NAME]

    def test_again_does_nothing(self, fleet):
        fleet.add(PUBLIC).offer(NEW_IMAGE).poll()
        written, stored = list(fleet.parameters.written), fleet.seen()
        fleet.world.images.asked.clear()

        report = fleet.poll()

        assert (report.changed, fleet.parameters.written, fleet.seen()) == ({}, written, stored)
        assert fleet.world.images.asked == []

    def test_after_the_history_was_lost_still_tells_what_the_mirror_did_not_know(self, fleet):
        fleet.parameters.values[MIRROR] = OLD_IMAGE

        fleet.add(PUBLIC).offer(NEW_IMAGE).poll()

        assert fleet.titles() == ["AL2023 for Kubernetes 1.34: a newer node image in eu-central-1"]


class TestANewImage:
    def test_is_mirrored_and_told_once(self, fleet):
        fleet.add(PUBLIC).offer(OLD_IMAGE).poll()

        report = fleet.offer(NEW_IMAGE).poll()
        fleet.poll()

        assert report.changed == {f"{HOME}{PUBLIC}": (OLD_IMAGE, NEW_IMAGE)}
        assert report.news == 1
        assert fleet.parameters.written == [MIRROR, MIRROR]
        assert fleet.titles() == ["AL2023 for Kubernetes 1.34: a newer node image in eu-central-1"]

    def test_has_the_time_at_which_aws_changed_the_parameter(self, fleet):
        fleet.add(PUBLIC).offer(OLD_IMAGE).poll()
        fleet.parameters.modified_at[PUBLIC] = at("2026-10-16T20:00:00Z")

        fleet.offer(NEW_IMAGE).poll()

        assert fleet.seen().images[-1].since == at("2026-10-16T20:00:00Z")

    def test_that_is_older_than_the_last_is_an_alert(self, fleet):
        fleet.add(PUBLIC).offer(NEW_IMAGE).poll()

        fleet.offer(OLD_IMAGE).poll()
        fleet.poll()

        assert [event.code for event in fleet.publisher.told] == ["ROLLBACK"]
        assert fleet.parameters.values[MIRROR] == OLD_IMAGE

    def test_of_a_frozen_family_is_mirrored_and_told_to_nobody(self, fleet):
        frozen = "/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id"
        fleet.add(frozen).offer(OLD_IMAGE, frozen).poll()

        report = fleet.offer(NEW_IMAGE, frozen).poll()

        assert report.news == 1
        assert fleet.publisher.told == []

    def test_that_could_not_be_told_is_told_by_the_next_poll(self, fleet):
        fleet.add(PUBLIC).offer(OLD_IMAGE).poll()
        fleet.publisher.failure = AwsUnavailableError("the topic is down")

        report = fleet.offer(NEW_IMAGE).poll()
        fleet.publisher.failure = None
        fleet.poll()
        fleet.poll()

        assert report.problems == ["ImageChanged: the topic is down"]
        assert fleet.parameters.values[MIRROR] == NEW_IMAGE
        assert len(fleet.publisher.told) == 1

    def test_waits_for_ec2_to_say_what_it_is(self, fleet):
        fleet.add(PUBLIC).offer(OLD_IMAGE).poll()
        fleet.world.images.failure = AwsUnavailableError("ec2 is busy")

        report = fleet.offer(NEW_IMAGE).poll()
        told_then = list(fleet.publisher.told)
        fleet.world.images.failure = None
        fleet.poll()

        assert [str(failure) for failure in report.failures] == ["ec2 is busy"]
        assert told_then == []
        assert NEW_NAME in fleet.publisher.told[0].text

    @pytest.mark.parametrize("failure", [AwsForbiddenError("Allow ec2:DescribeImages", action="x"), None])
    def test_that_ec2_will_never_describe_is_told_by_its_id(self, fleet, failure):
        fleet.add(PUBLIC).offer("ami-1").poll()
        fleet.world.images.failure = failure

        fleet.offer("ami-2").poll()

        assert "ami-2, before ami-1" in fleet.publisher.told[0].text


class TestWhatIsAsked:
    def test_a_thousand_clusters_with_the_same_names_ask_each_name_once_per_region(self, fleet):
        for number in range(1000):
            fleet.add(PUBLIC, cluster=f"c{number}", region=("us-east-1", "eu-west-1")[number % 2])
        fleet.offer(NEW_IMAGE, region="us-east-1").offer(NEW_IMAGE, region="eu-west-1")

        report = fleet.poll()

        assert (fleet.asked("us-east-1"), fleet.asked("eu-west-1")) == ([PUBLIC], [PUBLIC])
        assert report.polled == 2

    def test_a_cluster_without_a_region_is_in_that_of_the_deployment(self, fleet):
        fleet.add(PUBLIC, region="").offer(NEW_IMAGE).poll()

        assert fleet.asked(HOME) == [PUBLIC]

    def test_names_come_from_the_settings_too(self, fleet):
        arn = f"arn:aws:ssm:{HOME}::parameter{PUBLIC}"
        fleet.add(watched=[arn, GOLDEN]).offer(NEW_IMAGE).offer(OLD_IMAGE, GOLDEN).poll()

        assert fleet.asked(HOME) == [PUBLIC, GOLDEN]

    def test_an_own_parameter_is_asked_as_the_clusters_role_and_a_public_one_is_not(self, fleet):
        fleet.add(PUBLIC, GOLDEN, role=ROLE).offer(NEW_IMAGE).offer(OLD_IMAGE, GOLDEN).poll()

        asked = [(where.role, names) for where, names in fleet.parameters.asked if where.region]
        assert asked == [("", (PUBLIC,)), (ROLE, (GOLDEN,))]
        assert fleet.parameters.values[f"/driftgate/demo/seen/{HOME}/custom/444455556666/_.golden_.id"] == OLD_IMAGE

    def test_each_region_is_mirrored_at_home_under_its_own_name(self, fleet):
        fleet.add(PUBLIC).add(PUBLIC, cluster="far", region="us-east-1")

        fleet.offer(NEW_IMAGE).offer(OLD_IMAGE, region="us-east-1").poll()

        assert fleet.parameters.values[MIRROR] == NEW_IMAGE
        assert fleet.parameters.values[f"/driftgate/demo/seen/us-east-1/{PATH}"] == OLD_IMAGE

    def test_a_cluster_that_nobody_configured_any_more_is_not_polled(self, fleet):
        fleet.add(PUBLIC).add(GOLDEN, cluster="gone")
        del fleet.policies["gone"]

        assert fleet.poll().polled == 1

    def test_without_any_names_nothing_is_asked(self, fleet):
        assert fleet.add().poll().to_object() == {
            "polled": 0,
            "changed": {},
            "missing": [],
            "refused": [],
            "left": [],
            "problems": [],
            "heldBy": None,
        }
        assert fleet.parameters.asked == []

    def test_mirrors_are_written_as_slowly_as_systems_manager_takes_them(self, fleet):
        names = [f"{PUBLIC}/{number}" for number in range(10)]
        for name in names:
            fleet.offer(NEW_IMAGE, name)

        fleet.add(*names).poll()

        assert len(fleet.parameters.written) == 10
        assert fleet.clock.now() - NOW >= timedelta(seconds=10 / 3)

    def test_what_there_is_no_time_for_is_left_to_the_next_polls(self, fleet):
        names = [f"{PUBLIC}/{number:03}" for number in range(500)]
        for name in names:
            fleet.offer(NEW_IMAGE, name)
        fleet.add(*names)

        reports = [fleet.poll() for _ in range(3)]

        assert [len(report.left) for report in reports] == [300, 100, 0]
        assert len(fleet.parameters.written) == len(set(fleet.parameters.written)) == 500
        assert len(fleet.history.saved) == 500


class TestTrouble:
    def test_a_parameter_that_disappears_is_told_once_and_nothing_is_lost(self, fleet):
        fleet.add(PUBLIC).offer(NEW_IMAGE).poll()
        fleet.withdraw()

        report = fleet.poll()
        fleet.poll()

        assert report.missing == [f"{HOME}{PUBLIC}"]
        assert [event.code for event in fleet.publisher.told] == ["UNKNOWN"]
        assert fleet.parameters.values[MIRROR] == NEW_IMAGE
        assert [entry.image for entry in fleet.seen().images] == [NEW_IMAGE]

    def test_that_is_over_is_told_when_it_comes_again(self, fleet):
        fleet.add(PUBLIC).offer(NEW_IMAGE).poll()
        for _ in range(2):
            fleet.withdraw()
            fleet.poll()
            fleet.offer(NEW_IMAGE).poll()

        assert [event.code for event in fleet.publisher.told] == ["UNKNOWN", "UNKNOWN"]

    def test_that_could_not_be_told_is_told_by_the_next_poll(self, fleet):
        fleet.add(PUBLIC).offer(NEW_IMAGE).poll()
        fleet.withdraw()
        fleet.publisher.failure = AwsUnavailableError("the topic is down")
        fleet.poll()
        fleet.publisher.failure = None

        fleet.poll()

        assert [event.code for event in fleet.publisher.told] == ["UNKNOWN"]

    def test_a_variant_that_was_never_published_is_named_and_told_to_nobody(self, fleet):
        report = fleet.add(PUBLIC).poll()

        assert report.missing == [f"{HOME}{PUBLIC}"]
        assert (fleet.publisher.told, fleet.history.saved) == ([], {})

    def test_a_value_that_is_no_image_is_refused_with_its_place_and_not_shown(self, fleet):
        fleet.add(GOLDEN, cluster="shop").offer("hunter2", GOLDEN)

        report = fleet.poll()

        (event,) = fleet.publisher.told
        assert report.refused == [f"{HOME}/golden/id"]
        assert event.title == "Image not known in eu-central-1: /golden/id"
        assert "Followed by shop." in event.text
        assert "hunter2" not in f"{event}{report}"
        assert fleet.parameters.written == []

    def test_a_parameter_that_may_not_be_read_keeps_no_other_from_its_turn(self, fleet):
        fleet.parameters.refused[GOLDEN] = "denied"

        report = fleet.add(PUBLIC, GOLDEN).offer(NEW_IMAGE).poll()

        assert report.refused == [f"{HOME}/golden/id"]
        assert fleet.parameters.values[MIRROR] == NEW_IMAGE
        assert "It could not be read. denied" in fleet.publisher.told[0].text

    def test_a_region_that_fails_stops_no_other_and_is_a_failure_afterwards(self, fleet):
        fleet.add(PUBLIC, cluster="far", region="us-east-1").add(PUBLIC).offer(NEW_IMAGE)
        fleet.parameters.failures["us-east-1"] = AwsUnavailableError("us-east-1 was throttled")

        report = fleet.poll()

        assert fleet.parameters.values[MIRROR] == NEW_IMAGE
        with pytest.raises(AwsUnavailableError, match="us-east-1 was throttled"):
            report.raise_failures()

    def test_a_mirror_that_cannot_be_written_keeps_no_other_from_its_turn(self, fleet):
        fleet.add(PUBLIC, GOLDEN).offer(NEW_IMAGE).offer(OLD_IMAGE, GOLDEN)
        fleet.parameters.unwritable.add(f"/driftgate/demo/seen/{HOME}/custom/own/_.golden_.id")

        report = fleet.poll()

        assert fleet.parameters.values[MIRROR] == NEW_IMAGE
        assert len(report.failures) == 1
        assert (HOME, "", GOLDEN) not in fleet.history.saved

    def test_a_poll_that_dies_before_it_remembers_is_done_again(self, fleet):
        fleet.add(PUBLIC).offer(OLD_IMAGE).poll()
        fleet.history.save_failure = LedgerUnavailableError("the table is busy")
        report = fleet.offer(NEW_IMAGE).poll()
        fleet.history.save_failure = None

        fleet.poll()

        assert len(report.failures) == 1
        assert fleet.parameters.written == [MIRROR, MIRROR]
        assert [entry.image for entry in fleet.seen().images] == [OLD_IMAGE, NEW_IMAGE]


class TestTwoAtOnce:
    def test_the_second_leaves_it_to_the_first(self, fleet):
        fleet.add(PUBLIC).offer(OLD_IMAGE).poll()
        fleet.offer(NEW_IMAGE)
        second = []
        fleet.parameters.before_read = lambda: second.append(fleet.poll("poll-2"))

        fleet.poll()

        assert [report.held_by for report in second] == ["poll-1"] * len(second)
        assert second != []
        assert fleet.parameters.written == [MIRROR, MIRROR]
        assert len(fleet.publisher.told) == 1

    def test_a_poll_gives_its_lease_back_also_where_it_fails(self, fleet):
        fleet.add(PUBLIC)
        fleet.parameters.failures[HOME] = AwsUnavailableError("no answer")
        fleet.poll()

        assert fleet.poll("poll-2").held_by == ""
        assert fleet.world.ledger.load_fleet()[FLEET].lease is None
