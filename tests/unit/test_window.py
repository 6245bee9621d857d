from datetime import timedelta

import pytest

from driftgate.domain.window import MaintenanceWindow, current_window, next_window, upcoming, window_key
from tests.factories import SATURDAY, at, interval


def window(cron: str, hours: float, timezone: str = "UTC", name: str = "w") -> MaintenanceWindow:
    return MaintenanceWindow(name=name, timezone=timezone, cron=cron, duration=timedelta(hours=hours))


FRIDAY_NIGHT = window("0 22 * * fri", 3, "America/New_York", "fri-night")
SUMMER_TIME_NIGHT = interval("2026-10-17T02:00:00Z", "2026-10-17T05:00:00Z", "fri-night")
WINTER_TIME_NIGHT = interval("2026-11-07T03:00:00Z", "2026-11-07T06:00:00Z", "fri-night")


@pytest.mark.parametrize(
    ("now", "current"),
    [
        ("2026-10-16T22:30:00Z", None),
        ("2026-10-17T02:30:00Z", SUMMER_TIME_NIGHT),
        ("2026-10-17T05:00:00Z", None),
        ("2026-11-07T02:30:00Z", None),
        ("2026-11-07T03:30:00Z", WINTER_TIME_NIGHT),
    ],
)
def test_t10_local_friday_night_is_saturday_in_utc_and_follows_the_clock(now, current):
    assert current_window([FRIDAY_NIGHT], at(now)) == current


@pytest.mark.parametrize(
    ("now", "is_open"),
    [
        ("2026-10-17T01:59:59.999999Z", False),
        ("2026-10-17T02:00:00Z", True),
        ("2026-10-17T04:59:59.999999Z", True),
        ("2026-10-17T05:00:00Z", False),
    ],
)
def test_start_is_inside_and_end_is_outside(now, is_open):
    assert (current_window([SATURDAY], at(now)) is not None) is is_open


def test_window_over_midnight_belongs_to_the_day_it_starts_on():
    saturday_night = window("0 22 * * sat", 6, "Europe/Berlin")

    assert current_window([saturday_night], at("2026-10-18T01:59:00Z")) is not None  # Sunday 03:59
    assert current_window([saturday_night], at("2026-10-17T01:59:00Z")) is None  # Saturday 03:59


@pytest.mark.parametrize(
    ("zone", "cron", "now", "start"),
    [
        ("Asia/Kathmandu", "0 2 * * sat", "2026-10-16T20:30:00Z", "2026-10-16T20:15:00Z"),
        ("Asia/Tokyo", "0 2 * * sat", "2026-10-16T17:30:00Z", "2026-10-16T17:00:00Z"),
        ("Pacific/Kiritimati", "0 2 * * sat", "2026-10-16T12:30:00Z", "2026-10-16T12:00:00Z"),
        ("America/St_Johns", "0 2 * * sat", "2026-10-17T04:40:00Z", "2026-10-17T04:30:00Z"),
    ],
)
def test_zone_with_an_odd_or_fixed_offset_is_read_in_its_own_time(zone, cron, now, start):
    current = current_window([window(cron, 1, zone)], at(now))

    assert current is not None
    assert current.start == at(start)


# --- clock changes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "cron", "start"),
    [
        ("Europe/Berlin", "30 2 * * sun", "2026-03-29T01:00:00Z"),
        ("America/New_York", "30 2 * * sun", "2026-03-08T07:00:00Z"),
        ("Australia/Lord_Howe", "15 2 * * sun", "2026-10-03T15:30:00Z"),
        ("America/Havana", "0 0 * * sun", "2027-03-14T05:00:00Z"),  # midnight itself is left out
        ("America/Nuuk", "30 23 * * sat", "2027-03-28T01:00:00Z"),  # the gap ends on Sunday, the start is Saturday's
    ],
)
def test_start_in_the_spring_gap_moves_to_the_first_existing_instant(zone, cron, start):
    one_hour = window(cron, 1, zone)
    end = at(start) + timedelta(hours=1)

    assert current_window([one_hour], at(start) - timedelta(minutes=1)) is None
    assert current_window([one_hour], at(start)) == current_window([one_hour], end - timedelta(minutes=1))
    assert current_window([one_hour], end) is None


def test_two_starts_in_one_spring_gap_are_one_interval():
    twice = window("15,45 2 * * *", 0.25, "Europe/Berlin")

    assert upcoming([twice], at("2026-03-29T00:00:00Z"), at("2026-03-29T12:00:00Z")) == (
        interval("2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z", "w"),
    )


@pytest.mark.parametrize(
    ("zone", "cron", "first", "second"),
    [
        ("Europe/Berlin", "30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
        ("Australia/Lord_Howe", "45 1 * * *", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"),
    ],
)
def test_repeated_start_in_autumn_counts_the_first_time_only(zone, cron, first, second):
    quarter = window(cron, 0.25, zone)

    assert current_window([quarter], at(first)) == interval(first, (at(first) + timedelta(minutes=15)).isoformat(), "w")
    assert current_window([quarter], at(second)) is None
    following = next_window([quarter], at(first))
    assert following is not None
    assert following.start > at(second)


def test_start_later_in_the_repeated_hour_is_still_found_when_the_clock_was_set_back():
    late_in_the_hour = window("50 2 * * *", 2, "Europe/Berlin")

    current = current_window([late_in_the_hour], at("2026-10-25T01:10:00Z"))  # the wall shows 02:10 again

    assert current == interval("2026-10-25T00:50:00Z", "2026-10-25T02:50:00Z", "w")


@pytest.mark.parametrize(
    ("now", "span"),
    [
        ("2026-03-29T02:30:00Z", interval("2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z", "w")),  # 01:00 to 05:00
        ("2026-10-25T00:30:00Z", interval("2026-10-24T23:00:00Z", "2026-10-25T02:00:00Z", "w")),  # 01:00 to 03:00
    ],
)
def test_duration_is_elapsed_time_across_a_clock_change(now, span):
    assert current_window([window("0 1 * * sun", 3, "Europe/Berlin")], at(now)) == span


def test_daily_window_of_a_day_leaves_the_extra_hour_of_autumn_closed():
    all_day = window("0 0 * * *", 24, "Europe/Berlin")

    assert current_window([all_day], at("2026-10-25T22:30:00Z")) is None  # 23:30 on a day of 25 hours
    assert current_window([all_day], at("2026-10-25T23:00:00Z")) is not None


# --- several at once -------------------------------------------------------------------------------


def test_overlapping_windows_are_open_together_and_the_one_that_ends_last_counts():
    evening = window("0 20 * * sat", 4, name="evening")
    night = window("0 22 * * sat", 6, name="night")

    found = [current_window([evening, night], at(f"2026-10-17T{time}:00Z")) for time in ("21:00", "22:00", "23:59")]

    assert [interval and interval.name for interval in found] == ["evening", "night", "night"]


def test_short_window_inside_a_long_one_takes_no_count_of_its_own():
    long = window("0 0 * * sat", 6, name="long")
    short = window("0 1 * * sat", 1, name="short")

    current = current_window([short, long], at("2026-10-17T01:30:00Z"))

    assert current == interval("2026-10-17T00:00:00Z", "2026-10-17T06:00:00Z", "long")


def test_of_windows_that_end_together_the_one_that_started_first_counts():
    early = window("0 0 * * sat", 6, name="z-early")
    late = window("0 4 * * sat", 2, name="a-late")

    current = current_window([late, early], at("2026-10-17T05:00:00Z"))

    assert current is not None
    assert current.name == "z-early"


def test_of_windows_with_the_same_span_the_first_by_name_counts():
    same = [window("0 2 * * sat", 3, name=name) for name in ("b", "a")]

    current = current_window(same, at("2026-10-17T03:00:00Z"))

    assert current is not None
    assert current.name == "a"


def test_window_that_starts_again_before_it_ended_is_open_without_a_break():
    every_hour = window("0 * * * *", 1.5)

    assert current_window([every_hour], at("2026-10-17T03:00:00Z")) == interval(
        "2026-10-17T03:00:00Z", "2026-10-17T04:30:00Z", "w"
    )
    assert current_window([every_hour], at("2026-10-17T02:59:00Z")) == interval(
        "2026-10-17T02:00:00Z", "2026-10-17T03:30:00Z", "w"
    )


# --- what comes next -------------------------------------------------------------------------------


def test_next_window_starts_strictly_later():
    assert next_window([SATURDAY], at("2026-10-17T02:00:00Z")) == interval(
        "2026-10-24T02:00:00Z", "2026-10-24T05:00:00Z", "sat"
    )


def test_next_window_is_the_first_to_start_of_all():
    sunday = window("0 2 * * sun", 3, name="sun")

    following = next_window([SATURDAY, sunday], at("2026-10-17T12:00:00Z"))

    assert following == interval("2026-10-18T02:00:00Z", "2026-10-18T05:00:00Z", "sun")


def test_of_windows_that_start_together_the_next_is_the_one_that_ends_last():
    shorter = window("0 2 * * sat", 1, name="a-shorter")

    following = next_window([shorter, SATURDAY], at("2026-10-16T00:00:00Z"))

    assert following is not None
    assert following.name == "sat"


@pytest.mark.parametrize(
    ("cron", "now", "start"),
    [
        ("0 2 29 2 *", "2026-10-17T00:00:00Z", "2028-02-29T02:00:00Z"),
        ("0 2 30 2 *", "2026-10-17T00:00:00Z", None),
        ("0 2 29 2 *", "2096-03-01T00:00:00Z", None),  # 2100 has no leap day: eight years
    ],
)
def test_next_window_is_searched_for_five_years(cron, now, start):
    following = next_window([window(cron, 3)], at(now))

    assert (following and following.start) == (start and at(start))


def test_no_windows_means_never_open():
    assert current_window([], at("2026-10-17T02:00:00Z")) is None
    assert next_window([], at("2026-10-17T02:00:00Z")) is None


def test_upcoming_has_what_is_open_at_the_start_and_not_what_starts_at_the_end():
    found = upcoming([SATURDAY], at("2026-10-17T04:59:00Z"), at("2026-10-31T02:00:00Z"))

    assert found == (
        interval("2026-10-17T02:00:00Z", "2026-10-17T05:00:00Z", "sat"),
        interval("2026-10-24T02:00:00Z", "2026-10-24T05:00:00Z", "sat"),
    )


def test_upcoming_leaves_out_what_ends_at_the_start():
    assert upcoming([SATURDAY], at("2026-10-17T05:00:00Z"), at("2026-10-24T02:00:00Z")) == ()


def test_upcoming_is_in_order_of_start_over_all_windows():
    sunday = window("0 2 * * sun", 3, name="sun")

    found = upcoming([sunday, SATURDAY], at("2026-10-16T00:00:00Z"), at("2026-10-25T00:00:00Z"))

    assert [each.name for each in found] == ["sat", "sun", "sat"]


def test_window_key_is_pool_window_and_start():
    assert window_key("app", SUMMER_TIME_NIGHT) == "app/fri-night/2026-10-17T02:00:00Z"
