from __future__ import annotations

import pytest

from driftgate.domain.gosyntax import atoi, trimmed, words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("+5", 5),
        ("-3", -3),
        ("-0", 0),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0" * 5000 + "1", 1),
    ],
)
def test_a_number_is_read_as_go_reads_it(text, value):
    assert atoi(text) == value


@pytest.mark.parametrize(
    "text", ["", "+", "-", " 1", "1 ", "1_0", "0x1", "1.0", "٣", "9223372036854775808", "9" * 5000, "1\n"]
)
def test_what_go_does_not_take_for_a_number_is_none(text):
    assert atoi(text) is None


def test_words_are_split_at_gos_white_space_with_their_positions():
    assert words("0\u00a02\t\u3000*") == ((0, "0"), (2, "2"), (5, "*"))


def test_pythons_separators_that_go_does_not_know_stay_in_the_word():
    assert words("0\x1c2\x1f*") == ((0, "0\x1c2\x1f*"),)


def test_white_space_around_is_taken_away_and_its_length_told():
    assert trimmed("  @daily \u2003") == (2, "@daily")
