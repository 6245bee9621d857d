"""docs/plan.md shows what `driftgate plan -o json` prints, to the letter."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cases.expand import IMAGES, THURSDAY, TRAP, Answer, Planner, drifted, fill, observed, pdb, pod, pool

PAGE = Path(__file__).parents[2] / "docs" / "plan.md"


def asked(planner: Planner) -> Answer:
    """Three drifted nodes of twelve on a Thursday; two of them under a budget that never allows an eviction."""
    web = pdb("web", {"minAvailable": 2}, {"expectedPods": 2, "currentHealthy": 2, "disruptionsAllowed": 0})
    nodes = fill(12, *drifted("a1 a2 a3", words="empty"))
    pods = [pod("web-0", "a1"), pod("web-1", "a2"), pod("api-0", "a3")]
    return planner.ask([*pool(TRAP, nodes), *pods, web], THURSDAY, seen=observed(images=IMAGES))


def test_the_example_is_what_the_command_prints(planner: Planner):
    block = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

    assert block is not None
    assert json.loads(block[1]) == asked(planner).plan


def test_every_field_is_explained(planner: Planner):
    text = PAGE.read_text(encoding="utf-8")
    whole = asked(planner).plan

    missing = [key for key in (*whole, *whole["pools"][0]) if f"`{key}`" not in text]
    assert missing == []
