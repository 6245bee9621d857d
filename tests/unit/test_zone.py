from datetime import datetime

import pytest

from driftgate.domain.errors import InvalidInputError, InvariantError
from driftgate.domain.zone import first_instant, last_instant, load_zone, wall_clock
from tests.factories import at

BERLIN = load_zone("Europe/Berlin")
LORD_HOWE = load_zone("Australia/Lord_Howe")


def wall(text: str) -> datetime:
    """A wall-clock time, which has no zone."""
    return datetime.fromisoformat(text)


def test_ordinary_wall_time_has_one_instant():
    ordinary = wall("2026-10-17T02:00")

    assert first_instant(ordinary, BERLIN) == last_instant(ordinary, BERLIN) == at("2026-10-17T00:00:00Z")


def test_time_in_the_spring_gap_means_the_first_existing_instant():
    assert first_instant(wall("2026-03-29T02:30"), BERLIN) == at("2026-03-29T01:00:00Z")


def test_time_in_the_half_hour_gap_of_lord_howe_means_the_first_existing_instant():
    assert first_instant(wall("2026-10-04T02:15"), LORD_HOWE) == at("2026-10-03T15:30:00Z")


def test_whole_day_that_samoa_left_out_means_the_midnight_after_it():
    assert first_instant(wall("2011-12-30T12:00"), load_zone("Pacific/Apia")) == at("2011-12-30T10:00:00Z")


def test_repeated_time_in_autumn_has_a_first_and_a_last_instant():
    repeated = wall("2026-10-25T02:30")

    assert first_instant(repeated, BERLIN) == at("2026-10-25T00:30:00Z")
    assert last_instant(repeated, BERLIN) == at("2026-10-25T01:30:00Z")


def test_wall_clock_is_cut_to_the_minute():
    assert wall_clock(at("2026-10-17T00:00:59Z"), BERLIN) == wall("2026-10-17T02:00")


def test_wall_clock_refuses_an_instant_without_a_zone():
    with pytest.raises(InvariantError, match="has no zone"):
        wall_clock(wall("2026-10-17T02:00"), BERLIN)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("europe/berlin", "Europe/Berlin"),
        ("Europe/Berln", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("Kathmandu", "Asia/Kathmandu"),
        ("utc", "UTC"),
        ("posix/Europe/Berlin", "Europe/Berlin"),
    ],
)
def test_unknown_zone_is_refused_with_the_zone_that_was_meant(written, meant):
    with pytest.raises(InvalidInputError) as refused:
        load_zone(written)

    assert refused.value.remedy == f"Did you mean {meant}?"


@pytest.mark.parametrize("written", ["CEST", "GMT+2", "PST", "Europe", "localtime", "../x", ""])
def test_name_that_means_no_place_is_refused_without_a_guess(written):
    with pytest.raises(InvalidInputError) as refused:
        load_zone(written)

    assert refused.value.remedy == "Write an IANA name such as Europe/Berlin or UTC."
