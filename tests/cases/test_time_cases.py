"""T10 and its kind: windows, blackouts, calendars, counts, pauses, stops and the mode."""

from __future__ import annotations

import pytest

from tests.cases.expand import (
    KEY,
    NEXT_WINDOW,
    SATURDAY,
    SHUT,
    THURSDAY,
    Json,
    Planner,
    config,
    drifted,
    fill,
    observed,
    pool,
    roll,
)

NODES = fill(10, *drifted("a1 a2 a3"))


def window(cron: str, duration: str = "3h", timezone: str = "UTC", name: str = "w") -> Json:
    return {"name": name, "timezone": timezone, "cron": cron, "duration": duration}


class TestT10:
    """A local window on another UTC day."""

    BUDGETS = (
        '[{nodes: "0", reasons: [Drifted]}, '
        '{nodes: "0", reasons: [Drifted], schedule: "0 0 * * mon-fri", duration: 24h}]'
    )
    FRIDAY = config(windows=[window("0 22 * * fri", timezone="America/New_York", name="fri-night")])

    @pytest.mark.parametrize(
        ("at", "kind"),
        [
            ("2026-10-16T22:30:00Z", "HOLD"),
            ("2026-10-17T01:59:59Z", "HOLD"),
            ("2026-10-17T02:00:00Z", "OPEN"),
            ("2026-10-17T02:30:00Z", "OPEN"),
            ("2026-10-17T05:00:00Z", "HOLD"),
            ("2026-11-07T02:30:00Z", "HOLD"),
            ("2026-11-07T03:00:00Z", "OPEN"),
            ("2026-11-07T03:30:00Z", "OPEN"),
            ("2026-11-07T06:00:00Z", "HOLD"),
        ],
    )
    def test_the_window_follows_the_wall_clock_of_its_zone(self, planner: Planner, at: str, kind: str):
        app = planner.app(self.BUDGETS, NODES, at, settings=self.FRIDAY)

        assert app.kind == kind
        assert ("OUTSIDE_WINDOW" in app.codes) == (kind == "HOLD")

    def test_on_utc_friday_the_weekday_blackout_is_named_beside_the_window(self, planner: Planner):
        app = planner.app(self.BUDGETS, NODES, "2026-10-16T22:30:00Z", settings=self.FRIDAY)

        assert app.codes == ["OUTSIDE_WINDOW", "NATIVE_BLACKOUT"]

    @pytest.mark.parametrize(
        ("at", "start", "end"),
        [
            ("2026-10-16T22:30:00Z", "2026-10-17T02:00:00Z", "2026-10-17T05:00:00Z"),
            ("2026-11-07T02:30:00Z", "2026-11-07T03:00:00Z", "2026-11-07T06:00:00Z"),
        ],
    )
    def test_the_next_window_is_shown_in_utc(self, planner: Planner, at: str, start: str, end: str):
        app = planner.app(self.BUDGETS, NODES, at, settings=self.FRIDAY)

        assert app["nextWindow"] == {"name": "fri-night", "start": start, "end": end}


class TestWindows:
    def test_a_window_over_midnight_belongs_to_the_day_on_which_it_starts(self, planner: Planner):
        late = config(windows=[window("0 22 * * fri", "6h")])

        assert planner.app(SHUT, NODES, "2026-10-17T03:00:00Z", settings=late).kind == "OPEN"
        assert planner.app(SHUT, NODES, "2026-10-16T03:00:00Z", settings=late).kind == "HOLD"

    def test_a_start_in_the_spring_gap_moves_to_the_first_instant_that_exists(self, planner: Planner):
        berlin = config(windows=[window("30 2 * * *", "2h", "Europe/Berlin")])

        before = planner.app(SHUT, NODES, "2026-03-29T00:59:59Z", settings=berlin)
        after = planner.app(SHUT, NODES, "2026-03-29T01:00:00Z", settings=berlin)

        assert (before.kind, after.kind) == ("HOLD", "OPEN")
        assert after["currentWindow"]["end"] == "2026-03-29T03:00:00Z"

    def test_of_an_hour_that_comes_twice_in_autumn_the_first_counts_once(self, planner: Planner):
        berlin = config(windows=[window("30 2 * * *", "40m", "Europe/Berlin")])

        first = planner.app(SHUT, NODES, "2026-10-25T00:30:00Z", settings=berlin)
        second = planner.app(SHUT, NODES, "2026-10-25T01:30:00Z", settings=berlin)

        assert (first.kind, second.kind) == ("OPEN", "HOLD")

    def test_windows_that_touch_are_one_permission(self, planner: Planner):
        touching = config(windows=[window("0 2 * * sat", "1h", name="a"), window("0 3 * * sat", "1h", name="b")])

        assert planner.app(SHUT, NODES, "2026-10-17T02:55:00Z", settings=touching).kind == "OPEN"

    def test_a_roll_that_would_not_end_before_the_window_does_holds(self, planner: Planner):
        fits = planner.app(SHUT, NODES, "2026-10-17T04:40:00Z")
        late = planner.app(SHUT, NODES, "2026-10-17T04:40:01Z")

        assert fits.kind == "OPEN"
        assert (late.kind, late.codes) == ("HOLD", ["WILL_NOT_FIT"])

    def test_no_full_minute_before_the_end_holds_whatever_a_roll_takes(self, planner: Planner):
        quick = config(open={"expected_roll": "0m"})

        fits = planner.app(SHUT, NODES, "2026-10-17T04:59:30Z", settings=quick)
        late = planner.app(SHUT, NODES, "2026-10-17T04:59:31Z", settings=quick)

        assert fits.kind == "OPEN"
        assert fits.opened[-1]["schedule"] == "0 5 17 10 *"
        assert (late.kind, late.codes) == ("HOLD", ["WILL_NOT_FIT"])

    def test_an_opening_ends_with_its_timeout_or_with_the_window(self, planner: Planner):
        early = planner.app(SHUT, NODES, SATURDAY)
        late = planner.app(SHUT, NODES, "2026-10-17T04:50:00Z", settings=config(open={"expected_roll": "5m"}))

        assert early.annotation["revertBy"] == "2026-10-17T02:30:00Z"
        assert late.annotation["revertBy"] == "2026-10-17T05:00:00Z"

    @pytest.mark.parametrize(
        ("now", "guard"),
        [
            ("2026-10-17T02:10:00Z", "11 2 17 10 *"),
            ("2026-10-17T02:10:30Z", "11 2 17 10 *"),
            ("2026-10-17T02:10:31Z", "12 2 17 10 *"),
            ("2026-10-17T02:59:45Z", "1 3 17 10 *"),
        ],
    )
    def test_the_guard_is_the_first_full_minute_at_least_half_a_minute_ahead(
        self, planner: Planner, now: str, guard: str
    ):
        assert planner.app(SHUT, NODES, now).opened[-1]["schedule"] == guard


class TestNativeBlackoutAhead:
    """A scheduled zero beside the gate is the owner's blackout: nothing rolls into it."""

    def budgets(self, schedule: str) -> str:
        zero = f'{{nodes: "0", reasons: [Drifted], schedule: "{schedule}", duration: 2h}}'
        return f'[{{nodes: "0", reasons: [Drifted]}}, {zero}]'

    def test_a_roll_that_would_run_into_it_holds(self, planner: Planner):
        app = planner.app(self.budgets("29 2 * * *"), NODES)

        assert (app.kind, app.codes) == ("HOLD", ["WILL_NOT_FIT"])

    def test_an_opening_ends_before_it(self, planner: Planner):
        app = planner.app(self.budgets("25 2 * * *"), NODES, settings=config(open={"expected_roll": "10m"}))

        assert app.kind == "OPEN"
        assert app.annotation["revertBy"] == "2026-10-17T02:25:00Z"

    def test_one_that_starts_before_the_guard_is_a_blackout_now(self, planner: Planner):
        quick = config(open={"expected_roll": "0m"})
        app = planner.app(self.budgets("11 2 * * *"), NODES, "2026-10-17T02:10:40Z", settings=quick)

        assert app.kind == "HOLD"
        assert set(app.codes) <= {"NATIVE_BLACKOUT", "WILL_NOT_FIT"}


def blackout(start: str, end: str | None, **more: str) -> Json:
    span = {"name": "sale", "from": start, "timezone": "UTC", **more}
    return config(blackouts=[span if end is None else span | {"to": end}])


class TestBlackouts:
    @pytest.mark.parametrize(
        ("settings", "kind"),
        [
            (blackout("2026-10-17", "2026-10-17"), "HOLD"),
            (blackout("2026-10-10", "2026-10-17"), "HOLD"),
            (blackout("2026-10-10", "2026-10-16"), "OPEN"),
            (blackout("2026-10-18", "2026-10-20"), "OPEN"),
            (blackout("2026-10-10", None), "HOLD"),
            (blackout("2026-10-17T01:00", "2026-10-17T02:10"), "OPEN"),
            (blackout("2026-10-17T02:10", "2026-10-17T03:00"), "HOLD"),
            (blackout("2026-10-16", "2026-10-16", timezone="America/New_York"), "HOLD"),
        ],
    )
    def test_a_blackout_wins_and_dates_include_the_last_day(self, planner: Planner, settings: Json, kind: str):
        app = planner.app(SHUT, NODES, settings=settings)

        assert app.kind == kind
        assert app.codes == (["BLACKOUT"] if kind == "HOLD" else [])

    def test_it_says_until_when_and_whom_to_ask(self, planner: Planner):
        app = planner.app(SHUT, NODES, settings=blackout("2026-10-17", "2026-10-19", owner="shop", reason="the sale"))
        hold = app.reason("BLACKOUT")

        assert hold["until"] == "2026-10-20T00:00:00Z"
        assert "the sale" in hold["message"]
        assert "shop" in hold["remedy"]

    def test_outside_the_window_both_are_named(self, planner: Planner):
        app = planner.app(SHUT, NODES, THURSDAY, settings=blackout("2026-10-15", "2026-10-15"))

        assert app.codes == ["OUTSIDE_WINDOW", "BLACKOUT"]

    def test_a_roll_that_would_run_into_one_holds(self, planner: Planner):
        app = planner.app(SHUT, NODES, settings=blackout("2026-10-17T02:29", "2026-10-17T04:00"))

        assert app.codes == ["WILL_NOT_FIT"]

    def test_an_opening_ends_where_one_begins(self, planner: Planner):
        settings = blackout("2026-10-17T02:22", "2026-10-17T04:00") | {"open": {"expected_roll": "5m"}}

        assert planner.app(SHUT, NODES, settings=settings).annotation["revertBy"] == "2026-10-17T02:20:00Z"
        longer = settings | {"open": {"expected_roll": "5m", "open_timeout": "20m"}}
        assert planner.app(SHUT, NODES, settings=longer).annotation["revertBy"] == "2026-10-17T02:22:00Z"


class TestCalendars:
    SETTINGS = config(guards={"calendars": ["freeze-calendar"]})

    def asked(self, planner: Planner, calendars: list[Json] | None) -> list[str]:
        return planner.app(SHUT, NODES, settings=self.SETTINGS, seen=observed(calendars=calendars)).codes

    def test_an_open_calendar_holds_nothing(self, planner: Planner):
        assert self.asked(planner, [{"name": "freeze-calendar", "state": "OPEN"}]) == []

    def test_a_closed_one_is_a_blackout_until_its_next_transition(self, planner: Planner):
        calendar = {"name": "freeze-calendar", "state": "CLOSED", "nextTransition": "2026-10-19T00:00:00Z"}
        app = planner.app(SHUT, NODES, settings=self.SETTINGS, seen=observed(calendars=[calendar]))

        assert app.codes == ["BLACKOUT"]
        assert app.reason("BLACKOUT")["until"] == "2026-10-19T00:00:00Z"
        assert app.reason("BLACKOUT")["objects"] == ["calendar/freeze-calendar"]

    @pytest.mark.parametrize("calendars", [None, []])
    def test_one_that_nobody_read_is_unknown(self, planner: Planner, calendars: list[Json] | None):
        assert self.asked(planner, calendars) == ["UNKNOWN"]

    def test_one_that_could_not_be_read_is_unknown_whatever_stands_in_the_list(self, planner: Planner):
        errors = [{"resource": "calendars", "status": 403, "message": "AccessDenied", "name": "freeze-calendar"}]
        calendars = [{"name": "freeze-calendar", "state": "OPEN"}]
        app = planner.app(SHUT, NODES, settings=self.SETTINGS, seen=observed(calendars=calendars, errors=errors))

        assert app.codes == ["UNKNOWN"]

    def test_one_that_closes_before_a_roll_would_end_holds(self, planner: Planner):
        closing = [{"name": "freeze-calendar", "state": "OPEN", "nextTransition": "2026-10-17T02:20:00Z"}]

        assert self.asked(planner, closing) == ["WILL_NOT_FIT"]

    def test_calendars_that_nobody_asked_for_do_not_matter(self, planner: Planner):
        seen = observed(calendars=[{"name": "another", "state": "CLOSED"}])

        assert planner.app(SHUT, NODES, seen=seen).kind == "OPEN"


class TestMode:
    def test_plan_decides_as_if_it_acted(self, planner: Planner):
        assert planner.app(SHUT, NODES, settings=config(mode="observe")).kind == "OPEN"

    def test_observe_of_one_pool_makes_no_difference_to_a_plan(self, planner: Planner):
        settings = config(pools=[{"name": "app", "mode": "observe"}])

        assert planner.app(SHUT, NODES, settings=settings).kind == "OPEN"


class TestCounts:
    def test_a_window_whose_opening_is_used_holds(self, planner: Planner):
        app = planner.app(SHUT, NODES, "2026-10-17T04:00:00Z", seen=observed(counters=[{"windowKey": KEY, "taken": 1}]))

        assert app.codes == ["PER_WINDOW_REACHED"]

    def test_the_next_window_counts_anew(self, planner: Planner):
        seen = observed(counters=[{"windowKey": KEY, "taken": 1}])

        assert planner.app(SHUT, NODES, "2026-10-24T02:10:00Z", seen=seen).kind == "OPEN"

    def test_another_pools_count_is_its_own(self, planner: Planner):
        seen = observed(counters=[{"windowKey": KEY.replace("app/", "web/"), "taken": 1}])

        assert planner.app(SHUT, NODES, seen=seen).kind == "OPEN"

    @pytest.mark.parametrize(("limit", "kind"), [(1, "HOLD"), (2, "OPEN"), ("all", "OPEN")])
    def test_per_window_is_the_owners(self, planner: Planner, limit: object, kind: str):
        seen = observed(counters=[{"windowKey": KEY, "taken": 1}])
        settings = config(open={"per_window": limit})

        assert planner.app(SHUT, NODES, settings=settings, seen=seen).kind == kind

    def test_the_rolls_themselves_count_where_the_counter_is_lost(self, planner: Planner):
        done = roll("done", openedAt="2026-10-17T02:01:00Z", endedAt="2026-10-17T02:05:00Z", signAt=SATURDAY)
        app = planner.app(SHUT, NODES, "2026-10-17T04:00:00Z", seen=observed(rolls=[done]))

        assert app.codes == ["PER_WINDOW_REACHED"]

    def test_the_annotation_counts_where_the_ledger_is_lost(self, planner: Planner):
        tombstone = f'{{"deployment":"driftgate","id":"20261017T020100000Z-app","windowKey":"{KEY}","count":1}}'
        app = planner.app(SHUT, NODES, metadata={"annotations": {"driftgate.dev/roll": tombstone}})

        assert app.codes == ["PER_WINDOW_REACHED"]

    def test_a_tombstone_of_another_window_counts_nothing(self, planner: Planner):
        key = "app/sat/2026-10-10T02:00:00Z"
        tombstone = f'{{"deployment":"driftgate","id":"20261010T020100000Z-app","windowKey":"{key}","count":1}}'
        app = planner.app(SHUT, NODES, metadata={"annotations": {"driftgate.dev/roll": tombstone}})

        assert app.kind == "OPEN"

    def test_an_opening_that_took_nothing_gives_its_slot_back(self, planner: Planner):
        unused = roll("closed_unused", openedAt="2026-10-17T02:01:00Z", endedAt="2026-10-17T02:05:00Z")
        tombstone = f'{{"deployment":"driftgate","id":"20261017T021000000Z-app","windowKey":"{KEY}","count":1}}'
        app = planner.app(
            SHUT,
            NODES,
            seen=observed(rolls=[unused], counters=[{"windowKey": KEY, "taken": 0, "unused": 1}]),
            metadata={"annotations": {"driftgate.dev/roll": tombstone}},
        )

        assert app.kind == "OPEN"

    @pytest.mark.parametrize(("unused", "codes"), [(1, []), (2, ["UNUSED_OPENINGS"]), (3, ["UNUSED_OPENINGS"])])
    def test_two_vain_openings_are_enough_for_a_window(self, planner: Planner, unused: int, codes: list[str]):
        seen = observed(counters=[{"windowKey": KEY, "taken": 0, "unused": unused}])

        assert planner.app(SHUT, NODES, seen=seen, settings=config(open={"per_window": "all"})).codes == codes

    def test_vain_openings_need_a_person(self, planner: Planner):
        seen = observed(counters=[{"windowKey": KEY, "unused": 2}])

        assert planner.ask(pool(SHUT, NODES), seen=seen).exit_code == 1


class TestPauseBetween:
    DONE = roll(
        "done",
        openedAt="2026-10-17T02:05:00Z",
        signAt="2026-10-17T02:05:20Z",
        closedAt="2026-10-17T02:05:21Z",
        endedAt="2026-10-17T02:20:00Z",
        replacement="app-r1",
    )
    ALL = config(open={"per_window": "all"})

    @pytest.mark.parametrize(
        ("at", "codes"), [("2026-10-17T03:04:59Z", ["PAUSE_BETWEEN"]), ("2026-10-17T03:05:00Z", [])]
    )
    def test_the_pause_runs_from_the_end_of_a_roll_that_took_a_node(self, planner: Planner, at: str, codes: list[str]):
        assert planner.app(SHUT, NODES, at, settings=self.ALL, seen=observed(rolls=[self.DONE])).codes == codes

    def test_it_says_until_when(self, planner: Planner):
        app = planner.app(SHUT, NODES, "2026-10-17T02:30:00Z", settings=self.ALL, seen=observed(rolls=[self.DONE]))

        assert app.reason("PAUSE_BETWEEN")["until"] == "2026-10-17T03:05:00Z"

    def test_a_roll_that_took_nothing_owes_no_pause(self, planner: Planner):
        unused = roll(
            "closed_unused",
            openedAt="2026-10-17T02:01:00Z",
            guardAt="2026-10-17T02:09:00Z",
            endedAt="2026-10-17T02:09:30Z",
        )

        assert planner.app(SHUT, NODES, settings=self.ALL, seen=observed(rolls=[unused])).kind == "OPEN"

    def test_nothing_opens_before_the_last_guard_has_passed(self, planner: Planner):
        unused = roll(
            "closed_unused",
            openedAt="2026-10-17T02:01:00Z",
            guardAt="2026-10-17T02:11:00Z",
            endedAt="2026-10-17T02:09:30Z",
        )
        app = planner.app(SHUT, NODES, settings=self.ALL, seen=observed(rolls=[unused]))

        assert app.codes == ["PAUSE_BETWEEN"]
        assert app.reason("PAUSE_BETWEEN")["until"] == "2026-10-17T02:11:00Z"

    def test_another_pools_roll_owes_this_one_nothing(self, planner: Planner):
        other = self.DONE | {"pool": "web", "id": "20261017T020500000Z-web", "windowKey": "web/sat/x"}

        app = planner.app(SHUT, NODES, "2026-10-17T02:30:00Z", settings=self.ALL, seen=observed(rolls=[other]))

        assert app.kind == "OPEN"


class TestStops:
    def asked(self, planner: Planner, *stops: Json, **seen: object) -> list[str]:
        return planner.app(SHUT, NODES, seen=observed(stops=list(stops), **seen)).codes

    @pytest.mark.parametrize(
        ("stop", "codes"),
        [
            ({"cause": "pause", "ref": "ada"}, ["PAUSED"]),
            ({"cause": "pause", "ref": "ada", "scope": "fleet"}, ["PAUSED"]),
            ({"cause": "pause", "ref": "ada", "scope": "*"}, ["PAUSED"]),
            ({"cause": "pause", "ref": "ada", "scope": "demo"}, ["PAUSED"]),
            ({"cause": "pause", "ref": "ada", "scope": "demo/app"}, ["PAUSED"]),
            ({"cause": "pause", "ref": "ada", "scope": "*/app"}, ["PAUSED"]),
            ({"cause": "pause", "ref": "ada", "scope": {"cluster": "demo", "pool": "app"}}, ["PAUSED"]),
            ({"cause": "pause", "ref": "ada", "scope": "other"}, []),
            ({"cause": "pause", "ref": "ada", "scope": "demo/web"}, []),
            ({"cause": "pause", "ref": "ada", "cluster": "demo", "pool": "app"}, ["PAUSED"]),
            ({"cause": "pause", "ref": "ada", "cluster": "demo", "pool": "web"}, []),
            ({"cause": "pause", "ref": "ada", "until": "2026-10-17T02:10:00Z"}, []),
            ({"cause": "pause", "ref": "ada", "until": "2026-10-17T02:10:01Z"}, ["PAUSED"]),
            ({"cause": "roll", "ref": "r9", "scope": "demo/app"}, ["STOPPED"]),
            ({"cause": "alarm", "ref": "other-alarm", "scope": "demo"}, ["STOPPED"]),
            ({"cause": "alarm", "ref": "demo-5xx", "scope": "demo"}, []),
        ],
    )
    def test_a_stop_holds_what_it_covers_until_it_ends(self, planner: Planner, stop: Json, codes: list[str]):
        assert self.asked(planner, stop) == codes

    def test_a_scope_that_says_nothing_readable_is_refused_with_its_place(self, planner: Planner):
        answer = planner.ask(pool(SHUT, NODES), seen=observed(stops=[{"cause": "pause", "ref": "ada", "scope": 7}]))

        assert answer.exit_code == 2
        assert "stops[0].scope" in answer.errors

    def test_an_alarms_stop_stands_while_its_alarm_is_not_read_ok(self, planner: Planner):
        alarms = [{"name": "demo-5xx", "state": "ALARM"}]
        codes = self.asked(planner, {"cause": "alarm", "ref": "demo-5xx"}, alarms=alarms)

        assert codes == ["STOPPED", "ALARM"]

    def test_a_rolls_stop_ends_with_the_rolls_end(self, planner: Planner):
        ended = roll("closed_unused", id="r9", openedAt="2026-10-17T02:01:00Z", endedAt="2026-10-17T02:05:00Z")

        assert self.asked(planner, {"cause": "roll", "ref": "r9"}, rolls=[ended]) == []

    def test_the_annotation_pauses_its_pool(self, planner: Planner):
        app = planner.app(SHUT, NODES, metadata={"annotations": {"driftgate.dev/paused": "db migration"}})

        assert app.codes == ["PAUSED"]
        assert "db migration" in app.reason("PAUSED")["message"]

    def test_stops_that_nobody_read_are_not_none(self, planner: Planner):
        assert planner.app(SHUT, NODES, seen=observed(stops=None)).codes == ["UNKNOWN"]

    def test_stops_come_before_windows_and_alarms(self, planner: Planner):
        seen = observed(stops=[{"cause": "pause", "ref": "ada"}], alarms=[{"name": "demo-5xx", "state": "ALARM"}])
        app = planner.app(SHUT, NODES, THURSDAY, seen=seen)

        assert app.codes == ["PAUSED", "OUTSIDE_WINDOW", "ALARM"]


def test_the_next_saturday_is_the_next_window(planner: Planner):
    assert planner.app(SHUT, NODES)["nextWindow"]["start"] == NEXT_WINDOW
