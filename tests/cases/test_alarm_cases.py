"""T24: what a guarding alarm says, and what an unread one says."""

from __future__ import annotations

import pytest

from tests.cases.expand import SHUT, Json, Planner, config, drifted, fill, observed, pool

NODES = fill(6, *drifted("a1 a2"))


def alarm(state: str, name: str = "demo-5xx", **more: object) -> Json:
    return {"name": name, "state": state, **more}


def asked(planner: Planner, *alarms: Json, settings: Json | None = None, **seen: object) -> list[str]:
    return planner.app(SHUT, NODES, seen=observed(alarms=list(alarms), **seen), settings=settings).codes


class TestT24:
    @pytest.mark.parametrize(
        ("state", "codes"),
        [
            ("OK", []),
            ("ALARM", ["ALARM"]),
            ("INSUFFICIENT_DATA", ["INSUFFICIENT_DATA"]),
            ("MISSING", ["ALARM_MISSING"]),
        ],
    )
    def test_only_ok_lets_a_gate_open(self, planner: Planner, state: str, codes: list[str]):
        assert asked(planner, alarm(state)) == codes

    def test_a_hold_names_the_alarm(self, planner: Planner):
        app = planner.app(SHUT, NODES, seen=observed(alarms=[alarm("ALARM")]))

        assert app["verdict"] == "TRAPPED"
        assert app.reason("ALARM")["objects"] == ["alarm/demo-5xx"]

    def test_an_alarm_that_is_not_in_the_list_does_not_exist(self, planner: Planner):
        assert asked(planner, alarm("OK", "renamed")) == ["ALARM_MISSING"]

    def test_an_alarm_that_does_not_exist_needs_a_person(self, planner: Planner):
        assert planner.ask(pool(SHUT, NODES), seen=observed(alarms=[])).exit_code == 1

    def test_this_alarm_may_be_allowed_to_lack_data(self, planner: Planner):
        one = config(guards={"alarms": [{"name": "demo-5xx", "insufficient_data": "allow"}]})

        assert asked(planner, alarm("INSUFFICIENT_DATA"), settings=one) == []

    def test_another_alarm_is_not_allowed_by_that(self, planner: Planner):
        two = config(guards={"alarms": [{"name": "demo-5xx", "insufficient_data": "allow"}, "latency"]})
        found = asked(planner, alarm("INSUFFICIENT_DATA"), alarm("INSUFFICIENT_DATA", "latency"), settings=two)

        assert found == ["INSUFFICIENT_DATA"]

    def test_all_alarms_may_be_allowed_but_for_one(self, planner: Planner):
        settings = config(
            guards={"insufficient_data": "allow", "alarms": ["demo-5xx", {"name": "p99", "insufficient_data": "hold"}]}
        )
        seen = observed(alarms=[alarm("INSUFFICIENT_DATA"), alarm("INSUFFICIENT_DATA", "p99")])
        app = planner.app(SHUT, NODES, settings=settings, seen=seen)

        assert app.codes == ["INSUFFICIENT_DATA"]
        assert app.reason("INSUFFICIENT_DATA")["objects"] == ["alarm/p99"]

    def test_one_that_allows_missing_data_still_holds_in_alarm_and_when_it_is_gone(self, planner: Planner):
        one = config(guards={"alarms": [{"name": "demo-5xx", "insufficient_data": "allow"}]})

        assert asked(planner, alarm("ALARM"), settings=one) == ["ALARM"]
        assert asked(planner, settings=one) == ["ALARM_MISSING"]

    @pytest.mark.parametrize("status", [403, 0, 429])
    def test_alarms_that_could_not_be_read_are_unknown(self, planner: Planner, status: int):
        errors = [{"resource": "alarms", "status": status, "message": "AccessDenied"}]
        answer = planner.ask(pool(SHUT, NODES), seen=observed(alarms=None, errors=errors))

        assert answer.pool().verdict_and_action == ("TRAPPED", "HOLD", ["UNKNOWN"])
        assert "AccessDenied" in answer.pool().reason("UNKNOWN")["message"]
        assert answer.exit_code == 3

    def test_an_error_counts_more_than_a_list_that_looks_complete(self, planner: Planner):
        errors = [{"resource": "alarms", "status": 429, "message": "Throttling"}]

        assert asked(planner, alarm("OK"), errors=errors) == ["UNKNOWN"]

    def test_an_error_about_one_alarm_leaves_the_others_known(self, planner: Planner):
        two = config(guards={"alarms": ["demo-5xx", "p99"]})
        errors = [{"resource": "alarms", "status": 403, "name": "p99"}]
        seen = observed(alarms=[alarm("OK"), alarm("OK", "p99")], errors=errors)
        app = planner.app(SHUT, NODES, settings=two, seen=seen)

        assert app.codes == ["UNKNOWN"]
        assert app.reason("UNKNOWN")["objects"] == ["alarm/p99"]

    def test_alarms_that_nobody_read_are_unknown(self, planner: Planner):
        app = planner.app(SHUT, NODES, seen=observed(alarms=None))

        assert app.codes == ["UNKNOWN"]

    def test_a_composite_alarm_counts_whatever_its_children_say(self, planner: Planner):
        settings = config(guards={"alarms": ["everything"]})

        assert asked(planner, alarm("ALARM", "everything"), alarm("OK", "child"), settings=settings) == ["ALARM"]

    def test_disabled_actions_are_told_and_hold_nothing(self, planner: Planner):
        app = planner.app(SHUT, NODES, seen=observed(alarms=[alarm("OK", actionsEnabled=False)]))

        assert (app.kind, app.alerts) == ("OPEN", ["ALARM_ACTIONS_DISABLED"])

    def test_disabled_actions_do_not_hide_an_alarm(self, planner: Planner):
        assert asked(planner, alarm("ALARM", actionsEnabled=False)) == ["ALARM"]

    def test_a_muted_alarm_holds_only_while_it_is_in_alarm(self, planner: Planner):
        fine = planner.app(SHUT, NODES, seen=observed(alarms=[alarm("OK", muted=True)]))

        assert (fine.kind, fine.alerts) == ("OPEN", ["ALARM_MUTED"])
        assert asked(planner, alarm("ALARM", muted=True)) == ["ALARM", "ALARM_MUTED"]

    def test_no_alarms_configured_holds(self, planner: Planner):
        settings = config(guards={"alarms": None})
        settings["guards"].pop("alarms")
        answer = planner.ask(pool(SHUT, NODES), settings=settings)

        assert answer.pool().codes == ["NO_ALARMS_CONFIGURED"]
        assert answer.exit_code == 1

    def test_an_empty_list_says_no_more_than_none_at_all(self, planner: Planner):
        assert asked(planner, settings=config(guards={"alarms": []})) == ["NO_ALARMS_CONFIGURED"]

    def test_none_written_on_purpose_opens(self, planner: Planner):
        assert asked(planner, settings=config(guards={"alarms": "none"})) == []

    def test_none_on_purpose_needs_no_reading(self, planner: Planner):
        seen = observed(alarms=None, errors=[{"resource": "alarms", "status": 403}])

        assert planner.app(SHUT, NODES, seen=seen, settings=config(guards={"alarms": "none"})).kind == "OPEN"

    def test_a_pool_may_have_guards_of_its_own(self, planner: Planner):
        settings = config(pools=[{"name": "app", "guards": {"alarms": ["app-errors"]}}])

        assert asked(planner, alarm("ALARM"), alarm("OK", "app-errors"), settings=settings) == []

    def test_every_alarm_that_speaks_against_it_is_named(self, planner: Planner):
        settings = config(guards={"alarms": ["one", "two", "three"]})
        found = asked(planner, alarm("ALARM", "one"), alarm("OK", "two"), settings=settings)

        assert found == ["ALARM", "ALARM_MISSING"]


class TestFlapping:
    def history(self, *times: str) -> Json:
        changes = [{"at": at, "state": "ALARM" if index % 2 == 0 else "OK"} for index, at in enumerate(times)]
        return alarm("OK", history=changes)

    def test_three_changes_in_six_hours_are_too_many(self, planner: Planner):
        seen = observed(alarms=[self.history("2026-10-16T21:00:00Z", "2026-10-16T22:00:00Z", "2026-10-17T01:00:00Z")])
        app = planner.app(SHUT, NODES, seen=seen)

        assert app.codes == ["ALARM_FLAPPING"]
        assert app.reason("ALARM_FLAPPING")["until"] == "2026-10-17T03:00:00Z"

    @pytest.mark.parametrize(
        "times",
        [
            ("2026-10-16T21:00:00Z", "2026-10-16T22:00:00Z"),
            ("2026-10-16T20:10:00Z", "2026-10-16T22:00:00Z", "2026-10-17T01:00:00Z"),
        ],
    )
    def test_fewer_or_older_changes_are_not(self, planner: Planner, times: tuple[str, ...]):
        assert asked(planner, self.history(*times)) == []

    def test_what_flapping_means_is_the_owners(self, planner: Planner):
        settings = config(guards={"flapping": {"transitions": 2, "within": "1h"}})

        assert asked(planner, self.history("2026-10-17T01:30:00Z", "2026-10-17T02:00:00Z"), settings=settings) == [
            "ALARM_FLAPPING"
        ]
        assert asked(planner, self.history("2026-10-17T01:10:00Z", "2026-10-17T02:00:00Z"), settings=settings) == []
