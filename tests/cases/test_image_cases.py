"""T05 and its kind: images that are too young, denied, suspect or recalled, and those that nobody can tell."""

from __future__ import annotations

import pytest

from tests.cases.expand import (
    IMAGES,
    NEW,
    NEW_NAME,
    NEXT_WINDOW,
    OLD,
    OLD_NAME,
    SHUT,
    THURSDAY,
    Json,
    Planner,
    ami,
    config,
    drifted,
    fill,
    node_class,
    observed,
    pool,
)

YOUNG = [
    {"id": OLD, "name": OLD_NAME, "createdAt": "2026-09-02T10:00:00Z"},
    {"id": NEW, "name": NEW_NAME, "createdAt": "2026-10-16T20:00:00Z"},
]
TEN = fill(10, *drifted("a1 a2 a3 a4 a5 a6 a7 a8 a9"))
WAIT = config(ami={"min_age": "72h"})


class TestT05:
    def test_too_young_says_how_old_and_from_when_on(self, planner: Planner):
        app = planner.app(SHUT, TEN, seen=observed(images=YOUNG), settings=WAIT)
        hold = app.reason("AMI_TOO_YOUNG")

        assert (app["verdict"], app.kind, app.codes) == ("TRAPPED", "HOLD", ["AMI_TOO_YOUNG"])
        assert "6h10m" in hold["message"]
        assert hold["until"] == "2026-10-19T20:00:00Z"
        assert app["nextWindow"]["start"] == NEXT_WINDOW

    def test_mixed_says_how_many_run_it_already(self, planner: Planner):
        alert = planner.app(SHUT, TEN, seen=observed(images=YOUNG), settings=WAIT).alert("MIXED")

        assert "1 of 10" in alert["message"]

    @pytest.mark.parametrize(
        ("at", "codes"), [("2026-10-19T19:59:59Z", ["AMI_TOO_YOUNG"]), ("2026-10-19T20:00:00Z", [])]
    )
    def test_an_image_is_old_enough_at_the_very_instant(self, planner: Planner, at: str, codes: list[str]):
        always = config(
            ami={"min_age": "72h"},
            windows=[{"name": "all", "timezone": "UTC", "cron": "0 0 * * *", "duration": "24h"}],
        )

        assert planner.app(SHUT, TEN, at, seen=observed(images=YOUNG), settings=always).codes == codes

    def test_an_image_of_unknown_age_is_unknown_only_where_age_matters(self, planner: Planner):
        assert planner.app(SHUT, TEN, settings=WAIT).codes == ["UNKNOWN"]
        assert planner.app(SHUT, TEN).kind == "OPEN"

    @pytest.mark.parametrize("pattern", ["*v20260923", NEW, "amazon-eks-node-al2023-*", "ami-0bbb*"])
    def test_denied_by_name_or_id(self, planner: Planner, pattern: str):
        answer = planner.ask(pool(SHUT, TEN), settings=config(ami={"deny": [pattern]}))

        assert answer.pool().codes == ["DENIED"]
        assert "MIXED" in answer.pool().alerts
        assert answer.exit_code == 1

    def test_another_image_is_not_denied_by_that(self, planner: Planner):
        assert planner.app(SHUT, TEN, settings=config(ami={"deny": ["*v20260901"]})).kind == "OPEN"

    @pytest.mark.parametrize(
        ("verdict", "codes"),
        [
            ({"image": NEW, "verdict": "DENIED", "by": "ada", "reason": "broken CNI"}, ["DENIED"]),
            ({"image": NEW, "verdict": "SUSPECT"}, ["SUSPECT_AMI"]),
            ({"image": NEW, "verdict": "SUSPECT", "pool": "web"}, []),
            ({"image": NEW, "verdict": "CLEARED"}, []),
            ({"image": NEW, "verdict": "APPROVED"}, []),
            ({"image": OLD, "verdict": "DENIED"}, []),
        ],
    )
    def test_what_people_and_rolls_said_of_it(self, planner: Planner, verdict: Json, codes: list[str]):
        assert planner.app(SHUT, TEN, seen=observed(imageVerdicts=[verdict])).codes == codes

    def test_verdicts_that_nobody_read_are_not_none(self, planner: Planner):
        app = planner.app(SHUT, TEN, seen=observed(imageVerdicts=None))

        assert (app["verdict"], app.codes) == ("TRAPPED", ["UNKNOWN"])

    def test_the_last_word_counts(self, planner: Planner):
        verdicts = [
            {"image": NEW, "verdict": "SUSPECT", "at": "2026-10-10T00:00:00Z"},
            {"image": NEW, "verdict": "CLEARED", "at": "2026-10-11T00:00:00Z"},
        ]

        assert planner.app(SHUT, TEN, seen=observed(imageVerdicts=verdicts)).kind == "OPEN"


class TestRollback:
    """The node class moved back: a recall."""

    CLASSES = (node_class(amis=[ami(OLD, OLD_NAME)]),)
    NODES = fill(10, *(f"a{number} new drifted" for number in range(1, 7)), *(f"a{n} old" for n in range(7, 11)))

    def test_it_rolls_back_one_node_and_says_so(self, planner: Planner):
        app = planner.app(SHUT, self.NODES, seen=observed(images=IMAGES), settings=WAIT, classes=self.CLASSES)

        assert (app.kind, app["lagging"], app["rollback"], app["drifted"]) == ("OPEN", 0, 6, 6)
        assert "ROLLBACK" in app.alerts
        assert "recalled" in app.alert("ROLLBACK")["message"]
        assert app["images"][0]["daysBehind"] is None

    def test_a_young_image_may_be_left_at_once(self, planner: Planner):
        app = planner.app(SHUT, self.NODES, seen=observed(images=YOUNG), settings=WAIT, classes=self.CLASSES)

        assert app.kind == "OPEN"

    def test_the_age_of_the_target_does_not_matter_in_a_rollback(self, planner: Planner):
        both_young = [
            {"id": OLD, "name": OLD_NAME, "createdAt": "2026-10-15T20:00:00Z"},
            {"id": NEW, "name": NEW_NAME, "createdAt": "2026-10-16T20:00:00Z"},
        ]
        app = planner.app(SHUT, self.NODES, seen=observed(images=both_young), settings=WAIT, classes=self.CLASSES)

        assert (app.kind, app["rollback"]) == ("OPEN", 6)

    def test_a_denied_target_holds_a_rollback_too(self, planner: Planner):
        settings = config(ami={"deny": [OLD]})
        app = planner.app(SHUT, self.NODES, seen=observed(images=IMAGES), settings=settings, classes=self.CLASSES)

        assert app.codes == ["DENIED"]

    def test_which_way_it_goes_is_told_by_the_names_alone_too(self, planner: Planner):
        images = [{"id": OLD, "name": OLD_NAME}, {"id": NEW, "name": NEW_NAME}]
        app = planner.app(SHUT, self.NODES, seen=observed(images=images), classes=self.CLASSES)

        assert (app["rollback"], app["lagging"]) == (6, 0)

    def test_an_image_that_nobody_knows_is_taken_for_lagging(self, planner: Planner):
        app = planner.app(SHUT, fill(4, "a1 image ami-0fff00000000000f9 drifted"))

        assert (app["lagging"], app["rollback"]) == (1, 0)


class TestNodeClasses:
    def test_a_node_class_that_is_not_there_is_unknown_though_nothing_is_drifted(self, planner: Planner):
        answer = planner.ask(pool(SHUT, fill(4)), classes=[])

        assert answer.pool().verdict_and_action == ("UNKNOWN", "HOLD", ["UNKNOWN"])
        assert "EC2NodeClass std" in answer.pool().reason("UNKNOWN")["message"]
        assert answer.exit_code == 3

    def test_without_it_a_drifted_node_is_still_a_trap_but_no_image_is_known_to_be_good(self, planner: Planner):
        app = planner.app(SHUT, fill(4, *drifted("a1")), classes=[])

        assert app.verdict_and_action == ("TRAPPED", "HOLD", ["UNKNOWN"])

    def test_a_next_node_that_no_image_fits_holds(self, planner: Planner):
        app = planner.app(SHUT, fill(4, "a1 old drifted arch arm64", *drifted("a2", "2026-10-06T08:00:00Z")))

        assert (app["nextNode"], app.codes) == ("a1", ["UNKNOWN"])

    def test_a_later_node_that_no_image_fits_does_not(self, planner: Planner):
        app = planner.app(SHUT, fill(4, *drifted("a1"), "a2 old drifted since 2026-10-06T08:00:00Z arch arm64"))

        assert (app["nextNode"], app.kind) == ("a1", "OPEN")

    def test_a_node_class_whose_images_are_not_resolved_is_unknown(self, planner: Planner):
        unresolved = node_class(
            amis=[], status={"conditions": [{"type": "AMIsReady", "status": "False", "reason": "AMINotFound"}]}
        )
        app = planner.app(SHUT, fill(4), classes=[unresolved])

        assert app.verdict_and_action == ("UNKNOWN", "HOLD", ["UNKNOWN"])

    def test_images_that_were_resolved_before_they_were_not_ready_are_not_trusted(self, planner: Planner):
        stale = node_class(status={"conditions": [{"type": "AMIsReady", "status": "False", "reason": "AMINotFound"}]})
        app = planner.app(SHUT, fill(4), classes=[stale])

        assert app["verdict"] == "UNKNOWN"

    def test_a_pool_without_nodes_has_nothing_that_could_lag(self, planner: Planner):
        assert planner.app(SHUT, [], classes=[])["verdict"] == "CLEAN"

    def test_another_provider_works_by_the_drifted_condition_alone(self, planner: Planner):
        reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "std"}
        spec = {"template": {"spec": {"nodeClassRef": reference}}}
        azure = {
            "apiVersion": "karpenter.azure.com/v1beta1",
            "kind": "AKSNodeClass",
            "metadata": {"name": "std"},
            "spec": {"imageFamily": "AzureLinux"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }
        clean = planner.app(SHUT, fill(4), classes=[azure], spec=spec)
        unlisted = planner.app(SHUT, fill(4), classes=[], spec=spec)
        trapped = planner.app(SHUT, fill(4, "a1 new drifted for ImageDrift"), classes=[azure], spec=spec)

        assert (clean["verdict"], unlisted["verdict"]) == ("CLEAN", "CLEAN")
        assert (trapped["verdict"], trapped.kind, trapped["lagging"]) == ("TRAPPED", "OPEN", 0)

    def test_a_node_that_no_image_fits_is_unknown(self, planner: Planner):
        app = planner.app(SHUT, fill(4, "a1 new arch arm64"))

        assert app["verdict"] == "UNKNOWN"
        assert "a1" in app.reason("UNKNOWN")["message"]

    @pytest.mark.parametrize("resource", ["nodeclasses", "ec2nodeclasses"])
    def test_node_classes_that_could_not_be_read_are_unknown(self, planner: Planner, resource: str):
        errors = [{"resource": resource, "status": 403}]
        app = planner.app(SHUT, fill(4, *drifted("a1")), classes=[], seen=observed(errors=errors))

        assert app.verdict_and_action == ("UNKNOWN", "HOLD", ["UNKNOWN"])

    def test_auto_modes_pools_are_reported_and_never_written(self, planner: Planner):
        reference = {"nodeClassRef": {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"}}
        answer = planner.ask(pool(SHUT, fill(4, *drifted("a1")), spec={"template": {"spec": reference}}), classes=[])

        assert answer.pool().verdict_and_action == ("UNSUPPORTED", "HOLD", ["UNSUPPORTED"])
        assert answer.pool()["action"]["patch"] is None

    @pytest.mark.parametrize("version", ["karpenter.sh/v1beta1", "karpenter.sh/v1alpha5"])
    def test_legacy_apis_too(self, planner: Planner, version: str):
        app = planner.app(SHUT, fill(4, *drifted("a1")), apiVersion=version)

        assert app.verdict_and_action == ("UNSUPPORTED", "HOLD", ["UNSUPPORTED"])

    def test_a_parameter_that_is_ahead_of_karpenter_is_a_finding(self, planner: Planner):
        name = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
        parameters = [{"name": name, "value": "ami-0ddd00000000000d4", "modifiedAt": "2026-10-17T00:00:00Z"}]
        app = planner.app(SHUT, fill(4, *drifted("a1")), seen=observed(parameters=parameters))

        assert app.finding("STALE_RESOLUTION")["severity"] == "info"
        assert app.kind == "OPEN"


class TestDaysBehind:
    def test_own_history_counts_from_the_first_newer_image(self, planner: Planner):
        name = (
            "/driftgate/driftgate/seen/eu-central-1/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/"
            "standard/recommended/image_id"
        )
        parameters = [{"name": name, "value": NEW, "modifiedAt": "2026-09-25T12:00:00Z"}]
        app = planner.app(SHUT, TEN, THURSDAY, seen=observed(parameters=parameters))

        assert app["images"][0]["daysBehind"] == 20

    def test_without_history_the_condition_counts_and_then_the_images_age(self, planner: Planner):
        by_condition = planner.app(SHUT, TEN, THURSDAY, seen=observed(images=IMAGES))
        by_age = planner.app(SHUT, fill(4, "a1 old"), THURSDAY, seen=observed(images=IMAGES))

        assert (by_condition["images"][0]["daysBehind"], by_age["images"][0]["daysBehind"]) == (10, 21)


class TestUnknownThings:
    @pytest.mark.parametrize("resource", ["nodepools", "nodeclaims", "nodes"])
    @pytest.mark.parametrize("status", [401, 403, 0, 500])
    def test_what_a_verdict_needs_and_could_not_be_read(self, planner: Planner, resource: str, status: int):
        errors = [{"resource": resource, "status": status, "message": "no"}]
        answer = planner.ask(pool(SHUT, TEN), seen=observed(errors=errors))

        assert answer.pool().verdict_and_action == ("UNKNOWN", "HOLD", ["UNKNOWN"])
        assert "UNKNOWN" in answer.pool().alerts
        assert answer.exit_code == 3

    @pytest.mark.parametrize("resource", ["nodeclaims", "nodes", "nodepools"])
    def test_counts_that_are_not_known_are_not_zero(self, planner: Planner, resource: str):
        app = planner.app(SHUT, [], seen=observed(errors=[{"resource": resource, "status": 403}]))

        assert (app["nodes"], app["drifted"], app["lagging"], app["consuming"]) == (None, None, None, None)

    @pytest.mark.parametrize("resource", ["volumeattachments", "parameters", "images", "karpenter"])
    def test_what_an_opening_does_not_rest_on_holds_nothing(self, planner: Planner, resource: str):
        app = planner.app(SHUT, TEN, seen=observed(errors=[{"resource": resource, "status": 403}]))

        assert app.kind == "OPEN"

    def test_a_ledger_that_could_not_be_read_holds(self, planner: Planner):
        app = planner.app(SHUT, TEN, seen=observed(errors=[{"resource": "ledger", "message": "timeout"}]))

        assert app.codes == ["UNKNOWN"]

    @pytest.mark.parametrize(
        "entry", ['{nodes: "0", reasons: [Drifted], window: x}', '{nodes: "0", reasons: [Rotten]}']
    )
    def test_an_entry_that_says_something_new_is_unknown(self, planner: Planner, entry: str):
        app = planner.app(f'[{{nodes: "0", reasons: [Drifted]}}, {entry}]', TEN)

        assert app.verdict_and_action == ("UNKNOWN", "HOLD", ["UNKNOWN_FIELD"])

    def test_rolls_that_nobody_read_hold(self, planner: Planner):
        app = planner.app(SHUT, TEN, seen=observed(rolls=None))

        assert (app["verdict"], app.codes) == ("TRAPPED", ["UNKNOWN"])

    def test_counters_need_not_be_there(self, planner: Planner):
        assert planner.app(SHUT, TEN, seen=observed(counters=None)).kind == "OPEN"

    def test_no_observation_at_all_is_a_trap_with_unknowns(self, planner: Planner):
        bare = {"apiVersion": "driftgate.dev/v1", "kind": "Observation", "at": "2026-10-17T02:10:00Z"}
        app = planner.app(SHUT, TEN, seen=bare)

        assert app["verdict"] == "TRAPPED"
        assert set(app.codes) == {"UNKNOWN"}
