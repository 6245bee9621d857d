from __future__ import annotations

from dataclasses import replace

import pytest

from driftgate.domain.marks import OPEN_MARK, is_guard_mark, is_mark, is_open_mark, without_guards, without_marks
from tests.factories import budget

GUARD = budget("00", "Drifted", schedule="11 2 17 10 *", duration="8736h")


def test_the_open_mark_is_01_for_drifted_alone_without_a_schedule():
    assert OPEN_MARK.to_object() == {"nodes": "01", "reasons": ["Drifted"]}
    assert is_open_mark(OPEN_MARK)


@pytest.mark.parametrize(
    "entry",
    [
        budget("1", "Drifted"),
        budget("001", "Drifted"),
        budget("01"),
        budget("01", "Drifted", "Empty"),
        budget("01", "Drifted", schedule="0 2 * * sat", duration="3h"),
    ],
)
def test_another_spelling_of_one_belongs_to_a_person(entry):
    assert not is_mark(entry)


def test_a_guard_mark_is_00_for_drifted_alone_on_a_dated_minute_for_8736h():
    assert is_guard_mark(GUARD)


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": "0"},
        {"reasons": None},
        {"reasons": ("Empty",)},
        {"schedule": "11 2 17 10 sat"},
        {"schedule": "11 2 17 oct *"},
        {"schedule": "11 2 * 10 *"},
        {"schedule": "11 2 17 10 * "},
        {"schedule": "11 2 17 10 *\n"},
        {"schedule": "١١ 2 17 10 *"},
        {"schedule": None, "duration": None},
        {"duration": "8736h0m0s"},
        {"duration": "4000h"},
    ],
)
def test_another_spelling_of_a_guard_belongs_to_a_person(change):
    assert not is_mark(replace(GUARD, **change))


def test_a_field_that_a_newer_server_adds_does_not_hide_a_mark():
    assert is_mark(replace(OPEN_MARK, unknown=(("window", "none"),)))
    assert is_mark(replace(GUARD, unknown=(("window", "none"),)))


def test_marks_leave_a_list_and_everything_else_keeps_its_order():
    mine, yours, theirs = OPEN_MARK, budget("00", "Drifted"), budget("10%")

    assert without_marks((theirs, mine, yours, GUARD)) == (theirs, yours)
    assert without_guards((theirs, mine, yours, GUARD)) == (theirs, mine, yours)
