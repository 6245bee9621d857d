"""docs/compatibility.md is as `make e2e-matrix` wrote it, and speaks of every Karpenter that is tried."""

from dataclasses import replace

import pytest

from tests.e2e.generations.page import PAGE, as_page, expected_rows, read_page


def test_the_page_is_as_the_run_wrote_it():
    text = PAGE.read_text(encoding="utf-8")

    assert as_page(read_page(text)) == text, "Run: make e2e-matrix"


def test_the_page_has_every_row_of_a_whole_run():
    assert sorted(read_page(PAGE.read_text(encoding="utf-8")).rows) == sorted(expected_rows())


def test_a_page_that_was_edited_by_hand_is_told_from_a_written_one():
    text = PAGE.read_text(encoding="utf-8").replace("One opening, one node", "One opening, some nodes")

    assert as_page(read_page(text)) != text


def test_a_run_without_a_row_is_no_page():
    run = read_page(PAGE.read_text(encoding="utf-8"))
    without = {name: row for name, row in run.rows.items() if name != expected_rows()[0]}

    with pytest.raises(KeyError):
        as_page(replace(run, rows=without))
