"""May the image be rolled out, and what people should know about images."""

from datetime import timedelta

import pytest

from driftgate.domain.candidates import candidates, facts_for
from driftgate.domain.image_age import ImageCatalog
from driftgate.domain.image_rules import ImageRules, first_for_another_reason, image_alerts, image_holds, last_word
from driftgate.domain.images import ImageFacts, pool_images
from driftgate.domain.ledger import Approval
from driftgate.domain.members import members_by_pool
from driftgate.domain.policy import ImagePolicy
from driftgate.domain.reasons import ReasonCode as Code
from driftgate.domain.resolutions import became_right, stale_resolutions
from tests.factories import (
    DRIFTED_SINCE,
    NEW_IMAGE,
    NEW_NAME,
    NOW,
    OLD_IMAGE,
    OLD_NAME,
    at,
    image,
    image_verdict,
    node,
    node_class,
    nodeclaim,
    observation,
    pair,
    parameter,
    resolved_image,
)

PARAMETER = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
MIRROR = f"/driftgate/demo/seen/eu-central-1/{PARAMETER.removeprefix('/aws/service/')}"
TEN = [pair(f"a{index}", drifted=DRIFTED_SINCE) for index in range(1, 10)] + [pair("a10")]
YOUNG = image(NEW_IMAGE, NEW_NAME, "2026-10-16T20:00:00Z")
OLD = image(OLD_IMAGE, OLD_NAME, "2026-09-02T10:00:00Z")


def judged(pairs=TEN, observed=(YOUNG, OLD), found=None, verdicts=(), **policy):
    claims, nodes = zip(*pairs, strict=True)
    found = found or node_class()
    catalog = ImageCatalog.build(observed, (found,))
    images = pool_images(members_by_pool(claims, nodes)["app"], ImageFacts(node_class=found, catalog=catalog, now=NOW))
    rules = ImageRules(pool="app", policy=ImagePolicy(**policy), verdicts=verdicts, catalog=catalog, now=NOW)
    return image_holds(images, rules), image_alerts(images, rules)


def codes(found):
    return [entry.code for entry in found]


class TestAge:
    def test_t05a_a_young_image_holds_until_it_is_old_enough(self):
        (hold,), _ = judged(min_age=timedelta(hours=72))

        assert hold.code is Code.AMI_TOO_YOUNG
        assert hold.until == at("2026-10-19T20:00:00Z")
        assert "6h10m" in hold.message
        assert "72h" in hold.message

    def test_t05a_a_node_that_runs_it_already_is_told(self):
        _, (alert,) = judged(min_age=timedelta(hours=72))

        assert alert.code is Code.MIXED
        assert "1 of 10" in alert.message

    def test_exactly_the_minimum_is_old_enough(self):
        assert judged(min_age=timedelta(hours=6, minutes=10))[0] == ()

    def test_an_unknown_age_holds_where_one_is_wanted(self):
        (hold,), alerts = judged(observed=None, min_age=timedelta(hours=72))

        assert (hold.code, alerts) == (Code.UNKNOWN, ())

    def test_an_unknown_age_holds_nothing_where_none_is_wanted(self):
        assert judged(observed=None)[0] == ()

    def test_t05c_a_rollback_is_never_too_young_and_is_told(self):
        back = node_class(images=(resolved_image(OLD_IMAGE, OLD_NAME),))
        drifted = [(nodeclaim("a1", drifted=DRIFTED_SINCE, image_id=NEW_IMAGE), node("a1"))]

        holds, alerts = judged(drifted, (image(), OLD), back, min_age=timedelta(days=365))

        assert (holds, codes(alerts)) == ((), [Code.ROLLBACK])
        assert "recalled" in alerts[0].message


class TestDenial:
    @pytest.mark.parametrize("entry", ["*v20260923*", NEW_IMAGE, "ami-0bbb*"])
    def test_t05b_an_id_or_a_name_pattern_denies(self, entry):
        holds, alerts = judged(deny=(entry,))

        assert (codes(holds), codes(alerts)) == ([Code.DENIED], [Code.MIXED])

    def test_a_pattern_for_another_image_denies_nothing(self):
        assert judged(deny=("*v20260901*",))[0] == ()

    def test_a_persons_word_in_the_ledger_denies(self):
        (hold,), _ = judged(verdicts=(image_verdict(verdict=Approval.DENIED, by="ada", reason="CVE"),))

        assert hold.code is Code.DENIED
        assert "CVE by ada" in hold.message

    def test_a_pool_whose_nodes_all_run_the_right_image_is_not_held(self):
        assert judged([pair("a1")], deny=("*",))[0] == ()


class TestSuspicion:
    def test_a_suspect_image_holds(self):
        holds, _ = judged(verdicts=(image_verdict(),))

        assert codes(holds) == [Code.SUSPECT_AMI]

    def test_another_pools_suspicion_does_not_hold(self):
        assert judged(verdicts=(image_verdict(pool="web"),))[0] == ()

    def test_a_later_clearing_lifts_it(self):
        cleared = image_verdict(verdict=Approval.CLEARED, at=NOW + timedelta(minutes=1))

        assert judged(verdicts=(cleared, image_verdict()))[0] == ()

    def test_of_the_same_moment_the_strictest_word_counts(self):
        both = (image_verdict(verdict=Approval.DENIED), image_verdict(verdict=Approval.CLEARED))

        found = last_word(NEW_IMAGE, "app", both)

        assert found is not None
        assert found.verdict is Approval.DENIED

    def test_a_word_without_a_time_yields_to_one_with_a_time(self):
        found = last_word(NEW_IMAGE, "app", (image_verdict(at=None), image_verdict(verdict=Approval.CLEARED)))

        assert found is not None
        assert found.verdict is Approval.CLEARED


def test_reasons_come_as_too_young_then_denied_then_suspect():
    holds, _ = judged(verdicts=(image_verdict(),), min_age=timedelta(hours=72), deny=("*v20260923",))

    assert codes(holds) == [Code.AMI_TOO_YOUNG, Code.DENIED, Code.SUSPECT_AMI]


class TestAnotherReasonFirst:
    def first(self, reason):
        seen = observation([(nodeclaim(drifted=DRIFTED_SINCE, drift_reason=reason), node())])
        members = members_by_pool(seen.nodeclaims, seen.nodes)["app"]
        return candidates(members, facts_for(seen, members, None))[0]

    def test_is_told_with_the_reason(self):
        alert = first_for_another_reason(self.first("NodePoolDrifted"))

        assert alert is not None
        assert alert.code is Code.NON_AMI_FIRST
        assert "NodePoolDrifted" in alert.message

    def test_is_not_told_of_image_drift_nor_without_a_next_node(self):
        assert first_for_another_reason(self.first("AMIDrift")) is None
        assert first_for_another_reason(None) is None


class TestStaleResolution:
    def stale(self, *parameters, **fields):
        return stale_resolutions(node_class(**fields), parameters)

    def test_a_parameter_that_names_another_image_is_told(self):
        (finding,) = self.stale(parameter(PARAMETER, "ami-0ccc", modified_at=at("2026-10-17T02:00:00Z")))

        assert finding.code is Code.STALE_RESOLUTION
        assert "ami-0ccc since 2026-10-17T02:00:00Z" in finding.message
        assert NEW_IMAGE in finding.message

    def test_a_parameter_that_names_the_same_image_is_not(self):
        assert self.stale(parameter(PARAMETER, NEW_IMAGE)) == ()

    def test_the_json_node_of_the_parameter_is_read_too(self):
        value = '{"image_id": "ami-0ccc", "release_version": "1.34.2-20261016"}'

        assert len(self.stale(parameter(PARAMETER.removesuffix("/image_id"), value))) == 1

    def test_our_mirror_of_the_parameter_is_read_too(self):
        assert len(self.stale(parameter(MIRROR, "ami-0ccc"))) == 1

    def test_a_parameter_that_was_read_goes_before_our_mirror_of_it(self):
        assert self.stale(parameter(MIRROR, "ami-0ccc"), parameter(PARAMETER, NEW_IMAGE)) == ()

    def test_of_our_mirrors_history_only_the_last_entry_is_what_is_there(self):
        assert self.stale(parameter(MIRROR, "ami-0aaa"), parameter(MIRROR, NEW_IMAGE)) == ()

    @pytest.mark.parametrize(
        ("changed", "to"),
        [("x86_64", "arm64"), ("standard", "nvidia"), ("1.34", "1.35"), ("recommended", "v20260901")],
    )
    def test_a_parameter_of_another_kind_of_image_says_nothing(self, changed, to):
        assert self.stale(parameter(PARAMETER.replace(changed, to), "ami-0ccc")) == ()

    def test_a_pinned_alias_follows_no_latest_parameter(self):
        terms = node_class().terms[0]
        pinned = type(terms)(alias="al2023@v20260923")

        assert self.stale(parameter(PARAMETER, "ami-0ccc"), terms=(pinned,)) == ()

    def test_a_bottlerocket_parameter_finds_its_image(self):
        name = "bottlerocket-aws-k8s-1.34-nvidia-x86_64-v1.63.0-1a2b3c4d"
        latest = type(node_class().terms[0])(alias="bottlerocket@latest")

        found = self.stale(
            parameter("/aws/service/bottlerocket/aws-k8s-1.34-nvidia/x86_64/latest/image_id", "ami-0ccc"),
            terms=(latest,),
            images=(resolved_image("ami-br", name),),
        )

        assert len(found) == 1

    def test_a_parameter_term_is_compared_with_the_only_image(self):
        term = type(node_class().terms[0])(ssm_parameter="/driftgate/demo/channel/prod")

        (finding,) = self.stale(parameter("/driftgate/demo/channel/prod", "ami-0ccc"), terms=(term,))

        assert "for up to 5 minutes" in finding.message

    def test_a_public_parameter_is_kept_for_a_day(self):
        (finding,) = self.stale(parameter(PARAMETER, "ami-0ccc"))

        assert "for up to 24 hours" in finding.message

    @pytest.mark.parametrize("value", ["", "{broken", "{}", "not an image"])
    def test_a_value_without_an_image_says_nothing(self, value):
        assert self.stale(parameter(PARAMETER, value)) == ()

    def test_an_image_that_was_taken_back_and_came_again_counts_from_its_first_time(self):
        first, again = at("2026-09-24T11:00:00Z"), at("2026-09-30T11:00:00Z")
        history = [parameter(MIRROR, NEW_IMAGE, modified_at=moment) for moment in (again, first)]

        assert became_right(node_class(), history) == {NEW_IMAGE: first}

    def test_an_image_of_which_nobody_knows_since_when_is_no_history(self):
        assert became_right(node_class(), [parameter(MIRROR, NEW_IMAGE)]) == {}

    def test_only_our_mirror_is_history(self):
        when = at("2026-09-24T11:00:00Z")
        mirrored = parameter(MIRROR, NEW_IMAGE, modified_at=when)
        public = parameter(PARAMETER, "ami-0ccc", modified_at=when)

        assert became_right(node_class(), (mirrored, public)) == {NEW_IMAGE: when}
