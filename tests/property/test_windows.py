"""Windows against a reader that knows nothing but how to look at every minute's wall clock."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.cron import CronSchedule
from driftgate.domain.window import (
    Blackout,
    Interval,
    MaintenanceWindow,
    current_window,
    end_of_permission,
    may_open_at,
    next_window,
    upcoming,
)
from tests.gate_strategies import usual

MINUTE = timedelta(minutes=1)
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Havana",
    "America/Nuuk",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Africa/Casablanca",
    "Pacific/Auckland",
)
# Sundays around which the zones above change their clocks, and an ordinary day.
CHANGES = [
    datetime(2026, month, day, tzinfo=UTC)
    for month, day in ((3, 8), (3, 22), (3, 29), (4, 5), (9, 27), (10, 4), (10, 17), (10, 25), (11, 1))
]

instants = st.builds(
    lambda day, minutes: day + minutes * MINUTE,
    st.sampled_from(CHANGES),
    st.integers(min_value=-24 * 60, max_value=30 * 60),
)
crons = st.builds(
    lambda minute, hour, day: f"{minute} {hour} * * {day}",
    st.sampled_from(["0", "15", "30", "59", "0,20,40", "*/15"]),
    st.sampled_from(["0", "1", "2", "3", "23", "1-3", "*"]),
    st.sampled_from(["*", "sat", "sun", "sat,sun"]),
)
windows = st.builds(
    lambda zone, cron, minutes, name: MaintenanceWindow(name=name, timezone=zone, cron=cron, duration=minutes * MINUTE),
    st.sampled_from(ZONES),
    crons,
    st.integers(min_value=1, max_value=8 * 60),
    st.sampled_from("abc"),
)
blackouts = st.builds(
    lambda start, minutes: Blackout(
        name="sale", start=start, end=None if minutes is None else start + minutes * MINUTE
    ),
    instants,
    st.none() | st.integers(min_value=1, max_value=12 * 60),
)


def walls_first_shown(at: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """The wall-clock minutes that begin at this instant: those left out before it, then its own unless repeated."""
    now = at.astimezone(zone)
    before = (at - MINUTE).astimezone(zone)
    wall = before.replace(tzinfo=None, fold=0) + MINUTE
    while wall < now.replace(tzinfo=None, fold=0):
        yield wall
        wall += MINUTE
    if now.fold == 0:
        yield now.replace(tzinfo=None)


def starts_at(window: MaintenanceWindow, at: datetime) -> bool:
    schedule = CronSchedule.parse(window.cron)
    return any(schedule.matches(wall) for wall in walls_first_shown(at, ZoneInfo(window.timezone)))


def open_by_looking(window: MaintenanceWindow, at: datetime) -> set[Interval]:
    minutes = window.duration // MINUTE
    starts = (at - back * MINUTE for back in range(minutes))
    return {
        Interval(start=start, end=start + window.duration, name=window.name)
        for start in starts
        if starts_at(window, start)
    }


@usual
@given(st.lists(windows, max_size=3), instants)
def test_current_window_is_the_open_one_that_ends_last(several, at):
    found = set().union(*(open_by_looking(window, at) for window in several))
    ranked = sorted(found, key=lambda interval: (-interval.end.timestamp(), interval.start, interval.name))

    assert current_window(several, at) == (ranked[0] if ranked else None)


@usual
@given(windows, instants, st.timedeltas(min_value=timedelta(0), max_value=timedelta(seconds=59, microseconds=999_999)))
def test_nothing_changes_within_a_minute(window, at, into_the_minute):
    assert current_window([window], at + into_the_minute) == current_window([window], at)


@usual
@given(windows, instants)
def test_window_is_half_open_and_lasts_its_duration(window, at):
    following = next_window([window], at)

    assert following is not None
    assert following.end - following.start == window.duration
    assert current_window([window], following.start) == following
    assert following not in open_by_looking(window, following.end)
    assert current_window([window], following.end) != following


@usual
@given(windows, instants)
def test_next_window_is_the_first_start_after_now(window, at):
    following = next_window([window], at)

    assert following is not None
    assert following.start > at
    assert starts_at(window, following.start)
    searched = min((following.start - at) // MINUTE, 600)
    assert not any(starts_at(window, at + ahead * MINUTE) for ahead in range(1, searched))


@usual
@given(windows, instants)
def test_upcoming_is_what_next_window_gives_one_after_the_other(window, at):
    end = at + timedelta(days=3)
    found = upcoming([window], at, end)

    assert all(interval.start < end and interval.end > at for interval in found)
    for earlier, later in pairwise(found):
        assert next_window([window], earlier.start) == later
    if found:
        following = next_window([window], found[-1].start)
        assert following is None or following.start >= end


@usual
@given(st.lists(windows, max_size=3), st.lists(blackouts, max_size=2), instants)
def test_permission_is_the_union_of_windows_without_the_blackouts(several, denied, at):
    in_window = any(open_by_looking(window, at) for window in several)
    in_blackout = any(each.start <= at and (each.end is None or at < each.end) for each in denied)

    assert may_open_at(several, denied, at) is (in_window and not in_blackout)


@usual
@given(st.lists(windows, max_size=3), st.lists(blackouts, max_size=2), instants)
def test_permission_lasts_until_its_end_and_no_longer(several, denied, at):
    end = end_of_permission(several, denied, at)

    assert (end is not None) is may_open_at(several, denied, at)
    if end is not None:
        minutes = (end - at) // MINUTE
        assert all(may_open_at(several, denied, at + ahead * MINUTE) for ahead in range(0, minutes, 7))
        assert may_open_at(several, denied, end - MINUTE)
        assert not may_open_at(several, denied, end) or minutes >= 24 * 60


@usual
@given(st.lists(windows, min_size=1, max_size=3), instants)
def test_an_interval_that_the_count_left_never_comes_back(several, at):
    keys = [current_window(several, at + ahead * MINUTE) for ahead in range(0, 600, 5)]
    seen: list[Interval | None] = []
    for key in keys:
        if not seen or seen[-1] != key:
            seen.append(key)

    counted = [key for key in seen if key is not None]
    assert len(counted) == len(set(counted))
