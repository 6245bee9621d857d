"""Karpenter's real AWS provider on moto, and driftgate's handlers: the story of a new image is told once, then asked.

The same story, as a person watches it: `make demo-real`.
"""

from collections.abc import Iterator

import pytest

from tests.e2e.harness.fixtures import require
from tests.e2e.real_facts import Facts
from tests.e2e.real_promises import PROMISES
from tests.e2e.real_story import Story
from tests.e2e.real_world import NEEDED, RealWorld

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def facts(request: pytest.FixtureRequest) -> Iterator[Facts]:
    require(*NEEDED)
    failed_before = request.session.testsfailed
    with RealWorld() as world:
        yield Story(world, print).run()
        world.plane.keep_logs = request.session.testsfailed > failed_before


@pytest.mark.parametrize("promise", PROMISES)
def test_the_story_holds_that(promise: str, facts: Facts):
    assert PROMISES[promise](facts), facts


def test_what_was_seen_is_written_down(facts: Facts, record_property):
    for name, roll in facts.rolls.items():
        record_property(f"the real AWS provider on moto: {name}", (
            f"{', '.join(roll.marks)} on {roll.drifted}, {roll.verdict}{''.join(f', {code}' for code in roll.alerts)}; "
            f"{roll.left} node went, {roll.seconds_to_sign:.1f} s after the opening; shut {roll.seconds_to_shut:.2f} s "
            f"after the sign; budgets byte for byte; the replacement runs the right image"
        ))  # fmt: skip
    assert list(facts.rolls) == ["pin", "recall", "channel"]
