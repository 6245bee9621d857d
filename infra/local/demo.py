"""`make demo`: one night of a trapped pool, on this machine, with real handlers, real client and real HTTP."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from driftgate.sim.clock import WallClock
from infra.local.report import show_report
from infra.local.story import Story
from infra.local.world import World, deployed

LOGS = Path(".cache/demo")
"""Where each function's log lines and metrics go, and what its role was allowed and never used."""

SPEED = 4.0
"""The cluster's clock runs faster than the wall's, so that machines boot and guards pass while one watches."""


def main() -> int:
    """Tells the story; the last line is the sum of it, as words or as one JSON object."""
    parser = argparse.ArgumentParser(description="One night of a trapped pool, on this machine.")
    parser.add_argument("--output", choices=("text", "json"), default="text")
    output = parser.parse_args().output
    answer, to = sys.stdout, sys.stdout if output == "text" else sys.stderr
    summary = run(lambda line: print(line, file=to, flush=True))
    print(json.dumps(summary) if output == "json" else sentence_of(summary), file=answer)
    return 0 if is_as_promised(summary) else 1


def run(tell: Callable[[str], None]) -> dict[str, object]:
    """The whole night, and the sum of it; what was started is ended, also when it fails."""
    shutil.rmtree(LOGS, ignore_errors=True)
    tell("The template of a deployment is synthesized (once), and created in an AWS on this machine.")
    clock = WallClock(start=datetime.now(UTC), speed=SPEED)
    with deployed(clock, LOGS) as world:
        story = Story(world, tell)
        _tell_all(story, world.sim.image_of("std"))
        show_report(world.pipeline, tell)
        refused = [*map(str, world.cloud.front.record.refusals), *world.cloud.front.faults]
        if refused:
            raise RuntimeError(f"the template lacks a permission: {'; '.join(refused)}")
        _write_unused(world)
        return summary_of(story)


def _write_unused(world: World) -> None:
    """What the template allows and nobody asked for tonight."""
    authority = world.cloud.front.authority
    lines = [
        f"{each.role} {each.action} {each.resource}\n" for each in world.cloud.front.record.unused(authority.roles)
    ]
    (LOGS / "unused-permissions.txt").write_text("".join(lines), encoding="utf-8")


def _tell_all(story: Story, image: str) -> None:
    story.the_trap()
    story.an_image_appears(image)
    story.one_node_rolls()
    story.an_alarm_fires()
    story.messages()


def summary_of(story: Story) -> dict[str, object]:
    """What a script asks about the night."""
    return {
        "rolled": story.rolled(),
        "openings": len(story.openings()),
        "baselineRestored": story.baseline_restored(),
        "otherReasonsChanged": story.other_reasons_changed(),
        "secondsOpenAfterSign": story.facts.seconds_open_after_sign,
        "alarmToClosedSeconds": story.facts.alarm_to_closed_seconds,
        "messages": [str(message["content"]["title"]) for message in story.facts.messages],
    }


def is_as_promised(summary: dict[str, object]) -> bool:
    """One node at the most per opening, the baseline back, other reasons never moved."""
    rolled, openings = summary["rolled"], summary["openings"]
    at_most_one_each = isinstance(rolled, list) and isinstance(openings, int) and 1 <= len(rolled) <= openings
    return at_most_one_each and summary["baselineRestored"] is True and summary["otherReasonsChanged"] is False


def sentence_of(summary: dict[str, object]) -> str:
    """The last line for people."""
    rolled = summary["rolled"]
    names = ", ".join(str(name) for name in rolled) if isinstance(rolled, list) else ""
    back = "the baseline is back" if summary["baselineRestored"] else "THE BASELINE IS NOT BACK"
    return (
        f"Rolled {names} in {summary['openings']} openings; {back}; the gate stood open for "
        f"{summary['secondsOpenAfterSign']} s after the sign, and {summary['alarmToClosedSeconds']} s after the alarm."
    )


if __name__ == "__main__":
    sys.exit(main())
