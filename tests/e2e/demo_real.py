"""`make demo-real`: a new image, a pin, a recall and a channel, with everything real but AWS and the machines."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType

from tests.e2e import build
from tests.e2e.real_facts import Facts
from tests.e2e.real_promises import PROMISES, broken
from tests.e2e.real_story import Story
from tests.e2e.real_world import NEEDED, RealWorld

LOG = Path(".cache/demo-real.log")
"""Where the handlers' own log lines and metrics go: what CloudWatch would have."""

EXIT_BROKEN, EXIT_NOT_BUILT = 1, 2


def main() -> int:
    """Tells the story; the last line is the sum of it, as words or as one JSON object."""
    parser = argparse.ArgumentParser(description="A new image, a recall and a promotion on a real Karpenter.")
    parser.add_argument("--output", choices=("text", "json"), default="text")
    output = parser.parse_args().output
    absent = build.missing(list(NEEDED))
    if absent:
        print(f"not built: {', '.join(absent)} (make e2e-build)", file=sys.stderr)
        return EXIT_NOT_BUILT
    signal.signal(signal.SIGTERM, leave)
    answer, to = sys.stdout, sys.stdout if output == "text" else sys.stderr
    LOG.parent.mkdir(exist_ok=True)
    with LOG.open("w", encoding="utf-8") as log, redirect_stdout(log):
        summary = run(lambda line: print(line, file=to, flush=True))
    print(json.dumps(summary) if output == "json" else sentence_of(summary), file=answer)
    return EXIT_BROKEN if summary["broken"] else 0


def leave(_number: int, _frame: FrameType | None) -> None:
    """An end from outside is an end like any other: what was started is ended."""
    sys.exit(128 + signal.SIGTERM)


def run(tell: Callable[[str], None]) -> dict[str, object]:
    """The whole story, and the sum of it; the logs of the programs outlast a story that broke a promise."""
    began = time.monotonic()
    tell("Starting kube-apiserver, its scheduler and controllers, Karpenter with its AWS provider, and moto as AWS.")
    with RealWorld() as world:
        tell(f"All there after {time.monotonic() - began:.0f} s; driftgate has its own rights there, and no more.")
        facts = Story(world, tell).run()
        not_kept = broken(facts)
        world.plane.keep_logs = bool(not_kept)
    tell("")
    tell("── What was promised")
    for sentence in PROMISES:
        tell(f"  {'BROKEN' if sentence in not_kept else 'kept  '}  {sentence}")
    tell("")
    return summary_of(facts, not_kept, time.monotonic() - began)


def summary_of(facts: Facts, not_kept: list[str], took_s: float) -> dict[str, object]:
    """What a script asks about the story."""
    return {
        "rolled": {name: roll.node for name, roll in facts.rolls.items()},
        "openings": sum(roll.openings for roll in facts.rolls.values()),
        "secondsToShut": {name: round(roll.seconds_to_shut, 3) for name, roll in facts.rolls.items()},
        "imagesCompared": len(facts.choices_before) + len(facts.choices_after),
        "promises": len(PROMISES),
        "broken": not_kept,
        "seconds": round(took_s),
    }


def sentence_of(summary: dict[str, object]) -> str:
    """The last line for people."""
    kept = "all promises kept" if not summary["broken"] else f"BROKEN: {summary['broken']}"
    return (
        f"Rolled {summary['rolled']} in {summary['openings']} openings; {summary['imagesCompared']} images compared "
        f"with Karpenter's choice; {kept}; {summary['seconds']} s."
    )


if __name__ == "__main__":
    sys.exit(main())
