"""Which image is right for a node, and how a pool stands to it."""

import pytest

from driftgate.domain.image_age import ImageCatalog, release_date
from driftgate.domain.images import Direction, ImageFacts, pool_images
from driftgate.domain.members import members_by_pool
from driftgate.domain.nodepool import Requirement
from driftgate.domain.selectors import matches
from tests.factories import (
    DRIFTED_SINCE,
    NEW_IMAGE,
    NEW_NAME,
    NOW,
    OLD_IMAGE,
    OLD_NAME,
    at,
    image,
    node,
    node_class,
    nodeclaim,
    pair,
    resolved_image,
)

EC2 = (image(), image(OLD_IMAGE, OLD_NAME, "2026-09-02T10:00:00Z"))


def judged(pairs, found=None, observed=EC2, now=NOW, **history):
    claims, nodes = zip(*pairs, strict=True)
    found = found or node_class()
    catalog = ImageCatalog.build(observed, (found,))
    facts = ImageFacts(node_class=found, catalog=catalog, now=now, **history)
    return pool_images(members_by_pool(claims, nodes)["app"], facts)


def with_image(id, name="a1", **fields):
    return nodeclaim(name, image_id=id, **fields), node(name)


class TestTheRightImage:
    def test_is_the_first_entry_whose_requirements_fit(self):
        arm = resolved_image("ami-arm", "al2023-arm-v20260923", arch="arm64")
        older = resolved_image("ami-older", "al2023-v20260915")
        listed = node_class(images=(arm, resolved_image(), older))

        found = judged([with_image("ami-older")], listed)

        assert [group.right.id for group in found.groups] == [NEW_IMAGE]

    def test_an_older_image_that_is_still_listed_lags(self):
        listed = node_class(images=(resolved_image(), resolved_image(OLD_IMAGE, OLD_NAME)))

        assert judged([with_image(OLD_IMAGE)], listed).lagging == 1

    def test_takes_labels_that_only_the_node_has(self):
        gpu = Requirement(key="karpenter.k8s.aws/instance-gpu-count", operator="Exists")
        listed = node_class(images=(resolved_image("ami-gpu", requirements=(gpu,)), resolved_image()))
        labelled = node(labels={"karpenter.k8s.aws/instance-gpu-count": "1"})

        found = judged([(nodeclaim(image_id=OLD_IMAGE), labelled)], listed)

        assert found.groups[0].right.id == "ami-gpu"

    def test_without_a_fitting_entry_the_node_is_unclear_and_does_not_lag(self):
        found = judged([with_image(OLD_IMAGE)], node_class(images=(resolved_image(arch="arm64"),)))

        assert (found.lagging, [member.name for member in found.unclear]) == (0, ["a1"])

    def test_of_another_provider_is_not_known(self):
        found = judged([with_image("any")], node_class(images=None))

        assert not found.is_known
        assert found.lagging == 0

    @pytest.mark.parametrize(
        ("operator", "values", "label", "fits"),
        [
            ("In", ("a", "b"), "b", True),
            ("In", ("a",), None, False),
            ("NotIn", ("a",), None, True),
            ("NotIn", ("a",), "a", False),
            ("Exists", (), "", True),
            ("Exists", (), None, False),
            ("DoesNotExist", (), None, True),
            ("DoesNotExist", (), "1", False),
            ("Gt", ("4",), "5", True),
            ("Gt", ("4",), "4", False),
            ("Gte", ("4",), "4", True),
            ("Lt", ("4",), "3", True),
            ("Lt", ("4",), "4", False),
            ("Lte", ("4",), "4", True),
            ("Gt", ("4",), None, False),
            ("Gt", ("4",), "many", False),
            ("Gt", ("4", "5"), "6", False),
            ("Like", ("a",), "a", False),
        ],
    )
    def test_requirements_hold_as_in_kubernetes(self, operator, values, label, fits):
        assert matches(Requirement(key="k", operator=operator, values=values), label) is fits


class TestLaggingAndRollback:
    def test_a_node_on_the_right_image_is_in_no_group(self):
        assert judged([pair("a1")]).groups == ()

    def test_a_node_lags_before_karpenter_calls_it_drifted(self):
        assert judged([with_image(OLD_IMAGE)]).lagging == 1

    def test_a_newer_image_than_the_right_one_is_a_rollback_and_not_behind(self):
        back = node_class(images=(resolved_image(OLD_IMAGE, OLD_NAME),))

        found = judged([with_image(NEW_IMAGE)], back)

        assert (found.lagging, found.rollback) == (0, 1)
        assert found.lines[0].days_behind is None
        assert found.lines[0].release_distance_days == -22

    def test_without_ec2_the_names_tell_the_direction(self):
        back = node_class(images=(resolved_image(OLD_IMAGE, OLD_NAME), resolved_image(NEW_IMAGE, NEW_NAME)))

        assert judged([with_image(NEW_IMAGE)], back, observed=None).rollback == 1

    def test_bottlerocket_versions_tell_the_direction(self):
        name = "bottlerocket-aws-k8s-1.34-x86_64-v1.{}.0-1a2b3c4d"
        back = node_class(images=(resolved_image("old", name.format(9)), resolved_image("new", name.format(64))))

        assert judged([with_image("new")], back, observed=None).rollback == 1

    def test_creation_tells_more_than_names(self):
        observed = (image(OLD_IMAGE, OLD_NAME, "2026-10-01T00:00:00Z"), image())

        assert judged([with_image(OLD_IMAGE)], observed=observed).rollback == 1

    def test_an_image_that_nothing_is_known_of_lags_with_an_unknown_direction(self):
        found = judged([with_image("ami-custom")], observed=None)

        assert (found.lagging, found.rollback) == (1, 0)
        assert found.groups[0].direction is Direction.NOT_KNOWN

    def test_a_node_on_its_way_out_no_longer_lags(self):
        assert judged([with_image(OLD_IMAGE, deleted_at=NOW)]).lagging == 0

    def test_nodes_are_counted_by_image(self):
        assert judged([pair("a1"), pair("a2", drifted=DRIFTED_SINCE)]).running == {NEW_IMAGE: 1, OLD_IMAGE: 1}


class TestDaysBehind:
    def test_count_from_the_drifted_condition(self):
        found = judged([pair("a1", drifted=DRIFTED_SINCE)], now=at("2026-10-15T12:00:00Z"))

        assert found.lines[0].days_behind == 10
        assert found.lines[0].release_distance_days == 22

    def test_count_from_our_own_history_where_there_is_one(self):
        history = {NEW_IMAGE: at("2026-09-25T12:00:00Z")}

        found = judged([pair("a1", drifted=DRIFTED_SINCE)], now=at("2026-10-15T12:00:00Z"), became_right=history)

        assert found.lines[0].days_behind == 20

    def test_count_from_the_first_newer_image_not_from_the_last(self):
        between = image("ami-between", "al2023-v20260910", "2026-09-11T00:00:00Z")
        history = {"ami-between": at("2026-09-12T12:00:00Z"), NEW_IMAGE: at("2026-09-25T12:00:00Z")}

        found = judged(
            [with_image(OLD_IMAGE)], observed=(*EC2, between), now=at("2026-10-15T12:00:00Z"), became_right=history
        )

        assert found.lines[0].days_behind == 33

    def test_count_from_karpenters_older_mark_where_our_history_does_not_reach_back(self):
        history = {NEW_IMAGE: at("2026-10-14T12:00:00Z")}

        found = judged([pair("a1", drifted=DRIFTED_SINCE)], now=at("2026-10-15T12:00:00Z"), became_right=history)

        assert found.lines[0].days_behind == 10

    @pytest.mark.parametrize("first", [OLD_IMAGE, "ami-older"])
    def test_count_from_our_history_alone_where_it_reaches_back(self, first):
        older = image("ami-older", "al2023-v20260820", "2026-08-21T00:00:00Z")
        history = {first: at("2026-08-22T00:00:00Z"), NEW_IMAGE: at("2026-10-14T12:00:00Z")}

        found = judged(
            [pair("a1", drifted=DRIFTED_SINCE)],
            observed=(*EC2, older),
            now=at("2026-10-15T12:00:00Z"),
            became_right=history,
        )

        assert found.lines[0].days_behind == 1

    def test_do_not_count_from_before_an_upgrade_of_kubernetes(self):
        """The new minor's images were published all along, but were not right for these nodes."""
        upgraded = resolved_image("ami-135", NEW_NAME.replace("1.34", "1.35"))
        observed = (*EC2, image("ami-135", upgraded.name, "2026-09-24T10:00:00Z"))

        found = judged(
            [pair("a1", drifted=DRIFTED_SINCE)],
            node_class(images=(upgraded,)),
            observed,
            now=at("2026-10-15T12:00:00Z"),
            became_right={"ami-135": at("2026-09-24T12:00:00Z")},
        )

        assert found.lines[0].days_behind == 10

    def test_ignore_a_drifted_time_that_is_about_something_else(self):
        found = judged([(nodeclaim(drifted=DRIFTED_SINCE, drift_reason="NodePoolDrifted"), node())])

        assert found.lines[0].days_behind == 22

    def test_are_not_known_where_nothing_tells(self):
        assert judged([with_image(OLD_IMAGE)], observed=None).lines[0].days_behind is None

    def test_are_whole_days(self):
        found = judged([pair("a1", drifted="2026-10-16T02:10:01Z")], now=at("2026-10-17T02:10:00Z"))

        assert found.lines[0].days_behind == 0

    def test_are_those_of_the_node_that_waits_longest(self):
        pairs = [pair("a1", drifted="2026-10-10T02:10:00Z"), pair("a2", drifted="2026-10-07T02:10:00Z")]

        (line,) = judged(pairs).lines

        assert (line.nodes, line.days_behind) == (("a1", "a2"), 10)


class TestReleaseDates:
    @pytest.mark.parametrize(
        ("name", "date"),
        [
            ("amazon-eks-node-al2023-x86_64-standard-1.34-v20260923", "2026-09-23T00:00:00Z"),
            ("Windows_Server-2022-English-Core-EKS_Optimized-1.34-2026.09.15", "2026-09-15T00:00:00Z"),
            ("bottlerocket-aws-k8s-1.34-x86_64-v1.64.0-1a2b3c4d", None),
            ("golden-v20261399", None),
            ("", None),
        ],
    )
    def test_stand_at_the_end_of_the_name(self, name, date):
        assert release_date(name) == (date and at(date))
