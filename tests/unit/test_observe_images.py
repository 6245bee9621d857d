"""What a look learns of images: asked where the cluster lives, and remembered from what the poll saw."""

from dataclasses import replace

import pytest

from driftgate.app.observe import observe
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError, LedgerUnavailableError
from driftgate.domain.judge import judge
from driftgate.domain.location import Location
from driftgate.domain.nodepool import ImageTerm
from driftgate.domain.seen_images import SeenImage, SeenParameter
from tests.factories import (
    NEW_IMAGE,
    NEW_NAME,
    NOW,
    OLD_IMAGE,
    OLD_NAME,
    at,
    cluster_policy,
    image,
    node,
    node_class,
    nodeclaim,
    nodepool,
)
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.image_history import FakeImageHistory
from tests.fakes.pipeline import FakeImages, world

PUBLIC = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
MIRROR = (
    "/driftgate/driftgate/seen/us-east-1/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
)
GOLDEN = "/golden/id"
ROLE = "arn:aws:iam::444455556666:role/driftgate"
LATEST = (ImageTerm(alias="al2023@latest"),)
FAR = Location("us-east-1", ROLE)
BETWEEN = SeenImage(
    image="ami-0ab0",
    name="amazon-eks-node-al2023-x86_64-standard-1.34-v20260910",
    created_at=at("2026-09-11T00:00:00Z"),
    since=at("2026-09-12T12:00:00Z"),
)
NEW = SeenImage(image=NEW_IMAGE, name=NEW_NAME, created_at=at("2026-09-24T10:00:00Z"), since=at("2026-09-25T12:00:00Z"))
OLD = SeenImage(image=OLD_IMAGE, name=OLD_NAME, created_at=at("2026-09-02T10:00:00Z"), since=at("2026-09-03T00:00:00Z"))


def seen(*images, name=PUBLIC, account=""):
    return SeenParameter(region="us-east-1", account=account, name=name, images=images)


class Around:
    """One cluster of another account and region, with one lagging node."""

    def __init__(self, *history, terms=LATEST):
        claim = nodeclaim(image_id=OLD_IMAGE, drifted="2026-10-05T08:00:00Z")
        cluster = FakeCluster(nodepool(), node_class(terms=terms), claim, node())
        self.policy = cluster_policy(location=FAR)
        self.world = world(cluster, FakeClock(NOW), self.policy)
        self.world.images = FakeImages(image(), image(OLD_IMAGE, OLD_NAME, "2026-09-02T10:00:00Z"))
        self.world.history = FakeImageHistory(*history)
        self.parameters = self.world.parameters
        self.parameters.regions["us-east-1"] = {PUBLIC: NEW_IMAGE, GOLDEN: NEW_IMAGE}

    def look(self):
        return observe(self.world.pipeline().sources(self.world.cluster), self.policy, None, NOW)

    def days_behind(self):
        (pool,) = judge(self.look(), self.policy).plan.pools
        return pool.images[0].days_behind


class TestWhereItIsAsked:
    def test_public_parameters_are_asked_in_the_clusters_region_without_a_role(self):
        around = Around()

        around.look()

        assert [where for where, _ in around.parameters.asked] == [Location("us-east-1")]
        assert len(around.parameters.asked[0][1]) == 5

    def test_own_parameters_and_images_are_asked_as_the_clusters_role(self):
        around = Around(terms=(ImageTerm(ssm_parameter=GOLDEN),))

        found = around.look()

        assert around.parameters.asked[-1] == (FAR, (GOLDEN,))
        assert [where for where, _ in around.world.images.asked] == [FAR]
        assert GOLDEN in [parameter.name for parameter in found.parameters or ()]


class TestOwnHistory:
    def test_is_every_image_that_a_parameter_named_under_the_name_of_our_mirror(self):
        found = Around(seen(OLD, NEW)).look()

        assert [(p.value, p.modified_at) for p in found.parameters or () if p.name == MIRROR] == [
            (OLD_IMAGE, OLD.since),
            (NEW_IMAGE, NEW.since),
        ]

    def test_of_an_own_parameter_is_that_of_the_clusters_account(self):
        ours = seen(NEW, name=GOLDEN, account="444455556666")
        theirs = seen(OLD, name=GOLDEN, account="999955556666")

        found = Around(ours, theirs, terms=(ImageTerm(ssm_parameter=GOLDEN),)).look()

        mirror = "/driftgate/driftgate/seen/us-east-1/custom/444455556666/_.golden_.id"
        assert [p.value for p in found.parameters or () if p.name == mirror] == [NEW_IMAGE]

    def test_counts_days_behind_from_the_first_newer_image(self):
        """By Karpenter's mark it would be 11."""
        assert Around(seen(OLD, BETWEEN, NEW)).days_behind() == 34

    def test_that_does_not_reach_back_to_the_nodes_image_yields_to_karpenters_older_mark(self):
        late = replace(NEW, since=at("2026-10-16T00:00:00Z"))

        assert Around(seen(late)).days_behind() == 11

    def test_knows_images_that_ec2_no_longer_knows(self):
        around = Around(seen(OLD, NEW))
        around.world.images = FakeImages(image())

        found = around.look()

        assert {entry.id: entry.name for entry in found.images or ()} == {NEW_IMAGE: NEW_NAME, OLD_IMAGE: OLD_NAME}

    def test_is_not_asked_for_where_nobody_knows_the_region(self):
        around = Around(seen(OLD, NEW))
        around.policy = cluster_policy(location=Location())
        around.world.history.failure = LedgerUnavailableError("asked all the same")

        assert around.look().errors == ()


class TestWhatCannotBeRead:
    def test_a_history_that_does_not_answer_is_named_and_takes_nothing_else_away(self):
        around = Around(seen(OLD, NEW))
        around.world.history.failure = LedgerUnavailableError("the table is busy")

        found = around.look()

        assert [(error.resource, error.message) for error in found.errors] == [("parameters", "the table is busy")]
        assert [parameter.value for parameter in found.parameters or ()] == [NEW_IMAGE]

    def test_a_parameter_that_may_not_be_read_is_named(self):
        around = Around(terms=(ImageTerm(ssm_parameter=GOLDEN),))
        around.parameters.refused[GOLDEN] = "denied"

        found = around.look()

        assert [(error.resource, error.status, error.name) for error in found.errors] == [("parameters", 403, GOLDEN)]
        assert around.world.images.asked != []

    @pytest.mark.parametrize(
        ("failure", "status"),
        [(AwsUnavailableError("throttled"), 0), (AwsForbiddenError("denied", action="ssm:GetParameters"), 403)],
    )
    def test_a_region_that_cannot_be_read_leaves_parameters_unknown(self, failure, status):
        around = Around()
        around.parameters.failures["us-east-1"] = failure

        found = around.look()

        assert found.parameters is None
        assert [(error.resource, error.status) for error in found.errors] == [("parameters", status)]

    def test_the_history_still_counts_days_then(self):
        around = Around(seen(OLD, BETWEEN, NEW))
        around.parameters.failures["us-east-1"] = AwsUnavailableError("throttled")

        assert around.days_behind() == 34
