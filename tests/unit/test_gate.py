from __future__ import annotations

import pytest

from driftgate.domain.allowance import allowed
from driftgate.domain.budget import DisruptionReason, to_objects
from driftgate.domain.gate import is_freeze, may_be_baseline, opened_list
from driftgate.domain.marks import OPEN_MARK
from tests.factories import GATE, NOW, at, budget

GUARD_AT = at("2026-10-17T02:11:00Z")
GUARD = {"nodes": "00", "reasons": ["Drifted"], "schedule": "11 2 17 10 *", "duration": "8736h"}
OPEN = {"nodes": "01", "reasons": ["Drifted"]}


def test_t12_a_zero_for_drifted_alone_gives_way_to_the_open_mark():
    assert to_objects(opened_list(GATE, GUARD_AT)) == [
        {"nodes": "10%", "reasons": ["Empty", "Underutilized"]},
        OPEN,
        GUARD,
    ]


def test_t13_a_shared_zero_keeps_its_other_reasons():
    baseline = (budget("10%"), budget("0", "Drifted", "Underutilized"))

    opened = opened_list(baseline, GUARD_AT)

    assert to_objects(opened) == [
        {"nodes": "10%"},
        {"nodes": "0", "reasons": ["Underutilized"]},
        OPEN,
        GUARD,
    ]
    assert [allowed(opened, 8, NOW, reason) for reason in DisruptionReason] == [1, 1, 0]


@pytest.mark.parametrize("baseline", [(budget("0"),), (budget("0"), budget("1", "Drifted"))])
def test_t14_a_lifted_freeze_keeps_empty_and_underutilized_shut(baseline):
    opened = opened_list(baseline, GUARD_AT)

    assert is_freeze(baseline)
    assert to_objects(opened)[:2] == [{"nodes": "0", "reasons": ["Empty", "Underutilized"]}, OPEN]
    assert [allowed(opened, 8, NOW, reason) for reason in DisruptionReason] == [1, 0, 0]


def test_the_remainder_keeps_the_entrys_own_order_and_spelling():
    baseline = (budget("0%", "Underutilized", "Drifted", "Empty"),)

    assert to_objects(opened_list(baseline, GUARD_AT))[0] == {"nodes": "0%", "reasons": ["Underutilized", "Empty"]}


def test_every_always_on_zero_gives_way_and_only_the_first_place_is_marked():
    baseline = (budget("0", "Drifted"), budget("5"), budget("00", "Drifted"), budget("0", "Drifted", "Empty"))

    assert to_objects(opened_list(baseline, GUARD_AT)) == [
        OPEN,
        {"nodes": "5"},
        {"nodes": "0", "reasons": ["Empty"]},
        GUARD,
    ]


def test_a_scheduled_zero_is_the_owners_blackout_and_stays():
    blackout = budget("0", "Drifted", schedule="0 9 * * mon-fri", duration="8h")

    assert opened_list((blackout, budget("0", "Drifted")), GUARD_AT)[:2] == (blackout, OPEN_MARK)


def test_a_percentage_that_comes_to_zero_is_no_standing_zero():
    assert not may_be_baseline((budget("10%", "Drifted"),))


def test_zeros_that_together_cover_all_reasons_are_a_freeze():
    assert is_freeze((budget("0", "Drifted", "Empty"), budget("10%"), budget("0%", "Underutilized")))


def test_zeros_that_leave_one_reason_free_are_no_freeze():
    assert not is_freeze((budget("0", "Drifted", "Empty"), budget("0", schedule="@daily", duration="24h")))


def test_a_list_with_a_mark_is_nobodys_baseline():
    assert may_be_baseline((budget("0", "Drifted"),))
    assert not may_be_baseline((budget("0", "Drifted"), OPEN_MARK))
