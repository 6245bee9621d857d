"""Random changes of budget lists around the border between what the admission policy lets pass and what it refuses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from driftgate.domain.budget import Budget
from driftgate.domain.gate import opened_list
from tests.factories import NOW
from tests.gate_strategies import baselines, edited, edits, guard_after

GUARD_AT = guard_after(NOW)

# Entries for one reason or none, so that one rule alone decides; most are nearly allowed.
WHENS = st.sampled_from(
    [
        *[(None, None)] * 3,
        ("0 22 * * *", "8h"),
        ("5 4 3 2 *", "8736h"),
        ("5 4 3 2 *", "24h"),
        ("5 4 3 2 mon", "8736h"),
        ("*/5 4 3 2 *", "8736h"),
        ("5 4 3 2 * *", "8736h"),
    ]
)
NEARLY_ZERO = st.sampled_from(["0", "00", "000", "0%", "00%", "01", "1", "10", "0123", "10%"])
narrow_entries = st.builds(
    lambda nodes, reasons, when: Budget(nodes=nodes, reasons=reasons, schedule=when[0], duration=when[1]),
    NEARLY_ZERO,
    st.sampled_from([("Drifted",)] * 5 + [(), ("Empty",), ("Underutilized",), ("Empty", "Underutilized")]),
    WHENS,
)
few = st.lists(narrow_entries, max_size=2)
NUDGES = st.sampled_from([{"nodes": "0"}, {"nodes": "3"}, *[{"duration": "2h"}, {"schedule": "5 4 3 2 mon"}] * 2])


def without_some(draw: st.DrawFn, budgets: Sequence[Budget]) -> list[Budget]:
    """The list without up to two of its narrow entries."""
    left = list(budgets)
    for _ in range(draw(st.integers(0, 2))):
        narrow = [index for index, entry in enumerate(left) if entry.reasons is not None and len(entry.reasons) < 2]
        if narrow:
            left.pop(draw(st.sampled_from(narrow)))
    return left


def nudged(draw: st.DrawFn, budgets: Sequence[Budget]) -> list[Budget]:
    """The list, one entry of it with another number, duration or schedule now and then."""
    left = list(budgets)
    change: dict[str, Any] = draw(NUDGES)
    places = [index for index, entry in enumerate(left) if "nodes" in change or entry.schedule is not None]
    is_due: bool = draw(st.booleans())
    if places and is_due:
        index = draw(st.sampled_from(places))
        left[index] = replace(left[index], **change)
    return left


@st.composite
def changes(draw: st.DrawFn) -> tuple[tuple[Budget, ...], tuple[Budget, ...]]:
    """A list, and what somebody makes of it: an opening, a closing, nothing; with entries added, taken, edited."""
    baseline = draw(baselines())
    more = draw(few)
    before = (*draw(st.sampled_from([baseline, opened_list(baseline, GUARD_AT)])), *more)
    made = draw(st.sampled_from([before, (*baseline, *more), (*opened_list(baseline, GUARD_AT), *more)]))
    after = [*nudged(draw, without_some(draw, made)), *draw(few)]
    return before[:50], edited(tuple(after), draw(st.sampled_from([[], [], draw(st.lists(edits, max_size=2))])))
