"""Ledger records as JSON objects, complete and sparse."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftgate.domain.budget import Budget
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.ledger import FLEET, Approval, CounterRecord, ImageVerdict, LeaseRecord, Stop, StopCause
from driftgate.domain.observation import (
    AlarmObservation,
    AlarmTransition,
    CalendarObservation,
    ImageObservation,
    ParameterObservation,
    ReadError,
)
from driftgate.domain.observed_records import (
    alarm_from_object,
    alarm_to_object,
    calendar_from_object,
    calendar_to_object,
    image_from_object,
    image_to_object,
    parameter_from_object,
    parameter_to_object,
    read_error_from_object,
    read_error_to_object,
)
from driftgate.domain.records import (
    counter_from_object,
    counter_to_object,
    image_verdict_from_object,
    image_verdict_to_object,
    lease_from_object,
    lease_to_object,
    roll_from_object,
    roll_to_object,
    stop_from_object,
    stop_to_object,
)
from driftgate.domain.roll import Roll, RollState
from tests.factories import GATE, NOW, at, roll

PAIRS: dict[type, tuple[Any, Any]] = {
    Roll: (roll_to_object, roll_from_object),
    Stop: (stop_to_object, stop_from_object),
    LeaseRecord: (lease_to_object, lease_from_object),
    CounterRecord: (counter_to_object, counter_from_object),
    ImageVerdict: (image_verdict_to_object, image_verdict_from_object),
    AlarmObservation: (alarm_to_object, alarm_from_object),
    CalendarObservation: (calendar_to_object, calendar_from_object),
    ParameterObservation: (parameter_to_object, parameter_from_object),
    ImageObservation: (image_to_object, image_from_object),
    ReadError: (read_error_to_object, read_error_from_object),
}

words = st.text(min_size=1, max_size=8)
milliseconds = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
budgets = st.lists(
    st.builds(
        Budget,
        nodes=st.sampled_from(["0", "01", "10%"]),
        reasons=st.none() | st.lists(st.sampled_from(["Drifted", "Empty"]), unique=True).map(tuple),
        schedule=st.none() | words,
        duration=st.none() | words,
        unknown=st.just(()) | st.just((("grace", 5),)),
    ),
    max_size=3,
).map(tuple)
states = st.sampled_from(["OK", "ALARM", "INSUFFICIENT_DATA", "MISSING"])
TIMES = {datetime: milliseconds, datetime | None: st.none() | milliseconds}


NAMED: dict[type, dict[str, Any]] = {
    Roll: {"id": words, "pool": words, "baseline": budgets, "opened": budgets, "version": st.integers(0, 99)},
    LeaseRecord: {"holder": words, "token": st.integers(0, 99)},
    CounterRecord: {"window_key": words, "taken": st.integers(0, 99), "unused": st.integers(0, 99)},
    ImageVerdict: {"image": words, "pool": st.none() | words},
    Stop: {"cluster": words, "pool": st.none() | words},
    AlarmObservation: {
        "name": words,
        "state": states,
        "history": st.none() | st.lists(st.builds(AlarmTransition, at=milliseconds, state=states)).map(tuple),
    },
    CalendarObservation: {"name": words, "state": st.sampled_from(["OPEN", "CLOSED"])},
    ParameterObservation: {"name": words},
    ImageObservation: {"id": words},
    ReadError: {"resource": words, "status": st.integers(0, 599)},
}


@st.composite
def records(draw):
    """Any record; names that a record cannot do without are not empty."""
    kind = draw(st.sampled_from(list(PAIRS)))
    times = {name: TIMES[hint] for name, hint in get_type_hints(kind).items() if hint in TIMES}
    return draw(st.builds(kind, **times, **NAMED[kind]))


@settings(deadline=None)
@given(records())
def test_reading_what_was_written_gives_the_same_record(record):
    write, read = PAIRS[type(record)]

    assert read(write(record), strict=True) == record


class TestSparseRoll:
    def test_an_opened_roll_needs_only_what_a_person_would_write(self):
        found = roll_from_object(
            {
                "pool": "app",
                "openedAt": "2026-10-17T02:10:00Z",
                "revertBy": "2026-10-17T02:30:00Z",
                "baseline": [{"nodes": "0", "reasons": ["Drifted"]}],
                "opened": [{"nodes": "01", "reasons": ["Drifted"]}],
            },
            strict=True,
        )

        assert found == Roll(
            id="20261017T021000Z-app",
            cluster="",
            pool="app",
            state=RollState.OPENED,
            state_since=at("2026-10-17T02:10:00Z"),
            window_key="",
            baseline=(Budget(nodes="0", reasons=("Drifted",)),),
            opened=(Budget(nodes="01", reasons=("Drifted",)),),
            revert_by=at("2026-10-17T02:30:00Z"),
            opened_at=at("2026-10-17T02:10:00Z"),
        )

    def test_a_sign_without_a_state_means_in_flight(self):
        found = roll_from_object({"pool": "app", "openedAt": "2026-10-17T02:10:00Z", "signAt": "2026-10-17T02:10:20Z"})

        assert (found.state, found.state_since) == (RollState.IN_FLIGHT, at("2026-10-17T02:10:20Z"))

    def test_a_closed_roll_must_say_its_state(self):
        with pytest.raises(InvalidInputError, match="state is missing"):
            roll_from_object({"pool": "app", "openedAt": "2026-10-17T02:10:00Z", "closedAt": "2026-10-17T02:11:00Z"})

    def test_an_open_gate_without_its_baseline_is_refused(self):
        with pytest.raises(InvalidInputError, match="baseline is missing"):
            roll_from_object({"pool": "app", "openedAt": "2026-10-17T02:10:00Z"})

    def test_a_finished_roll_needs_no_baseline(self):
        found = roll_from_object({"pool": "app", "state": "done", "endedAt": "2026-10-17T02:10:00Z"})

        assert found.is_finished

    def test_a_state_without_any_time_is_refused(self):
        with pytest.raises(InvalidInputError, match="stateSince is missing"):
            roll_from_object({"pool": "app", "state": "done"})

    def test_the_state_may_be_written_in_capitals(self):
        found = roll_from_object({"pool": "app", "state": "DONE", "endedAt": "2026-10-17T02:10:00Z"})

        assert found.state is RollState.DONE


class TestFaults:
    def fault(self, entry, **options):
        with pytest.raises(InvalidInputError) as caught:
            roll_from_object(entry, "snapshot.yaml: rolls[0]", **options)
        return str(caught.value)

    def test_an_unknown_field_is_refused_with_the_nearest_known_one(self):
        entry = roll_to_object(roll()) | {"openAt": "2026-10-17T02:10:00Z"}

        assert self.fault(entry, strict=True) == (
            "snapshot.yaml: rolls[0]: unknown field openAt · Did you mean openedAt?"
        )

    def test_a_field_unlike_any_other_is_refused_with_the_known_ones(self):
        assert "Known here: pool, " in self.fault(roll_to_object(roll()) | {"zzz": 1}, strict=True)

    def test_a_ledger_may_hold_fields_of_a_newer_version(self):
        assert roll_from_object(roll_to_object(roll()) | {"fromTheFuture": 1}) == roll()

    def test_a_time_without_a_zone_is_refused_with_its_place(self):
        assert self.fault({"pool": "app", "openedAt": "2026-10-17T02:10:00"}) == (
            "snapshot.yaml: rolls[0].openedAt: should be a time with a zone, not '2026-10-17T02:10:00' · "
            "Write it like 2026-10-17T02:10:00Z."
        )

    def test_a_misspelt_state_is_refused_with_the_nearest_one(self):
        assert "Did you mean opened?" in self.fault({"pool": "app", "state": "opend", "openedAt": "2026-10-17T02:10Z"})

    def test_a_number_in_a_budget_is_refused_with_its_place(self):
        entry = {"pool": "app", "openedAt": "2026-10-17T02:10:00Z", "baseline": [{"nodes": 0}]}

        assert "rolls[0].baseline[0].nodes" in self.fault(entry)

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            ("app", "should be an object, not 'app'"),
            ({}, "pool is missing"),
            ({"pool": 5}, "should be text, not 5"),
            ({"pool": "app", "openedAt": {}}, "should be a time with a zone, not an object"),
            ({"pool": "app", "state": "done", "endedAt": "2026-10-17T02:10Z", "claimsAtOpen": "a"}, "should be a list"),
            ({"pool": "app", "state": "done", "endedAt": "2026-10-17T02:10Z", "claimsAtOpen": [1]}, "should be text"),
            ({"pool": "app", "state": "done", "endedAt": "2026-10-17T02:10Z", "version": "1"}, "a whole number"),
            ({"pool": "app", "state": "done", "endedAt": "2026-10-17T02:10Z", "version": -1}, "should be 0 or more"),
        ],
    )
    def test_a_value_of_another_type_is_refused(self, entry, message):
        assert message in self.fault(entry)

    def test_a_flag_must_be_one(self):
        with pytest.raises(InvalidInputError, match="should be true or false, not 'yes'"):
            alarm_from_object({"name": "demo", "state": "OK", "muted": "yes"})

    @pytest.mark.parametrize(
        ("read", "entry", "missing"),
        [
            (alarm_from_object, {"name": "demo"}, "state"),
            (alarm_from_object, {"name": "demo", "state": "OK", "history": [{"state": "OK"}]}, "at"),
            (image_verdict_from_object, {"image": "ami-1"}, "verdict"),
            (lease_from_object, {"holder": "w"}, "expiresAt"),
            (counter_from_object, {}, "windowKey"),
        ],
    )
    def test_what_a_record_cannot_do_without_is_asked_for(self, read, entry, missing):
        with pytest.raises(InvalidInputError, match=f"{missing} is missing"):
            read(entry)


class TestWhatIsLeftOut:
    def test_a_stop_without_scope_covers_the_fleet_and_is_a_pause(self):
        assert stop_from_object({"ref": "ada"}) == Stop(cause=StopCause.PAUSE, ref="ada", cluster=FLEET)

    def test_an_empty_baseline_stays_an_empty_list(self):
        assert roll_to_object(roll(baseline=()))["baseline"] == []

    def test_what_is_not_known_is_not_written(self):
        shown = roll_to_object(roll(node="", closed_at=None))

        assert "node" not in shown
        assert "closedAt" not in shown

    def test_an_empty_history_is_not_an_unknown_one(self):
        alarm = AlarmObservation(name="demo", state="OK", history=())

        assert alarm_to_object(alarm)["history"] == []

    def test_a_verdict_may_be_written_in_small_letters(self):
        assert image_verdict_from_object({"image": "ami-1", "verdict": "suspect"}).verdict is Approval.SUSPECT

    def test_a_lease_without_its_beginning_begins_at_its_end(self):
        found = lease_from_object({"holder": "w", "expiresAt": "2026-10-17T02:10:00Z"})

        assert found.acquired_at == NOW


def test_a_rolls_record_is_written_in_camel_case():
    shown = roll_to_object(roll(claims_at_open=("app-a1",), guard_at=NOW + timedelta(minutes=1)))

    assert shown["stateSince"] == "2026-10-17T02:10:00Z"
    assert shown["guardAt"] == "2026-10-17T02:11:00Z"
    assert shown["claimsAtOpen"] == ["app-a1"]
    assert shown["baseline"] == [budget.to_object() for budget in GATE]
