from __future__ import annotations

import pytest

from driftgate.domain.cron import CronSchedule
from driftgate.domain.errors import CronError
from tests.factories import at


def hits(text: str, after: str, count: int) -> list[str]:
    schedule, found, moment = CronSchedule.parse(text), [], at(after)
    for _ in range(count):
        moment = schedule.next(moment) or at("9999-12-31T00:00:00Z")
        found.append(moment.strftime("%Y-%m-%dT%H:%M"))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 2 * * sat", ["2026-10-17T02:00", "2026-10-24T02:00"]),
        ("0 2 * * SAT", ["2026-10-17T02:00", "2026-10-24T02:00"]),
        ("0 2 ? * 6", ["2026-10-17T02:00", "2026-10-24T02:00"]),
        ("*/20 12 * * *", ["2026-10-15T12:20", "2026-10-15T12:40"]),
        ("50/4 * * * *", ["2026-10-15T12:50", "2026-10-15T12:54"]),
        ("0 22-23 * * *", ["2026-10-15T22:00", "2026-10-15T23:00"]),
        ("0 8-18/5 * * *", ["2026-10-15T13:00", "2026-10-15T18:00"]),
        ("5,10 0 1 jan,JUL *", ["2027-01-01T00:05", "2027-01-01T00:10"]),
        ("0 0 31 * *", ["2026-10-31T00:00", "2026-12-31T00:00"]),
        ("59 23 31 12 *", ["2026-12-31T23:59", "2027-12-31T23:59"]),
        ("0 0 29 2 *", ["2028-02-29T00:00", "2032-02-29T00:00"]),
        ("+5 002 * * *", ["2026-10-16T02:05", "2026-10-17T02:05"]),
        (" 0  2\t*  * sat ", ["2026-10-17T02:00", "2026-10-24T02:00"]),
        ("0\u00a02 * * sat", ["2026-10-17T02:00", "2026-10-24T02:00"]),
        ("*-59 12 * * *", ["2026-10-15T12:01", "2026-10-15T12:02"]),
        (",,7,, * * * *", ["2026-10-15T12:07", "2026-10-15T13:07"]),
        ("*/9223372036854775807 1 * * *", ["2026-10-16T01:00", "2026-10-17T01:00"]),
    ],
)
def test_a_schedule_starts_where_karpenters_cron_has_it(text, expected):
    assert hits(text, "2026-10-15T12:00:00Z", 2) == expected


@pytest.mark.parametrize(
    ("macro", "expected"),
    [
        ("@yearly", "2027-01-01T00:00"),
        ("@annually", "2027-01-01T00:00"),
        ("@monthly", "2026-11-01T00:00"),
        ("@weekly", "2026-10-18T00:00"),
        ("@daily", "2026-10-16T00:00"),
        ("@midnight", "2026-10-16T00:00"),
        ("@hourly", "2026-10-15T13:00"),
        ("  @daily   ", "2026-10-16T00:00"),
    ],
)
def test_each_macro_has_its_meaning(macro, expected):
    assert hits(macro, "2026-10-15T12:00:00Z", 1) == [expected]


def test_day_of_month_and_day_of_week_are_joined_by_or_when_both_are_restricted():
    assert hits("0 0 13 * fri", "2026-10-15T12:00:00Z", 3) == [
        "2026-10-16T00:00",
        "2026-10-23T00:00",
        "2026-10-30T00:00",
    ]


def test_a_star_with_a_step_above_one_counts_as_a_restriction():
    assert hits("0 0 */2 * mon", "2026-10-15T12:00:00Z", 3) == [
        "2026-10-17T00:00",
        "2026-10-19T00:00",
        "2026-10-21T00:00",
    ]


def test_a_star_with_step_one_stays_a_star():
    assert hits("0 0 */1 * mon", "2026-10-15T12:00:00Z", 2) == ["2026-10-19T00:00", "2026-10-26T00:00"]


def test_a_start_is_strictly_after_the_moment_asked_about():
    schedule = CronSchedule.parse("0 2 * * *")

    assert schedule.next(at("2026-10-15T01:59:59.999Z")) == at("2026-10-15T02:00:00Z")
    assert schedule.next(at("2026-10-15T02:00:00Z")) == at("2026-10-16T02:00:00Z")
    assert schedule.next(at("2026-10-15T02:00:00.500Z")) == at("2026-10-16T02:00:00Z")


@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 31 4,6,9,11 *", ", * * * *", "* , * * *", "* * , * *"])
def test_a_date_that_never_comes_has_no_next_and_no_previous_start(text):
    schedule = CronSchedule.parse(text)

    assert schedule.next(at("2026-10-15T12:00:00Z")) is None
    assert schedule.previous(at("2026-10-15T12:00:00Z")) is None


def test_the_search_ends_with_the_fifth_year_to_come():
    schedule = CronSchedule.parse("0 0 29 2 *")

    assert schedule.next(at("2098-12-31T23:59:58Z")) is None
    assert schedule.next(at("2098-12-31T23:59:59Z")) == at("2104-02-29T00:00:00Z")


def test_the_previous_start_is_at_or_before_the_moment():
    schedule = CronSchedule.parse("0 2 * * sat")

    assert schedule.previous(at("2026-10-17T02:00:00Z")) == at("2026-10-17T02:00:00Z")
    assert schedule.previous(at("2026-10-17T01:59:59Z")) == at("2026-10-10T02:00:00Z")
    assert CronSchedule.parse("0 0 29 2 *").previous(at("2104-02-28T00:00:00Z")) == at("2096-02-29T00:00:00Z")


def test_a_minute_of_the_wall_clock_matches_or_not():
    schedule = CronSchedule.parse("0 2 * * sat")

    assert schedule.matches(at("2026-10-17T02:00:30Z").replace(tzinfo=None))
    assert not schedule.matches(at("2026-10-17T02:01:00Z").replace(tzinfo=None))
    assert not schedule.matches(at("2026-10-16T02:00:00Z").replace(tzinfo=None))


def test_every_counts_from_the_moment_asked_about_in_whole_seconds():
    assert CronSchedule.parse("@every 1h30m").next(at("2026-10-15T12:00:00.750Z")) == at("2026-10-15T13:30:00Z")
    assert CronSchedule.parse("@every 0.2s").next(at("2026-10-15T12:00:00Z")) == at("2026-10-15T12:00:01Z")
    assert CronSchedule.parse("@every 90.7s").next(at("2026-10-15T12:00:00Z")) == at("2026-10-15T12:01:30Z")


def test_the_time_is_that_of_utc_whatever_zone_the_moment_has():
    assert hits("0 2 * * *", "2026-10-15T23:30:00-04:00", 1) == ["2026-10-17T02:00"]


def test_all_whole_minutes_of_a_day_can_match():
    assert CronSchedule.parse("* * * * *").minutes_of_day == (1 << 1440) - 1


@pytest.mark.parametrize(
    ("text", "field", "position", "suggestion"),
    [
        ("0 0 * * sat-sun", "day of week", 8, "sat,sun"),
        ("0 2 * * fri-mon", "day of week", 8, "fri-sat,sun-mon"),
        ("0 2 * * 7", "day of week", 8, "0"),
        ("0 2 * * 1,7", "day of week", 10, "0"),
        ("0 2 * * 1-7", "day of week", 8, "1-6,0"),
        ("0 2 * * monday", "day of week", 8, "mon"),
        ("0 2 * * MON#1", "day of week", 8, ""),
        ("60 2 * * *", "minute", 0, "0"),
        ("61 2 * * *", "minute", 0, ""),
        ("0 24 * * *", "hour", 2, "0"),
        ("0 22-4 * * *", "hour", 2, "22-23,0-4"),
        ("0 22-4/2 * * *", "hour", 2, "22,0,2,4"),
        ("0 2 0 * *", "day of month", 4, ""),
        ("0 2 5-0 * *", "day of month", 4, ""),
        ("0 2 L * *", "day of month", 4, ""),
        ("0 2 1W * *", "day of month", 4, ""),
        ("0 2 * 13 *", "month", 6, ""),
        ("0 2 * nov-feb *", "month", 6, "nov-dec,jan-feb"),
        ("0 2 * january *", "month", 6, "jan"),
        ("0 2 * sun *", "month", 6, ""),
        ("  0   2 * * sat-sun", "day of week", 12, "sat,sun"),
        ("*/0 * * * *", "minute", 0, "*"),
        ("1/2/3 * * * *", "minute", 0, ""),
        ("1-2-3 * * * *", "minute", 0, ""),
        ("-5 * * * *", "minute", 0, ""),
        ("5- * * * *", "minute", 0, ""),
        ("*/-5 * * * *", "minute", 0, ""),
        ("*/9223372036854775808 * * * *", "minute", 0, ""),
        ("0 0 2 * * *", "", 0, "0 2 * * *"),
        ("30 0 2 * * *", "", 0, ""),
        ("TZ=Asia/Tokyo 0 2 * * *", "", 0, "0 2 * * *"),
        ("CRON_TZ=UTC 0 2 * * *", "", 0, "0 2 * * *"),
        ("TZ=UTC 0 2 * *", "minute", 0, ""),
        ("0 2 * *", "", 0, ""),
        ("", "", 0, ""),
        ("@dailyfoo", "", 0, "@daily"),
        ("@Daily", "", 0, "@daily"),
        ("@reboot", "", 0, ""),
        ("@every 1d", "", 7, ""),
        ("@every  1h", "", 7, ""),
        ("0 2 * * \x1c", "day of week", 8, ""),
        ("0\x1c2 * * * *", "minute", 0, ""),
    ],
)
def test_a_fault_has_its_field_its_position_and_what_to_write(text, field, position, suggestion):
    with pytest.raises(CronError) as caught:
        CronSchedule.parse(text)

    assert (caught.value.field, caught.value.position, caught.value.suggestion) == (field, position, suggestion)


@pytest.mark.parametrize(
    "text", ["sat,sun", "fri-sat,sun-mon", "0", "1-6,0", "mon", "22-23,0-4", "22,0,2,4", "nov-dec,jan-feb", "jan"]
)
def test_what_is_suggested_is_itself_valid(text):
    fields = {"m": f"0 2 * {text} *", "h": f"0 {text} * * *", "d": f"0 2 * * {text}"}
    kind = "m" if text[:3] in ("nov", "jan") else "h" if text.startswith("22") else "d"

    assert CronSchedule.parse(fields[kind]).next(at("2026-10-15T12:00:00Z")) is not None


def test_the_message_says_where_why_and_what_to_write():
    with pytest.raises(CronError) as caught:
        CronSchedule.parse("0 0 * * sat-sun")

    assert str(caught.value) == (
        "day of week, character 9: 'sat-sun' runs backwards (6 to 0) · Write 'sat,sun' instead."
    )
