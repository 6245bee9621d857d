"""T01, T02, T04, T06, T08: what the budgets of a pool mean, and what is done about it."""

from __future__ import annotations

import pytest

from tests.cases.expand import (
    IMAGES,
    NEXT_WINDOW,
    SATURDAY,
    SHUT,
    THURSDAY,
    TRAP,
    Planner,
    config,
    drifted,
    fill,
    observed,
    pool,
)


class TestT01:
    """The plain trap."""

    NODES = fill(12, *drifted("a1 a2 a3"))

    def test_the_trap_is_named_with_its_numbers(self, planner: Planner):
        app = planner.app(TRAP, self.NODES, THURSDAY)

        assert (app["verdict"], app["nodes"], app["drifted"], app["lagging"]) == ("TRAPPED", 12, 3, 3)
        assert app["since"] == "2026-10-05T08:00:00Z"
        assert app["allowed"] == {"Drifted": 0, "Empty": 2, "Underutilized": 2}
        assert app["effective"] == {"Drifted": 0, "Empty": 2, "Underutilized": 2}
        assert app["binding"] == {"Drifted": [1]}
        assert app["images"][0]["daysBehind"] == 10
        assert app["images"][0]["nodes"] == ["a1", "a2", "a3"]

    def test_the_release_distance_needs_the_old_images_name(self, planner: Planner):
        app = planner.app(TRAP, self.NODES, THURSDAY, seen=observed(images=IMAGES))

        assert app["images"][0]["releaseDistanceDays"] == 22
        assert planner.app(TRAP, self.NODES, THURSDAY)["images"][0]["releaseDistanceDays"] is None

    def test_outside_a_window_it_holds_quietly_and_names_the_next_one(self, planner: Planner):
        answer = planner.ask(pool(TRAP, self.NODES), THURSDAY)
        app = answer.pool()

        assert (app.kind, app.codes) == ("HOLD", ["OUTSIDE_WINDOW"])
        assert app["action"]["patch"] is None
        assert app["currentWindow"] is None
        window = {"name": "sat", "start": "2026-10-17T02:00:00Z", "end": "2026-10-17T05:00:00Z"}
        assert app["nextWindow"] == window
        assert app.reason("OUTSIDE_WINDOW")["until"] == "2026-10-17T02:00:00Z"
        assert answer.exit_code == 0

    def test_never_opens_is_only_a_remark_while_a_window_covers_the_pool(self, planner: Planner):
        app = planner.app(TRAP, self.NODES, THURSDAY)

        assert app.finding("NEVER_OPENS")["severity"] == "info"

    def test_the_same_input_gives_the_same_bytes(self, planner: Planner):
        first = planner.ask(pool(TRAP, self.NODES), SATURDAY)
        second = planner.ask(pool(TRAP, self.NODES), SATURDAY)

        assert first.output == second.output

    def test_nodes_that_lag_before_karpenter_says_so_are_trapped_too(self, planner: Planner):
        app = planner.app(SHUT, fill(4, "a1 old", "a2 old"), SATURDAY)

        assert app.verdict_and_action == ("TRAPPED", "HOLD", ["NOTHING_ELIGIBLE"])
        assert (app["lagging"], app["drifted"], app["since"]) == (2, 0, None)

    def test_nodes_that_only_lag_need_no_person_yet(self, planner: Planner):
        assert planner.ask(pool(SHUT, fill(4, "a1 old", "a2 old")), SATURDAY).exit_code == 0

    def test_drift_for_another_reason_than_the_image_is_a_trap_too(self, planner: Planner):
        line = "a1 new drifted for NodePoolDrift since 2026-10-05T08:00:00Z"
        app = planner.app(SHUT, fill(4, line), SATURDAY)

        assert (app["verdict"], app.kind, app["lagging"]) == ("TRAPPED", "OPEN", 0)
        assert app.alerts == ["NON_AMI_FIRST"]

    def test_a_pool_with_nothing_to_roll_is_clean_and_left_alone(self, planner: Planner):
        answer = planner.ask(pool(TRAP, fill(12)), SATURDAY)

        assert answer.pool().verdict_and_action == ("CLEAN", "NONE", [])
        assert answer.exit_code == 0

    def test_a_pool_without_nodes_is_clean(self, planner: Planner):
        app = planner.app(SHUT, [], SATURDAY)

        assert app.verdict_and_action == ("CLEAN", "NONE", [])
        assert app["nodes"] == 0

    def test_a_node_on_its_way_out_no_longer_lags(self, planner: Planner):
        app = planner.app(SHUT, fill(4, "a1 old drifted deleting since 2026-10-17T02:00:00Z"), SATURDAY)

        assert (app["verdict"], app["drifted"], app["lagging"]) == ("CLEAN", 0, 0)


class TestT02:
    """A window that can never open."""

    BUDGETS = (
        '[{nodes: "0", reasons: [Drifted]}, '
        '{nodes: "1", reasons: [Drifted], schedule: "0 2 * * sat", duration: 3h}, {nodes: "10%"}]'
    )
    NODES = fill(20, *drifted("a1 a2 a3 a4 a5"))

    @pytest.mark.parametrize("at", [THURSDAY, "2026-10-17T02:30:00Z"])
    def test_the_gate_is_shut_at_both_times(self, planner: Planner, at: str):
        app = planner.app(self.BUDGETS, self.NODES, at)

        assert app["verdict"] == "TRAPPED"
        assert app["allowed"]["Drifted"] == 0
        assert app["nextNativeOpening"] is None

    def test_never_opens_names_the_entry_that_is_always_on(self, planner: Planner):
        finding = planner.app(self.BUDGETS, self.NODES, THURSDAY).finding("NEVER_OPENS")

        assert finding["entries"] == [0]
        assert "budgets[1]" in finding["message"]

    def test_without_a_product_window_it_is_an_error_with_the_complement_as_a_way_out(self, planner: Planner):
        answer = planner.ask(pool(self.BUDGETS, self.NODES), "2026-10-17T02:30:00Z", settings=config(windows=[]))
        app = answer.pool()

        assert (app.kind, app.codes) == ("HOLD", ["OUTSIDE_WINDOW"])
        assert app.finding("NEVER_OPENS")["severity"] == "error"
        assert "schedule" in app.finding("NEVER_OPENS")["remedy"]
        assert answer.exit_code == 1

    def test_with_no_window_to_come_outside_window_needs_a_person(self, planner: Planner):
        open_in_november = '[{nodes: "0", reasons: [Drifted], schedule: "0 0 * 10 *", duration: 48h}]'
        answer = planner.ask(pool(open_in_november, self.NODES), THURSDAY, settings=config(windows=[]))

        assert answer.pool().codes == ["OUTSIDE_WINDOW", "NATIVE_BLACKOUT"]
        assert answer.exit_code == 1

    def test_the_permission_that_cannot_permit_is_dead(self, planner: Planner):
        assert "DEAD_ENTRY" in planner.app(self.BUDGETS, self.NODES, THURSDAY).findings

    def test_in_the_products_window_it_opens_all_the_same(self, planner: Planner):
        app = planner.app(self.BUDGETS, self.NODES, "2026-10-17T02:30:00Z")

        assert app.kind == "OPEN"
        assert app.opened[0] == {"nodes": "01", "reasons": ["Drifted"]}
        assert app.opened[1]["schedule"] == "0 2 * * sat"
        assert app.opened[2] == {"nodes": "10%"}
        assert app.opened[3] == {
            "nodes": "00",
            "reasons": ["Drifted"],
            "schedule": "31 2 17 10 *",
            "duration": "8736h",
        }


class TestT04:
    """A schedule taken for a permission."""

    BUDGETS = (
        '[{nodes: "10%", reasons: [Drifted], schedule: "0 0 * * 0", duration: 1h}, '
        '{nodes: "20%", reasons: [Empty, Underutilized]}]'
    )

    def test_outside_the_schedule_the_pool_is_ungated(self, planner: Planner):
        answer = planner.ask(pool(self.BUDGETS, fill(30)), THURSDAY)
        app = answer.pool()

        assert app.verdict_and_action == ("UNGATED", "NONE", [])
        assert app["allowed"] == {"Drifted": None, "Empty": 6, "Underutilized": 6}
        assert app["findings"][0]["code"] == "UNGATED_OUTSIDE_SCHEDULE"
        assert app["findings"][0]["severity"] == "error"
        assert "All 30 nodes" in app["findings"][0]["message"]
        assert answer.exit_code == 1

    def test_inside_the_schedule_it_is_open_until_the_hour_ends(self, planner: Planner):
        app = planner.app(self.BUDGETS, fill(30), "2026-10-18T00:30:00Z")

        assert app.verdict_and_action == ("OPEN", "NONE", [])
        assert app["allowed"]["Drifted"] == 3
        assert app["nextNativeChange"] == "2026-10-18T01:00:00Z"

    @pytest.mark.parametrize(
        ("at", "verdict"),
        [
            ("2026-10-17T23:59:59Z", "UNGATED"),
            ("2026-10-18T00:00:00Z", "OPEN"),
            ("2026-10-18T00:59:59Z", "OPEN"),
            ("2026-10-18T01:00:00Z", "UNGATED"),
        ],
    )
    def test_a_schedule_counts_from_its_start_to_before_its_end(self, planner: Planner, at: str, verdict: str):
        assert planner.app(self.BUDGETS, fill(30), at)["verdict"] == verdict

    def test_drifted_nodes_in_an_ungated_pool_change_nothing(self, planner: Planner):
        app = planner.app(self.BUDGETS, fill(30, *drifted("a1 a2")), SATURDAY)

        assert app.verdict_and_action == ("UNGATED", "NONE", [])

    def test_an_empty_list_is_ungated(self, planner: Planner):
        app = planner.app("[]", fill(3, *drifted("a1")), SATURDAY)

        assert app.verdict_and_action == ("UNGATED", "NONE", [])
        assert app["findings"][0]["code"] == "EMPTY_LIST"

    def test_an_absent_list_is_the_servers_default(self, planner: Planner):
        app = planner.app(None, fill(30, *drifted("a1")), SATURDAY)

        assert app.verdict_and_action == ("OPEN", "NONE", [])
        assert app["allowed"] == {"Drifted": 3, "Empty": 3, "Underutilized": 3}
        assert "DEFAULT_APPLIES" in app.findings

    def test_an_entry_without_any_reason_limits_nothing(self, planner: Planner):
        app = planner.app('[{nodes: "0", reasons: []}]', fill(3, *drifted("a1")), SATURDAY)

        assert app["verdict"] == "UNGATED"
        assert "APPLIES_TO_NOTHING" in app.findings


class TestT06:
    """One bad schedule shuts everything."""

    BUDGETS = (
        '[{nodes: "1", reasons: [Drifted]}, {nodes: "0", reasons: [Empty], schedule: "0 0 * * sat-sun", duration: 24h}]'
    )
    NODES = fill(10, *drifted("a1 a2"))

    def test_the_pool_is_invalid_and_nothing_is_written(self, planner: Planner):
        answer = planner.ask(pool(self.BUDGETS, self.NODES), SATURDAY)
        app = answer.pool()

        assert app.verdict_and_action == ("INVALID", "HOLD", ["INVALID"])
        assert app["allowed"] == {"Drifted": 0, "Empty": 0, "Underutilized": 0}
        assert app["action"]["patch"] is None
        assert answer.exit_code == 1

    def test_the_entry_and_the_correction_are_named(self, planner: Planner):
        app = planner.app(self.BUDGETS, self.NODES, SATURDAY)

        assert app.finding("INVALID_SCHEDULE")["entries"] == [1]
        assert "sat,sun" in app.finding("INVALID_SCHEDULE")["remedy"]
        assert "sat,sun" in app.reason("INVALID")["remedy"]

    @pytest.mark.parametrize(
        "entry",
        [
            '{nodes: "0", reasons: [], schedule: "0 0 * * 7", duration: 1h}',
            '{nodes: "0", reasons: [Empty], schedule: "TZ=Asia/Tokyo 0 2 * * *", duration: 1h}',
            '{nodes: "0", reasons: [Empty], schedule: "60 2 * * *", duration: 1h}',
            '{nodes: "99999999999999999999", reasons: [Empty]}',
            '{nodes: "0", reasons: [Empty], schedule: "@dailyfoo", duration: 1h}',
        ],
    )
    def test_every_unusable_entry_shuts_every_reason(self, planner: Planner, entry: str):
        budgets = f'[{{nodes: "1", reasons: [Drifted]}}, {entry}]'
        app = planner.app(budgets, self.NODES, SATURDAY)

        assert app.verdict_and_action == ("INVALID", "HOLD", ["INVALID"])
        assert set(app["allowed"].values()) == {0}

    def test_an_invalid_pool_is_invalid_outside_the_window_too(self, planner: Planner):
        assert planner.app(self.BUDGETS, self.NODES, THURSDAY).codes == ["INVALID"]

    def test_an_invalid_pool_without_anything_to_roll_still_needs_a_person(self, planner: Planner):
        answer = planner.ask(pool(self.BUDGETS, fill(3)), SATURDAY)

        assert answer.pool().verdict_and_action == ("INVALID", "HOLD", ["INVALID"])
        assert answer.exit_code == 1


def _zero(schedule: str, duration: str) -> str:
    return f'{{nodes: "0", reasons: [Drifted], schedule: "{schedule}", duration: {duration}}}'


class TestT08:
    """Blackouts that cover the whole week."""

    DAILY = f'[{_zero("@daily", "24h")}, {{nodes: "2"}}]'
    WEEK = f"[{_zero('0 0 * * mon-fri', '24h')}, {_zero('0 0 * * sat', '30h')}, {_zero('0 6 * * sun', '18h')}]"
    GAP = f"[{_zero('0 0 * * mon-fri', '24h')}, {_zero('0 0 * * sat', '26h')}, {_zero('0 5 * * sun', '19h')}]"
    NODES = fill(40, *drifted("a1 a2 a3 a4 a5 a6 a7 a8"))

    @pytest.mark.parametrize("at", [THURSDAY, SATURDAY])
    @pytest.mark.parametrize(("budgets", "entries"), [(DAILY, [0]), (WEEK, [0, 1, 2])])
    def test_touching_blackouts_never_open_and_are_never_edited(
        self, planner: Planner, budgets: str, entries: list[int], at: str
    ):
        app = planner.app(budgets, self.NODES, at)

        assert app["verdict"] == "TRAPPED"
        assert "NATIVE_BLACKOUT" in app.codes
        assert app.finding("NEVER_OPENS")["entries"] == entries
        assert app["nextNativeOpening"] is None
        assert app["action"]["patch"] is None

    def test_the_way_out_is_one_always_on_entry(self, planner: Planner):
        finding = planner.app(self.WEEK, self.NODES, THURSDAY).finding("NEVER_OPENS")

        assert '{nodes: "0", reasons: [Drifted]}' in finding["remedy"]

    def test_a_gap_opens_by_itself_and_then_nothing_limits(self, planner: Planner):
        app = planner.app(self.GAP, self.NODES, THURSDAY)

        assert app.verdict_and_action == ("TRAPPED", "HOLD", ["OUTSIDE_WINDOW", "NATIVE_BLACKOUT"])
        assert app["nextNativeOpening"] == "2026-10-18T02:00:00Z"
        assert app.finding("OPENING_UNGATED")["severity"] == "warning"
        assert "2026-10-18T05:00:00Z" in app.finding("OPENING_UNGATED")["message"]
        assert "all 40 nodes" in app.finding("OPENING_UNGATED")["message"]

    @pytest.mark.parametrize(
        ("at", "verdict"),
        [
            ("2026-10-18T01:59:59Z", "TRAPPED"),
            ("2026-10-18T02:00:00Z", "UNGATED"),
            ("2026-10-18T04:59:59Z", "UNGATED"),
            ("2026-10-18T05:00:00Z", "TRAPPED"),
        ],
    )
    def test_the_gap_is_half_open(self, planner: Planner, at: str, verdict: str):
        assert planner.app(self.GAP, self.NODES, at)["verdict"] == verdict

    def test_never_opens_is_an_error_where_no_window_covers_the_pool(self, planner: Planner):
        app = planner.app(self.DAILY, self.NODES, THURSDAY, settings=config(windows=[]))

        assert app.finding("NEVER_OPENS")["severity"] == "error"

    def test_a_native_blackout_says_when_it_ends(self, planner: Planner):
        app = planner.app(self.GAP, self.NODES, THURSDAY)

        assert app.reason("NATIVE_BLACKOUT")["until"] == "2026-10-18T02:00:00Z"

    def test_a_scheduled_zero_beside_an_always_on_one_holds_only_while_it_is_active(self, planner: Planner):
        budgets = f'[{{nodes: "0", reasons: [Drifted]}}, {_zero("0 0 * * mon-fri", "24h")}]'
        weekdays = config(windows=[{"name": "all", "timezone": "UTC", "cron": "0 0 * * *", "duration": "24h"}])

        shut = planner.app(budgets, self.NODES, THURSDAY, settings=weekdays)
        free = planner.app(budgets, self.NODES, SATURDAY, settings=weekdays)

        assert (shut.kind, shut.codes) == ("HOLD", ["NATIVE_BLACKOUT"])
        assert shut.reason("NATIVE_BLACKOUT")["until"] == "2026-10-17T00:00:00Z"
        assert free.kind == "OPEN"

    def test_a_zero_that_only_comes_to_nought_for_this_size_is_no_gate_of_ours(self, planner: Planner):
        budgets = '[{nodes: "0%", reasons: [Drifted], schedule: "0 0 * * sat", duration: 24h}]'

        app = planner.app(budgets, self.NODES, SATURDAY)

        assert app.verdict_and_action == ("TRAPPED", "HOLD", ["NATIVE_BLACKOUT"])

    def test_the_observation_may_bring_the_time(self, planner: Planner):
        answer = planner.ask(pool(self.GAP, self.NODES), None, seen=observed(at=THURSDAY))

        assert answer.plan["at"] == THURSDAY
        assert answer.pool()["nextWindow"]["start"] == "2026-10-17T02:00:00Z"
        assert NEXT_WINDOW > THURSDAY
