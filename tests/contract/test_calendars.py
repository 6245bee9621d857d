"""What every source of Change Calendars tells; then what Systems Manager alone can tell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from driftgate.adapters.ssm_calendars import SsmCalendars
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError
from driftgate.domain.observation import CalendarObservation
from tests.factories import NOW
from tests.fakes.aws_faults import AwsFaults, refusal, timeout
from tests.fakes.ledgers import moto_session
from tests.fakes.pipeline import FakeCalendars
from tests.fakes.ssm_calendar_api import ChangeCalendarApi

CLOSES = datetime(2026, 10, 17, 5, 0, tzinfo=UTC)


@pytest.fixture
def aws():
    with moto_session() as session:
        yield session


@pytest.fixture
def api(aws):
    return ChangeCalendarApi(aws.client("ssm"), NOW)


@pytest.fixture
def calendars(aws, api):
    return SsmCalendars(aws)


@pytest.fixture(params=["fake", "ssm"])
def source(request):
    """A source with calendars that are in these states for ever."""
    if request.param == "fake":
        return FakeCalendars

    def stored(**states):
        for name, state in states.items():
            request.getfixturevalue("api").calendars[name] = [(NOW - timedelta(days=1), state)]
        return request.getfixturevalue("calendars")

    return stored


def test_there_is_one_answer_per_calendar_in_their_order(source):
    read = source(freeze="CLOSED", weekend="OPEN").read(["weekend", "freeze"])

    assert read == (
        CalendarObservation(name="weekend", state="OPEN"),
        CalendarObservation(name="freeze", state="CLOSED"),
    )


def test_no_names_are_no_calendars(source):
    assert source().read([]) == ()


def test_closed_calendar_does_not_close_another(api, calendars):
    api.calendars = {"a": [(NOW, "CLOSED")], "b": [(NOW, "OPEN")]}

    assert [calendar.state for calendar in calendars.read(["a", "b"])] == ["CLOSED", "OPEN"]


def test_next_transition_is_told_where_there_is_one(api, calendars):
    api.calendars = {"a": [(NOW, "OPEN"), (CLOSES, "CLOSED")]}

    assert calendars.read(["a"]) == (CalendarObservation(name="a", state="OPEN", next_transition=CLOSES),)


def test_state_at_a_moment_to_come_is_told_on_request(api, calendars):
    api.calendars = {"a": [(NOW, "OPEN"), (CLOSES, "CLOSED")]}

    assert [calendar.state for calendar in calendars.read(["a"], CLOSES)] == ["CLOSED"]
    assert [calendar.state for calendar in calendars.read(["a"], CLOSES - timedelta(seconds=1))] == ["OPEN"]


def test_calendar_that_does_not_exist_is_missing_and_never_open(api, calendars):
    api.calendars = {"a": [(NOW, "OPEN")]}

    assert [calendar.state for calendar in calendars.read(["renamed", "a"])] == ["MISSING", "OPEN"]


def test_denied_call_names_action_and_calendar(aws, api, calendars):
    AwsFaults(aws.client("ssm"), after=[refusal("AccessDeniedException")])
    api.calendars = {"a": [(NOW, "OPEN")]}

    with pytest.raises(AwsForbiddenError, match="ssm:GetCalendarState on a was denied") as caught:
        calendars.read(["a"])

    assert caught.value.action == "ssm:GetCalendarState"


@pytest.mark.parametrize("fault", [refusal("ThrottlingException"), refusal("UnsupportedCalendarException"), timeout()])
def test_calendar_that_cannot_be_told_is_unavailable_and_never_open(aws, api, calendars, fault):
    AwsFaults(aws.client("ssm"), after=[fault])
    api.calendars = {"a": [(NOW, "OPEN")]}

    with pytest.raises(AwsUnavailableError, match="ssm:GetCalendarState on a"):
        calendars.read(["a"])
