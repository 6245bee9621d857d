"""The collector rests while a page is read, and is as before afterwards, whatever happened."""

from __future__ import annotations

import gc

import pytest

from driftgate.adapters.collector import collector_paused


def test_the_collector_rests_inside_and_works_again_afterwards():
    with collector_paused():
        inside = gc.isenabled()

    assert (inside, gc.isenabled()) == (False, True)


def test_the_collector_works_again_after_an_error():
    with pytest.raises(ValueError, match="no JSON"), collector_paused():
        raise ValueError("no JSON")

    assert gc.isenabled()


def test_a_collector_that_somebody_turned_off_stays_off():
    gc.disable()
    try:
        with collector_paused():
            pass

        assert not gc.isenabled()
    finally:
        gc.enable()


def test_overlapping_pauses_end_with_the_collector_at_work():
    first, second = collector_paused(), collector_paused()
    first.__enter__()
    second.__enter__()

    first.__exit__(None, None, None)
    second.__exit__(None, None, None)

    assert gc.isenabled()
