"""T12 to T16: what is opened, how the list reads then, and what is never opened."""

from __future__ import annotations

import pytest

from tests.cases.expand import (
    NEW,
    SATURDAY,
    SHUT,
    THURSDAY,
    TRAP,
    Planner,
    ami,
    config,
    drifted,
    fill,
    node,
    node_class,
    observed,
    pool,
)

MARK = {"nodes": "01", "reasons": ["Drifted"]}
GUARD = {"nodes": "00", "reasons": ["Drifted"], "schedule": "11 2 17 10 *", "duration": "8736h"}


class TestT12:
    """Open, one node, revert."""

    NODES = fill(
        12,
        "a1 old drifted since 2026-10-05T08:00:00Z",
        "a2 old drifted since 2026-10-06T08:00:00Z",
        "a3 old drifted since 2026-10-07T08:00:00Z daemonset",
    )

    def test_the_list_opens_for_exactly_one(self, planner: Planner):
        app = planner.app(TRAP, self.NODES)

        assert (app["verdict"], app.kind, app.codes) == ("TRAPPED", "OPEN", [])
        assert app.opened == [{"nodes": "10%", "reasons": ["Empty", "Underutilized"]}, MARK, GUARD]

    def test_the_patch_tests_everything_as_read_and_in_this_order(self, planner: Planner):
        annotations = {"team": "shop"}
        patch = planner.app(TRAP, self.NODES, metadata={"annotations": annotations})["action"]["patch"]

        assert [(operation["op"], operation["path"]) for operation in patch] == [
            ("test", "/metadata/generation"),
            ("test", "/spec/disruption/budgets"),
            ("test", "/metadata/resourceVersion"),
            ("add", "/metadata/annotations/driftgate.dev~1roll"),
            ("replace", "/spec/disruption/budgets"),
        ]
        assert patch[0]["value"] == 1
        assert patch[1]["value"] == [
            {"nodes": "10%", "reasons": ["Empty", "Underutilized"]},
            {"nodes": "0", "reasons": ["Drifted"]},
        ]
        assert patch[2]["value"] == "1000"

    def test_a_standing_tombstone_is_tested_instead_of_the_version(self, planner: Planner):
        tombstone = (
            '{"deployment":"driftgate","id":"20261010T021000000Z-app","windowKey":"app/sat/2026-10-10T02:00:00Z",'
            '"count":1}'
        )
        annotations = {"driftgate.dev/roll": tombstone}
        patch = planner.app(TRAP, self.NODES, metadata={"annotations": annotations})["action"]["patch"]

        assert patch[2] == {
            "op": "test",
            "path": "/metadata/annotations/driftgate.dev~1roll",
            "value": tombstone,
        }

    @pytest.mark.parametrize("annotations", [None, {}])
    def test_without_any_annotations_the_parent_is_added(self, planner: Planner, annotations: dict[str, str] | None):
        patch = planner.app(TRAP, self.NODES, metadata={"annotations": annotations})["action"]["patch"]

        assert (patch[3]["op"], patch[3]["path"]) == ("add", "/metadata/annotations")
        assert list(patch[3]["value"]) == ["driftgate.dev/roll"]

    def test_the_record_on_the_object_loses_nothing(self, planner: Planner):
        written = planner.app(TRAP, self.NODES).annotation

        assert written["deployment"] == "driftgate"
        assert written["openedAt"] == "2026-10-17T02:10:00Z"
        assert written["guardAt"] == "2026-10-17T02:11:00Z"
        assert written["revertBy"] == "2026-10-17T02:30:00Z"
        assert written["baseline"][1] == {"nodes": "0", "reasons": ["Drifted"]}
        assert written["opened"] == [{"nodes": "10%", "reasons": ["Empty", "Underutilized"]}, MARK, GUARD]
        assert (written["windowKey"], written["count"]) == ("app/sat/2026-10-17T02:00:00Z", 1)

    def test_the_empty_node_goes_first_then_the_longest_drifted(self, planner: Planner):
        app = planner.app(TRAP, self.NODES)

        assert app["nextNode"] == "a3"
        assert app["eligible"] == ["a3", "a1", "a2"]

    def test_without_an_empty_one_the_longest_drifted_goes(self, planner: Planner):
        nodes = fill(12, *drifted("a2", "2026-10-06T08:00:00Z"), *drifted("a1", "2026-10-07T08:00:00Z"))

        assert planner.app(TRAP, nodes)["nextNode"] == "a2"

    def test_of_equal_times_the_name_decides(self, planner: Planner):
        assert planner.app(TRAP, fill(12, *drifted("a3 a1 a2")))["eligible"] == ["a1", "a2", "a3"]

    def test_an_opening_is_no_matter_for_people(self, planner: Planner):
        assert planner.ask(pool(TRAP, self.NODES)).exit_code == 0

    def test_karpenter_1_5_and_1_6_never_take_the_empty_one(self, planner: Planner):
        app = planner.app(TRAP, self.NODES, seen=observed(karpenterVersion="1.6.1"))

        assert app["nextNode"] == "a1"
        assert app.blocked["a3"] == ["VERSION_SKIPS_EMPTY"]
        assert "VERSION_SKIPS_EMPTY" in app.alerts

    def test_where_only_empty_ones_are_left_it_holds(self, planner: Planner):
        app = planner.app(TRAP, fill(4, *drifted("a1 a2", words="empty")), seen=observed(karpenterVersion="1.5.0"))

        assert app.codes == ["NOTHING_ELIGIBLE", "VERSION_SKIPS_EMPTY"]

    def test_a_karpenter_that_gives_no_reason_is_told_of(self, planner: Planner):
        app = planner.app(TRAP, self.NODES, seen=observed(karpenterVersion="1.1.2"))

        assert (app.kind, app.alerts) == ("OPEN", ["NO_DISRUPTION_REASON"])


class TestT13:
    """One entry for several reasons."""

    BUDGETS = '[{nodes: "10%"}, {nodes: "0", reasons: [Drifted, Underutilized]}]'

    def test_only_drifted_is_freed(self, planner: Planner):
        app = planner.app(self.BUDGETS, fill(8, *drifted("a1 a2")))

        assert app["allowed"] == {"Drifted": 0, "Empty": 1, "Underutilized": 0}
        assert app.opened == [{"nodes": "10%"}, {"nodes": "0", "reasons": ["Underutilized"]}, MARK, GUARD]

    @pytest.mark.parametrize(
        ("budgets", "opened"),
        [
            (
                '[{nodes: "0", reasons: [Underutilized, Drifted]}, {nodes: "10%"}]',
                [{"nodes": "0", "reasons": ["Underutilized"]}, MARK, {"nodes": "10%"}, GUARD],
            ),
            (
                '[{nodes: "0", reasons: [Drifted]}, {nodes: "0%", reasons: [Drifted, Empty]}, {nodes: "5"}]',
                [MARK, {"nodes": "0%", "reasons": ["Empty"]}, {"nodes": "5"}, GUARD],
            ),
            (
                '[{nodes: "000", reasons: [Drifted]}, {nodes: "3", reasons: [Drifted]}]',
                [MARK, {"nodes": "3", "reasons": ["Drifted"]}, GUARD],
            ),
        ],
    )
    def test_every_always_on_zero_leaves_its_remainder_in_place(
        self, planner: Planner, budgets: str, opened: list[object]
    ):
        assert planner.app(budgets, fill(8, *drifted("a1"))).opened == opened

    def test_scheduled_entries_stay_as_they_are(self, planner: Planner):
        blackout = '{nodes: "0", reasons: [Drifted, Empty], schedule: "0 0 * * mon-fri", duration: 24h}'
        app = planner.app(f'[{{nodes: "0", reasons: [Drifted]}}, {blackout}]', fill(8, *drifted("a1")))

        assert app.opened[1] == {
            "nodes": "0",
            "reasons": ["Drifted", "Empty"],
            "schedule": "0 0 * * mon-fri",
            "duration": "24h",
        }

    def test_fifty_entries_leave_no_room(self, planner: Planner):
        others = ", ".join(f'{{nodes: "{number}", reasons: [Empty]}}' for number in range(1, 50))
        app = planner.app(f'[{{nodes: "0", reasons: [Drifted]}}, {others}]', fill(8, *drifted("a1")))

        assert (app.kind, app.codes) == ("HOLD", ["TOO_MANY_ENTRIES"])

    def test_forty_nine_leave_room_for_the_guard(self, planner: Planner):
        others = ", ".join(f'{{nodes: "{number}", reasons: [Empty]}}' for number in range(1, 49))
        app = planner.app(f'[{{nodes: "0", reasons: [Drifted]}}, {others}]', fill(8, *drifted("a1")))

        assert app.kind == "OPEN"
        assert len(app.opened) == 50


class TestT14:
    """A freeze is not a gate."""

    ALL = '[{nodes: "0"}]'
    WITH_ONE = '[{nodes: "0"}, {nodes: "1", reasons: [Drifted]}]'
    SPLIT = (
        '[{nodes: "0", reasons: [Drifted]}, {nodes: "0%", reasons: [Underutilized]}, {nodes: "00", reasons: [Empty]}]'
    )
    NODES = fill(8, *drifted("a1 a2 a3"))

    @pytest.mark.parametrize("budgets", [ALL, WITH_ONE, SPLIT])
    def test_a_freeze_is_left_alone(self, planner: Planner, budgets: str):
        answer = planner.ask(pool(budgets, self.NODES))
        app = answer.pool()

        assert app.verdict_and_action == ("FROZEN", "HOLD", ["FROZEN"])
        assert app["action"]["patch"] is None
        assert answer.exit_code == 1

    @pytest.mark.parametrize("budgets", [ALL, WITH_ONE, SPLIT])
    def test_outside_the_window_too(self, planner: Planner, budgets: str):
        assert planner.app(budgets, self.NODES, THURSDAY).verdict_and_action == ("FROZEN", "HOLD", ["FROZEN"])

    def test_a_freeze_over_nothing_that_waits_needs_nobody(self, planner: Planner):
        app = planner.app(self.ALL, fill(8))

        assert app.verdict_and_action == ("FROZEN", "NONE", [])

    def test_unless_the_owner_says_otherwise_then_the_other_reasons_stay_frozen(self, planner: Planner):
        app = planner.app(self.ALL, self.NODES, settings=config(respect={"freeze": False}))

        assert (app["verdict"], app.kind) == ("TRAPPED", "OPEN")
        assert app.opened == [{"nodes": "0", "reasons": ["Empty", "Underutilized"]}, MARK, GUARD]

    def test_the_entry_beside_the_freeze_stays(self, planner: Planner):
        app = planner.app(self.WITH_ONE, self.NODES, settings=config(respect={"freeze": False}))

        assert app.opened == [
            {"nodes": "0", "reasons": ["Empty", "Underutilized"]},
            MARK,
            {"nodes": "1", "reasons": ["Drifted"]},
            GUARD,
        ]

    def test_a_scheduled_zero_for_all_reasons_is_no_freeze(self, planner: Planner):
        budgets = '[{nodes: "0", schedule: "0 0 * * *", duration: 24h}]'

        assert planner.app(budgets, self.NODES).verdict_and_action == ("TRAPPED", "HOLD", ["NATIVE_BLACKOUT"])

    def test_zeros_that_leave_one_reason_free_are_a_gate(self, planner: Planner):
        budgets = '[{nodes: "0", reasons: [Drifted, Empty]}]'

        assert planner.app(budgets, self.NODES).kind == "OPEN"


class TestT15:
    """A sick node uses up the budget."""

    def test_a_node_that_is_not_ready_holds(self, planner: Planner):
        sick = "a5 new notready since 2026-10-17T01:30:00Z"
        app = planner.app(SHUT, fill(5, *drifted("a1 a2"), sick))

        assert (app["verdict"], app.kind, app.codes) == ("TRAPPED", "HOLD", ["NODE_NOT_READY"])
        assert app.reason("NODE_NOT_READY")["objects"] == ["node/a5"]
        assert "2026-10-17T01:30:00Z" in app.reason("NODE_NOT_READY")["message"]
        assert app["consuming"] == 1

    def test_a_cordoned_node_holds_though_karpenter_does_not_count_it(self, planner: Planner):
        app = planner.app(SHUT, fill(5, *drifted("a1 a2"), "a5 new cordoned"))

        assert app.codes == ["NODE_CORDONED"]
        assert app.reason("NODE_CORDONED")["objects"] == ["node/a5"]
        assert app["consuming"] == 0

    def test_a_node_on_its_way_out_holds(self, planner: Planner):
        app = planner.app(SHUT, fill(5, *drifted("a1 a2"), "a5 new deleting"))

        assert app.codes == ["NODE_STUCK_DELETING"]

    def test_all_that_is_wrong_is_named(self, planner: Planner):
        lines = [*drifted("a1 a2"), "a5 new cordoned", "a6 new notready", "a7 new deleting"]

        assert planner.app(SHUT, fill(8, *lines)).codes == ["NODE_NOT_READY", "NODE_STUCK_DELETING", "NODE_CORDONED"]

    def test_a_node_that_is_not_initialized_counts_for_nothing(self, planner: Planner):
        app = planner.app(SHUT, fill(5, *drifted("a1 a2"), "a5 new uninitialized notready"))

        assert (app["nodes"], app["consuming"]) == (4, 0)
        assert "NODE_NOT_READY" not in app.codes

    def test_the_drifted_node_itself_may_be_the_sick_one(self, planner: Planner):
        sick = "a1 old drifted notready since 2026-10-17T01:30:00Z"

        assert planner.app(SHUT, fill(5, sick, *drifted("a2"))).codes == ["NODE_NOT_READY"]

    def test_another_pools_sick_node_is_not_ours(self, planner: Planner):
        objects = [*pool(SHUT, fill(5, *drifted("a1"))), *pool(SHUT, ["w1 new notready", "w2 new"], name="web")]

        assert planner.ask(objects).pool().kind == "OPEN"

    def test_a_claim_without_a_machine_pauses_karpenter_in_the_whole_cluster(self, planner: Planner):
        waiting = node("w1 new", "web", claim={"status": {"nodeName": "", "providerID": ""}})[:1]
        objects = [*pool(SHUT, fill(5, *drifted("a1"))), *waiting]

        assert planner.ask(objects).pool().codes == ["KARPENTER_PAUSED"]


SIZES = (1, 2, 3, 9, 10, 11, 19, 20, 21)
TABLE = (
    ("5%", (1, 1, 1, 1, 1, 1, 1, 1, 2)),
    ("10%", (1, 1, 1, 1, 1, 2, 2, 2, 3)),
    ("20%", (1, 1, 1, 2, 2, 3, 4, 4, 5)),
    ("50%", (1, 1, 2, 5, 5, 6, 10, 10, 11)),
    ("100%", (1, 2, 3, 9, 10, 11, 19, 20, 21)),
)


class TestT16:
    """Percentages and tiny pools."""

    @pytest.mark.parametrize(
        ("percent", "size", "allowed"),
        [(percent, size, row[index]) for percent, row in TABLE for index, size in enumerate(SIZES)],
    )
    def test_the_table(self, planner: Planner, percent: str, size: int, allowed: int):
        app = planner.app(f'[{{nodes: "{percent}"}}]', fill(size))

        assert app["allowed"] == {"Drifted": allowed, "Empty": allowed, "Underutilized": allowed}

    def test_a_node_that_is_not_initialized_is_not_counted(self, planner: Planner):
        app = planner.app('[{nodes: "10%"}]', [*fill(10), "b1 new uninitialized"])

        assert (app["nodes"], app["allowed"]["Drifted"]) == (10, 1)

    def test_one_node_is_all_of_the_pool(self, planner: Planner):
        answer = planner.ask(pool(SHUT, drifted("a1")))
        app = answer.pool()

        assert app.codes == ["SINGLE_NODE_POOL"]
        assert "100 %" in app.reason("SINGLE_NODE_POOL")["message"]
        assert answer.exit_code == 1

    def test_the_pods_that_go_with_it_are_named(self, planner: Planner):
        app = planner.app(SHUT, drifted("a1"))

        assert "app/work-a1" in app.reason("SINGLE_NODE_POOL")["message"]

    def test_unless_the_owner_allows_it(self, planner: Planner):
        app = planner.app(SHUT, drifted("a1"), settings=config(open={"allow_single_node_pool": True}))

        assert app.kind == "OPEN"
        assert app.opened == [MARK, GUARD]

    def test_two_nodes_are_not_one(self, planner: Planner):
        assert planner.app(SHUT, fill(2, *drifted("a1"))).kind == "OPEN"

    def test_a_node_that_is_not_initialized_does_not_make_a_pool_of_two(self, planner: Planner):
        app = planner.app(SHUT, [*drifted("a1"), "a2 new uninitialized"])

        assert "SINGLE_NODE_POOL" in app.codes


class TestSeveralPools:
    """One roll at a time in a cluster."""

    def objects(self, web: str = "2026-10-04T08:00:00Z", app: str = "2026-10-05T08:00:00Z") -> list[dict[str, object]]:
        return [
            *pool(SHUT, fill(3, *drifted("a1", app))),
            *pool(SHUT, fill(3, *drifted("w1", web), prefix="w"), name="web"),
        ]

    BOTH = config(pools=["app", "web"])

    def test_the_pool_trapped_longest_goes_first(self, planner: Planner):
        answer = planner.ask(self.objects(), settings=self.BOTH)

        assert answer.pool("web").kind == "OPEN"
        assert (answer.pool().kind, answer.pool().codes) == ("HOLD", ["WAITING_FOR"])
        assert answer.pool().reason("WAITING_FOR")["objects"] == ["nodepool/web"]

    def test_of_equal_times_the_name_decides(self, planner: Planner):
        answer = planner.ask(self.objects(web="2026-10-05T08:00:00Z"), settings=self.BOTH)

        assert (answer.pool().kind, answer.pool("web").codes) == ("OPEN", ["WAITING_FOR"])

    def test_a_pool_that_holds_for_a_reason_of_its_own_lets_the_other_go(self, planner: Planner):
        objects = [
            *pool(SHUT, fill(3, *drifted("a1"), "a2 new notready")),
            *pool(SHUT, fill(3, *drifted("w1", "2026-10-06T08:00:00Z"), prefix="w"), name="web"),
        ]
        answer = planner.ask(objects, settings=self.BOTH)

        assert (answer.pool().codes, answer.pool("web").kind) == (["NODE_NOT_READY"], "OPEN")

    def test_a_pool_that_nobody_covers_is_not_in_the_plan(self, planner: Planner):
        assert planner.ask(self.objects()).names == ["app"]

    def test_without_a_list_every_pool_is_covered(self, planner: Planner):
        assert planner.ask(self.objects(), settings=config(pools=None)).names == ["app", "web"]

    def test_each_pool_has_its_own_window(self, planner: Planner):
        sunday = {"name": "sun", "timezone": "UTC", "cron": "0 2 * * sun", "duration": "3h"}
        settings = config(pools=["app", {"name": "web", "windows": [sunday]}])
        answer = planner.ask(self.objects(), settings=settings)

        assert (answer.pool().kind, answer.pool("web").codes) == ("OPEN", ["OUTSIDE_WINDOW"])

    def test_a_pool_that_is_not_there_is_unknown(self, planner: Planner):
        answer = planner.ask(self.objects(), settings=config(pools=["app", "gone"]))

        assert answer.pool("gone").verdict_and_action == ("UNKNOWN", "HOLD", ["UNKNOWN"])
        assert answer.exit_code == 3

    def test_each_node_class_has_its_own_image(self, planner: Planner):
        other = "ami-0ccc00000000000c3"
        ref = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "arm"}
        objects = [
            *pool(SHUT, fill(3, *drifted("a1"))),
            *pool(
                SHUT,
                [f"w1 image {other} arch arm64", f"w2 image {other} arch arm64"],
                name="web",
                spec={"template": {"spec": {"nodeClassRef": ref}}},
            ),
        ]
        classes = [
            node_class(),
            node_class("arm", [ami(other, "amazon-eks-node-al2023-arm64-standard-1.34-v1", "arm64")]),
        ]
        answer = planner.ask(objects, settings=self.BOTH, classes=classes)

        assert answer.pool("web")["verdict"] == "CLEAN"
        assert answer.pool()["images"][0]["right"] == NEW

    def test_the_first_image_that_fits_a_node_is_right_for_it(self, planner: Planner):
        arm = "ami-0ccc00000000000c3"
        classes = [node_class(amis=[ami(arm, "amazon-eks-node-al2023-arm64-standard-1.34-v20260923", "arm64"), ami()])]
        nodes = ["a1 new", f"a2 image {arm} arch arm64", "a3 old arch arm64"]
        app = planner.app(SHUT, nodes, SATURDAY, classes=classes)

        assert app["lagging"] == 1
        assert (app["images"][0]["nodes"], app["images"][0]["right"]) == (["a3"], arm)
