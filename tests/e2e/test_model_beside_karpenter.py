"""The model of Karpenter's loop beside the real one: the same scenes on both, and the same must be true of both.

What comes before what is compared. Of the seconds only those that Karpenter's own constants bound are: when its next
pass comes is chance in the real one.
"""

from collections.abc import Iterator

import pytest

from tests.e2e.generations.showing import DELETION, GONE, REASON, TAINT, Showing
from tests.e2e.rolls import Rolling
from tests.e2e.sightings import PASS_S
from tests.e2e.stages import Model, Real, Shown, Stage

pytestmark = pytest.mark.slow

NEWS_S = 0.3
"""How much later one watch may tell the real onlooker than another."""
LEAST_DRAIN_S = 5
"""Karpenter drains no node faster. Source: sigs.k8s.io/karpenter v1.14.1, pkg/controllers/node/termination."""


@pytest.fixture(params=["simulated", "real"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if request.param == "simulated":
        yield Model()
        return
    rolling: Rolling = request.getfixturevalue("rolling")
    with Showing(rolling.admin) as showing:
        yield Real(rolling, showing)


def test_the_empty_node_goes_first_then_the_one_that_drifted_first(stage: Stage, record_property):
    (older,) = stage.pool("older-full", 1, full=True)
    (younger,) = stage.pool("younger-full", 1, full=True)
    (empty,) = stage.pool("youngest-empty", 1)

    stage.open("older-full", "younger-full", "youngest-empty")
    shown = stage.until(lambda shown: {older, younger, empty} <= shown.keys())

    order = sorted([older, younger, empty], key=lambda node: first_of(shown, node))
    record_property(f"who goes first: {stage.name}", "the empty one, then by the Drifted time")
    assert order == [empty, older, younger]


def test_a_node_shows_the_taint_then_the_reason_then_its_deletion_within_a_pass(stage: Stage, record_property):
    (node,) = stage.pool("signs", 1)

    stage.open("signs")
    signs = stage.until(lambda shown: GONE in shown.get(node, {}))[node]

    told = ", ".join(f"{sign} {at:.1f}" for sign, at in sorted(signs.items(), key=lambda sign: sign[1]))
    record_property(f"what an empty node shows, seconds after the opening: {stage.name}", told)
    assert signs[TAINT] <= signs[REASON] + NEWS_S
    assert signs[REASON] < signs[DELETION] < signs[GONE]
    assert signs[REASON] <= PASS_S + 1


def test_a_revert_does_not_recall_a_started_command(stage: Stage, record_property):
    nodes = stage.pool("recalled", 2, full=True)

    stage.open("recalled")
    (taken,) = stage.until(bool)
    stage.shut("recalled")
    before = stage.shown()[taken]
    signs = stage.until(lambda shown: GONE in shown.get(taken, {}))[taken]
    stage.pass_time(2 * PASS_S + 2)

    record_property(f"a gate shut at the sign, before the replacement is there: {stage.name}", (
        f"the node went all the same, {signs[GONE] - signs[REASON]:.0f} s after its sign; no other"
    ))  # fmt: skip
    assert GONE not in before
    assert set(stage.shown()) & set(nodes) == {taken}
    assert stage.claims("recalled") == 2


def test_the_slot_is_free_once_the_node_is_drained(stage: Stage, record_property):
    stage.pool("slot", 3)

    stage.open("slot")
    shown = stage.until(lambda shown: len(shown) == 2)
    stage.shut("slot")

    first, second = sorted(shown, key=lambda node: first_of(shown, node))
    after = first_of(shown, second) - first_of(shown, first)
    record_property(f"from the first node's sign to the second's, one at a time: {stage.name}", f"{after:.1f} s")
    assert shown[first][DELETION] + LEAST_DRAIN_S - NEWS_S <= first_of(shown, second)
    assert after <= LEAST_DRAIN_S + PASS_S + 2


def first_of(shown: Shown, node: str) -> float:
    return min(shown[node].values())
