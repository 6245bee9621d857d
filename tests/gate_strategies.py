"""Random baselines, moments and foreign edits, weighted towards what has gone wrong for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from driftgate.domain.budget import Budget
from driftgate.domain.gate import may_be_baseline
from driftgate.domain.guard import next_guard
from tests.factories import at

usual = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""How fast the machine is at the moment proves nothing."""
often = settings(usual, max_examples=400)
seldom = settings(usual, max_examples=40)

NUMBERS = st.sampled_from(["0", "00", "000", "0%", "00%", "1", "01", "3", "12", "10%", "50%", "100%"])
ZEROS = st.sampled_from(["0", "00", "000", "0%"])
REASONS = st.one_of(
    st.none(),
    st.just(("Drifted",)),
    st.permutations(["Drifted", "Empty", "Underutilized"]).flatmap(
        lambda order: st.integers(0, 3).map(lambda count: tuple(order[:count]))
    ),
)
SCHEDULES = st.sampled_from(
    [
        ("0 9 * * mon-fri", "8h"),
        ("@daily", "24h"),
        ("@daily", "10m"),
        ("0 0 * * sat", "48h"),
        ("0 0 1 * *", "90m"),
        ("*/15 * * * *", "5m"),
        ("0 2 29 2 *", "24h"),
        ("0 0 30 2 *", "1h"),
        ("30 5 24 8 *", "4000h"),
        ("0 0 * * *", "0m"),
        ("59 23 31 12 *", "9000h"),
    ]
)

always_on = st.builds(Budget, nodes=NUMBERS, reasons=REASONS)
scheduled = st.builds(lambda budget, when: replace(budget, schedule=when[0], duration=when[1]), always_on, SCHEDULES)
entries = st.one_of(always_on, scheduled)
drifted_zeros = st.builds(
    Budget, nodes=ZEROS, reasons=REASONS.filter(lambda reasons: reasons is None or "Drifted" in reasons)
)
totals = st.integers(1, 200)


@st.composite
def baselines(draw: st.DrawFn) -> tuple[Budget, ...]:
    """A list that driftgate may open: any entries, and at least one always-on zero on Drifted among them."""
    found = draw(st.lists(st.one_of(entries, drifted_zeros), max_size=6))
    found.insert(draw(st.integers(0, len(found))), draw(drifted_zeros))
    return tuple(budget for budget in found if may_be_baseline((budget, Budget(nodes="0"))))


EDGES = [
    "2027-12-31T23:59:29.500Z",
    "2028-02-28T23:59:30Z",
    "2028-02-28T23:59:31Z",
    "2028-02-29T11:00:00Z",
    "2028-12-31T23:58:45Z",
    "2026-03-29T01:59:00Z",
    "2026-10-17T02:10:00Z",
]
moments = st.one_of(
    st.sampled_from(EDGES).map(at),
    st.timedeltas(timedelta(0), timedelta(days=9 * 365)).map(lambda later: at("2026-01-01T00:00:00Z") + later),
)


def guard_after(opened_at: datetime) -> datetime:
    guard = next_guard(opened_at, opened_at + timedelta(minutes=10))
    assert guard is not None
    return guard


# --- foreign edits ---------------------------------------------------------------------------------

strangers = st.one_of(
    entries,
    drifted_zeros,
    st.sampled_from(
        [
            Budget(nodes="1", reasons=("Drifted",)),
            Budget(nodes="01", reasons=("Drifted",)),
            Budget(nodes="00", reasons=("Drifted",), schedule="5 4 3 2 *", duration="8736h"),
            Budget(nodes="00", reasons=("Drifted",), schedule="5 4 3 2 *", duration="8736h0m0s"),
            Budget(nodes="0", reasons=("Empty",), schedule="0 0 * * sat-sun", duration="24h"),
            Budget(nodes="2", unknown=(("window", {"zone": "UTC"}),)),
            Budget(nodes="99999999999999999999"),
        ]
    ),
)
Edit = Callable[[list[Budget]], None]


def _insert(where: int, budget: Budget) -> Edit:
    return lambda budgets: budgets.insert(where % (len(budgets) + 1), budget)


def _delete(where: int) -> Edit:
    def delete(budgets: list[Budget]) -> None:
        if budgets:
            budgets.pop(where % len(budgets))

    return delete


def _move(where: int, to: int) -> Edit:
    def move(budgets: list[Budget]) -> None:
        if budgets:
            budgets.insert(to % len(budgets), budgets.pop(where % len(budgets)))

    return move


def _copy(where: int, to: int) -> Edit:
    def copy(budgets: list[Budget]) -> None:
        if budgets:
            budgets.insert(to % (len(budgets) + 1), budgets[where % len(budgets)])

    return copy


def _modify(where: int, change: dict[str, object]) -> Edit:
    def modify(budgets: list[Budget]) -> None:
        if budgets:
            budgets[where % len(budgets)] = replace(budgets[where % len(budgets)], **change)  # type: ignore[arg-type]

    return modify


def _replace_all(new: list[Budget]) -> Edit:
    def replace_all(budgets: list[Budget]) -> None:
        budgets[:] = new

    return replace_all


places = st.integers(0, 60)
changes = st.one_of(
    NUMBERS.map(lambda nodes: {"nodes": nodes}),
    REASONS.map(lambda reasons: {"reasons": reasons}),
    SCHEDULES.map(lambda when: {"schedule": when[0], "duration": when[1]}),
    st.just({"schedule": None, "duration": None}),
)
edits = st.one_of(
    st.builds(_insert, places, strangers),
    st.builds(_delete, places),
    st.builds(_move, places, places),
    st.builds(_copy, places, places),
    st.builds(_modify, places, changes),
    st.builds(_replace_all, st.lists(strangers, max_size=4)),
)


def edited(budgets: tuple[Budget, ...], by: list[Edit]) -> tuple[Budget, ...]:
    """The list after a person's edits, cut to what the server stores."""
    found = list(budgets)
    for edit in by:
        edit(found)
    return tuple(found[:50])
