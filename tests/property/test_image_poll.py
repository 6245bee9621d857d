"""Whatever fails on the way: the mirror ends as what is offered, and people hear of every change, in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from driftgate.app.watch_amis import watch_amis
from driftgate.domain.errors import AwsUnavailableError, LedgerUnavailableError
from driftgate.domain.location import Location
from driftgate.domain.observation import ImageObservation
from driftgate.domain.seen_images import KEPT, SeenImage, SeenParameter
from driftgate.ports import PutLook
from tests.factories import NOW, cluster_policy
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import FakeImages, world

HOME = "eu-central-1"
PATH = "eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
PUBLIC, MIRROR = f"/aws/service/{PATH}", f"/driftgate/demo/seen/{HOME}/{PATH}"
IDS = [f"ami-{number}" for number in range(5)]
DOWN = AwsUnavailableError("down")


def described(number):
    name = f"amazon-eks-node-al2023-x86_64-standard-1.34-v202609{number + 10}"
    return ImageObservation(id=IDS[number], name=name, created_at=NOW - timedelta(days=30 - number))


class Polls(RuleBasedStateMachine):
    """One parameter, polled again and again while the topic, EC2 or Systems Manager may be down."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock(NOW)
        self.world = world(FakeCluster(), self.clock, cluster_policy(location=Location(HOME)))
        self.world.images = FakeImages(*[described(number) for number in range(len(IDS))])
        self.world.ledger.commit("demo", PutLook(NOW, (PUBLIC,)))

    @initialize(first=st.sampled_from(IDS))
    def begin(self, first: str) -> None:
        self.first = first
        self.offer(first)
        self.poll()

    @rule(image=st.sampled_from(IDS), is_polled=st.booleans())
    def offer(self, image: str, *, is_polled: bool = False) -> None:
        self.world.parameters.values[PUBLIC] = image
        if is_polled:
            self.poll()

    @rule()
    def withdraw(self) -> None:
        self.world.parameters.values.pop(PUBLIC, None)

    @rule(is_down=st.booleans())
    def topic(self, is_down: bool) -> None:
        self.world.publisher.failure = DOWN if is_down else None

    @rule(is_down=st.booleans())
    def ec2(self, is_down: bool) -> None:
        self.world.images.failure = DOWN if is_down else None

    @rule(is_down=st.booleans())
    def region(self, is_down: bool) -> None:
        self.world.parameters.failures = {HOME: DOWN} if is_down else {}

    @rule()
    def poll(self) -> None:
        watch_amis(self.world.pipeline(), "demo", HOME)
        self.clock.advance(timedelta(minutes=15))

    def changes(self) -> list[tuple[str, str]]:
        found = [event.facts["images"] for event in self.world.publisher.told if event.code != "UNKNOWN"]
        return [(image["before"]["id"], image["now"]["id"]) for images in found for image in images]  # type: ignore[attr-defined]

    def teardown(self) -> None:
        if not hasattr(self, "first"):
            return
        self.world.publisher.failure = self.world.images.failure = self.world.history.save_failure = None
        self.world.parameters.failures = {}
        self.poll()
        told = len(self.world.publisher.told)
        self.poll()
        assert len(self.world.publisher.told) == told
        self.check_what_is_there()
        self.check_what_was_told()

    def check_what_is_there(self) -> None:
        offered = self.world.parameters.values.get(PUBLIC)
        seen = self.world.history.saved.get((HOME, "", PUBLIC))
        if offered is not None:
            assert self.world.parameters.values[MIRROR] == offered
            assert seen is not None
            assert (seen.told, seen.trouble) == (offered, "")
        elif seen is not None and seen.images:
            assert self.world.parameters.values[MIRROR] == seen.images[-1].image
        if seen is not None:
            assert all(one.image != other.image for one, other in pairwise(seen.images))
            assert len(seen.images) <= KEPT

    def check_what_was_told(self) -> None:
        """Each message goes on from where the last one ended, and backwards is told as such."""
        known = self.first
        for before, now in self.changes():
            assert before == known
            known = now
        assert known == self.world.parameters.values.get(MIRROR, self.first)
        for event in self.world.publisher.told:
            for image in event.facts.get("images", []):  # type: ignore[attr-defined]
                is_back = IDS.index(image["now"]["id"]) < IDS.index(image["before"]["id"])
                assert (event.code == "ROLLBACK") is is_back


class ForgetfulPolls(Polls):
    """The same where the history may be down, or be lost: then a message may come twice."""

    @rule(is_down=st.booleans())
    def memory(self, is_down: bool) -> None:
        self.world.history.save_failure = LedgerUnavailableError("down") if is_down else None

    @rule()
    def forget(self) -> None:
        self.world.history.saved.clear()

    def check_what_was_told(self) -> None:
        assert all(before != now for before, now in self.changes())


TestPolls = Polls.TestCase
TestForgetfulPolls = ForgetfulPolls.TestCase
TestPolls.settings = TestForgetfulPolls.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)


@given(st.lists(st.sampled_from(IDS), max_size=60))
def test_a_history_is_bounded_and_never_says_the_same_twice_in_a_row(ids):
    seen = SeenParameter(region=HOME, name=PUBLIC)
    for id_ in ids:
        seen = replace(seen.naming(SeenImage(image=id_)), version=seen.version)

    named = [image.image for image in seen.images]

    assert len(named) <= KEPT
    assert all(one != other for one, other in pairwise(named))
    assert named[-1:] == ids[-1:]
