"""Schedules against a reading of their fields that steps from minute to minute."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given

from driftgate.domain.cron import CronSchedule
from tests.budget_strategies import five_fields, moments, written

MINUTE = timedelta(minutes=1)


def matches(fields, minute) -> bool:
    minutes, hours, days, months, weekdays = fields
    on_day = days is None or minute.day in days
    on_weekday = weekdays is None or minute.isoweekday() % 7 in weekdays
    in_day = on_day or on_weekday if days and weekdays else on_day and on_weekday
    return (
        (minutes is None or minute.minute in minutes)
        and (hours is None or minute.hour in hours)
        and (months is None or minute.month in months)
        and in_day
    )


@given(five_fields(), moments)
def test_a_minute_matches_if_its_fields_do(fields, moment):
    assert CronSchedule.parse(written(fields)).matches(moment) is matches(fields, moment)


@given(five_fields(), moments)
def test_no_minute_between_now_and_the_next_start_matches(fields, moment):
    schedule = CronSchedule.parse(written(fields))
    found = schedule.next(moment)
    first = moment.replace(second=0, microsecond=0) + MINUTE
    minutes = [first + offset * MINUTE for offset in range(3000)]

    expected = next((minute for minute in minutes if matches(fields, minute)), None)

    assert found == expected if expected else found is None or found > minutes[-1]


@given(five_fields(), moments)
def test_the_previous_start_is_the_last_one_before_the_next(fields, moment):
    schedule = CronSchedule.parse(written(fields))
    found = schedule.next(moment)
    if found is None:
        return

    previous = schedule.previous(found - MINUTE)

    assert schedule.previous(found) == found
    assert previous is None or (previous <= moment and schedule.next(previous) == found)
