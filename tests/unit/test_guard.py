from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from driftgate.domain.errors import InvariantError
from driftgate.domain.guard import guard_entry, needs_renewal, next_guard, renewed_list
from driftgate.domain.marks import OPEN_MARK
from tests.factories import at, budget

FAR = at("2026-10-17T03:00:00Z")


@pytest.mark.parametrize(
    ("now", "guard"),
    [
        ("2026-10-17T02:10:00Z", "2026-10-17T02:11:00Z"),
        ("2026-10-17T02:10:30Z", "2026-10-17T02:11:00Z"),
        ("2026-10-17T02:10:30.001Z", "2026-10-17T02:12:00Z"),
        ("2026-10-17T02:10:59Z", "2026-10-17T02:12:00Z"),
        ("2026-10-17T02:59:30Z", "2026-10-17T03:00:00Z"),
    ],
)
def test_the_next_guard_is_the_first_full_minute_at_least_30_seconds_ahead(now, guard):
    assert next_guard(at(now), FAR) == at(guard)


def test_no_guard_lies_past_the_time_to_revert():
    assert next_guard(at("2026-10-17T02:59:31Z"), FAR) is None


def test_a_guard_is_dated_in_utc_and_lasts_364_days():
    entry = guard_entry(at("2026-10-17T02:11:00Z"))

    assert entry.to_object() == {
        "nodes": "00",
        "reasons": ["Drifted"],
        "schedule": "11 2 17 10 *",
        "duration": "8736h",
    }


def test_a_guard_of_another_zone_is_written_in_utc():
    berlin = datetime(2027, 1, 1, 0, 5, tzinfo=timezone(timedelta(hours=1)))

    assert guard_entry(berlin).schedule == "5 23 31 12 *"


def test_a_guard_cannot_begin_within_a_minute():
    with pytest.raises(InvariantError, match="full minute"):
        guard_entry(datetime(2026, 10, 17, 2, 11, 5, tzinfo=UTC))


@pytest.mark.parametrize(("left", "needed"), [(20, False), (19, True), (0, True), (-5, True)])
def test_a_guard_is_renewed_when_less_than_20_seconds_remain(left, needed):
    now = at("2026-10-17T02:10:00Z")

    assert needs_renewal(now + timedelta(seconds=left), now) is needed


def test_renewing_moves_the_guard_and_keeps_everything_else_in_place():
    old, new = at("2026-10-17T02:11:00Z"), at("2026-10-17T02:12:00Z")
    opened = (budget("10%"), OPEN_MARK, guard_entry(old))

    assert renewed_list(opened, old, new) == (budget("10%"), OPEN_MARK, guard_entry(new))


@pytest.mark.parametrize("count", [0, 2])
def test_a_list_without_exactly_one_guard_of_that_minute_is_not_renewed(count):
    old = at("2026-10-17T02:11:00Z")

    with pytest.raises(InvariantError, match="cannot move"):
        renewed_list((OPEN_MARK, *[guard_entry(old)] * count), old, old + timedelta(minutes=1))


def test_a_guard_never_moves_to_an_earlier_minute():
    old = at("2026-10-17T02:11:00Z")

    with pytest.raises(InvariantError, match="cannot move"):
        renewed_list((OPEN_MARK, guard_entry(old)), old, old)
