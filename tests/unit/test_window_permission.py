from datetime import timedelta

import pytest

from driftgate.domain.window import (
    MaintenanceWindow,
    active_blackouts,
    end_of_permission,
    may_open_at,
    next_blackout_start,
)
from tests.factories import SATURDAY, at, blackout

SALE = blackout("2026-10-17T03:00:00Z", "2026-10-17T04:00:00Z")
UNTIL_LIFTED = blackout("2026-10-17T03:00:00Z", None, "incident")
ALWAYS = MaintenanceWindow(name="always", timezone="UTC", cron="@daily", duration=timedelta(hours=24))


def test_blackout_wins_over_open_window():
    assert not may_open_at([SATURDAY], [SALE], at("2026-10-17T03:30:00Z"))


@pytest.mark.parametrize(
    ("now", "may_open"),
    [
        ("2026-10-17T02:59:59Z", True),
        ("2026-10-17T03:00:00Z", False),
        ("2026-10-17T03:59:59Z", False),
        ("2026-10-17T04:00:00Z", True),
    ],
)
def test_blackout_holds_from_its_start_until_before_its_end(now, may_open):
    assert may_open_at([SATURDAY], [SALE], at(now)) is may_open


def test_without_an_open_window_nothing_may_open():
    assert not may_open_at([SATURDAY], [], at("2026-10-17T05:00:00Z"))


def test_blackout_without_an_end_holds_until_it_is_lifted():
    assert active_blackouts([UNTIL_LIFTED], at("2036-01-01T00:00:00Z")) == (UNTIL_LIFTED,)


def test_every_active_blackout_is_named():
    assert active_blackouts([UNTIL_LIFTED, SALE], at("2026-10-17T03:30:00Z")) == (UNTIL_LIFTED, SALE)


def test_next_blackout_starts_strictly_later():
    assert next_blackout_start([SALE], at("2026-10-17T02:59:59Z")) == at("2026-10-17T03:00:00Z")
    assert next_blackout_start([SALE], at("2026-10-17T03:00:00Z")) is None


def test_permission_ends_with_the_window():
    assert end_of_permission([SATURDAY], [], at("2026-10-17T02:10:00Z")) == at("2026-10-17T05:00:00Z")


def test_permission_ends_where_a_blackout_begins():
    assert end_of_permission([SATURDAY], [SALE], at("2026-10-17T02:10:00Z")) == at("2026-10-17T03:00:00Z")


def test_blackout_that_begins_after_the_window_changes_nothing():
    later = blackout("2026-10-17T06:00:00Z", "2026-10-17T07:00:00Z")

    assert end_of_permission([SATURDAY], [later], at("2026-10-17T02:10:00Z")) == at("2026-10-17T05:00:00Z")


def test_permission_goes_on_through_overlapping_and_touching_windows():
    overlapping = MaintenanceWindow(name="b", timezone="UTC", cron="0 4 * * sat", duration=timedelta(hours=2))
    touching = MaintenanceWindow(name="c", timezone="UTC", cron="0 6 * * sat", duration=timedelta(hours=1))

    end = end_of_permission([touching, SATURDAY, overlapping], [], at("2026-10-17T02:10:00Z"))

    assert end == at("2026-10-17T07:00:00Z")


def test_permission_without_end_is_followed_for_at_least_a_day():
    end = end_of_permission([ALWAYS], [], at("2026-10-17T02:10:00Z"))

    assert end == at("2026-10-19T00:00:00Z")


@pytest.mark.parametrize("now", ["2026-10-17T05:00:00Z", "2026-10-17T03:30:00Z"])
def test_there_is_no_end_where_there_is_no_permission(now):
    assert end_of_permission([SATURDAY], [SALE], at(now)) is None
