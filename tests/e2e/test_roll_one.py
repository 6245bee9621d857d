"""`driftgate roll` as a process of its own, under its own rights: one node, and the gate is as it was."""

import pytest

from tests.e2e.harness.scenario import SHUT_GATE, nodeclaims
from tests.e2e.rolls import Rolling, other_limits
from tests.e2e.sightings import Onlooker

pytestmark = pytest.mark.slow


def test_one_empty_node_goes_and_everything_else_stays_as_it_was(rolling: Rolling, onlooker: Onlooker, record_property):
    pool = rolling.trapped("one", 8)
    baseline = rolling.budgets("one")

    result = rolling.roll("one").result()
    after = rolling.pool("one")
    onlooker.watch_on()

    assert result.code == 0, result.told
    (opening,) = onlooker.openings("one")
    (gone,) = onlooker.left("one")
    shown = result.shown
    assert (shown["state"], shown["node"], shown["baselineRestored"]) == ("done", gone.node, True)
    assert shown["secondsOpenAfterSign"] <= 1
    assert opening.closed_at
    assert (opening.closed_at - gone.at).total_seconds() <= 1
    assert rolling.budgets("one") == baseline
    assert after["spec"] == pool["spec"]
    assert len(nodeclaims(rolling.admin, "one")) == 7
    assert other_limits(onlooker, "one", 10) == {(2, 0)}
    taken = (gone.at - opening.at).total_seconds()
    record_property("one empty drifted node of eight, by the CLI", (
        f"1 node went, {taken:.1f} s after the opening; shut {shown['secondsOpenAfterSign']:.3f} s after the sign; "
        f"budgets byte for byte; other reasons 2/0 in all {len(onlooker.lists('one'))} lists "
        f"and {len(onlooker.samples)} samples"
    ))  # fmt: skip


def test_a_second_roll_right_after_the_first_is_held(rolling: Rolling, onlooker: Onlooker):
    rolling.trapped("again", 3, SHUT_GATE)

    first = rolling.roll("again").result()
    second = rolling.roll("again").result()

    assert (first.shown["state"], second.shown["state"]) == ("done", "held")
    assert "PAUSE_BETWEEN" in second.reasons
    assert len(onlooker.openings("again")) == len(onlooker.left("again")) == 1
