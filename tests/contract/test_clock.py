"""What every clock does: the machine's and the one that stands still."""

from __future__ import annotations

from datetime import timedelta

import pytest

from driftgate.adapters.system_clock import SystemClock
from tests.fakes.clock import FakeClock


@pytest.fixture(params=[SystemClock, FakeClock])
def clock(request):
    return request.param()


def test_now_is_aware_utc(clock):
    assert clock.now().utcoffset() == timedelta(0)


def test_sleep_lasts_at_least_as_long_as_asked(clock):
    before = clock.now()

    clock.sleep(0.01)

    assert clock.now() - before >= timedelta(seconds=0.01)


def test_sleeping_for_no_time_is_fine(clock):
    before = clock.now()

    clock.sleep(0)

    assert clock.now() >= before
