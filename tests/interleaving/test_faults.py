"""Every outside call of a night, killed before and after, refused by each error of its port, lost, late, and frozen.

Whatever happened: the gate is shut within 90 s of the last write that opened it, what went is counted and told,
nothing goes after the guard's minute, the baseline is back, every roll has ended, and the window's slots are right.
"""

from __future__ import annotations

import pytest

from tests.interleaving.faults import NIGHTS, calls_of, faults_of, played_with
from tests.interleaving.schedule import Call

EVERY = [(night, call) for night in NIGHTS for call in calls_of(night)]


@pytest.mark.slow
@pytest.mark.parametrize(("night", "call"), EVERY, ids=[f"{night} {c.actor} {c.name} {c.nth}" for night, c in EVERY])
def test_no_fault_at_any_call_leaves_the_gate_open_or_anything_uncounted(night: str, call: Call):
    broken = [str(p) for what, step in faults_of(call) if (p := played_with(night, what, step)).faults]

    assert not broken, "\n\n".join(broken)


@pytest.mark.parametrize("night", NIGHTS)
def test_the_nights_are_what_they_are_called(night: str):
    names = [call.name for call in calls_of(night)]

    assert names.count("patch_nodepool") >= 2
    assert any(call.actor.startswith("closer") for call in calls_of(night)) is (night == "alarm")
