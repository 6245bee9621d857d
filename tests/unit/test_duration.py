from __future__ import annotations

from datetime import timedelta

import pytest

from driftgate.domain.duration import format_duration, parse_duration
from driftgate.domain.errors import InvalidInputError


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("3h", 180),
        ("90m", 90),
        ("1h30m", 90),
        ("4h0m0s", 240),
        ("4h0s", 240),
        ("0m", 0),
        ("0", 0),
        ("8736h", 524_160),
        ("30m1h", 90),
        ("1.5h", 90),
        ("+2h", 120),
        ("-1h", -60),
        ("120s", 2),
        ("000000000000000000000000000003h", 180),
        (".5h", 30),
        ("1.h", 60),
    ],
)
def test_a_duration_is_read_as_go_reads_it(text, minutes):
    assert parse_duration(text) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("text", "length"),
    [("1ms", timedelta(milliseconds=1)), ("5us", timedelta(microseconds=5)), ("5µs", timedelta(microseconds=5))],
)
def test_units_below_a_second_are_read(text, length):
    assert parse_duration(text) == length


@pytest.mark.parametrize("text", ["", "h", "1", "1d", "1h 30m", " 1h", "1h ", "-", "1,5h", ".h", "1H", "١h", "1h30"])
def test_what_go_refuses_is_refused_with_an_example(text):
    with pytest.raises(InvalidInputError, match="such as 3h or 1h30m"):
        parse_duration(text)


def test_the_longest_duration_of_go_is_read():
    assert parse_duration("2562047h47m") == timedelta(hours=2_562_047, minutes=47)


@pytest.mark.parametrize(
    "text", ["2562047h48m", "2562048h", "99999999h", "153722868m", "9223372036854775808ns", "9" * 5000 + "h"]
)
def test_a_duration_beyond_gos_range_is_told_apart(text):
    with pytest.raises(InvalidInputError, match="longer than Go can hold"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(hours=3), "3h"),
        (timedelta(minutes=90), "1h30m"),
        (timedelta(days=7), "168h"),
        (timedelta(minutes=45), "45m"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(hours=1, seconds=5), "1h5s"),
        (timedelta(milliseconds=1500), "1.5s"),
        (timedelta(0), "0s"),
        (timedelta(minutes=-90), "-1h30m"),
    ],
)
def test_a_duration_is_written_as_short_as_it_can_be(length, text):
    assert format_duration(length) == text
