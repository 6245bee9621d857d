"""Hold our port of Karpenter's budget rules against Karpenter's own code, on random budget lists.

`python -m tests.e2e.oracle --count 1000000 [--seed N]` asks both about so many lists, each at four instants and
for each of the three reasons, and prints every disagreement reduced to the smallest list that shows it.
Exit codes: 0 they agree, 1 they do not, 3 the oracle could not be built.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from random import Random
from typing import Any

from driftgate.domain.allowance import allowed_by_reason, is_active, number, problems
from driftgate.domain.budget import NO_LIMIT, Budget, from_objects
from driftgate.domain.errors import BudgetError
from tests.e2e import build
from tests.e2e.harness.oracle import Oracle, question
from tests.e2e.oracle_questions import Question, random_question

CHUNK = 5_000
TELL_EVERY = 50_000
MOST_SHOWN = 5
EXIT_DISAGREEMENT, EXIT_NO_ORACLE = 1, 3


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The smallest question found that the two answer differently."""

    asked: Question
    karpenter: object
    driftgate: object

    def __str__(self) -> str:
        return f"{_line(self.asked)}\n  Karpenter: {self.karpenter}\n  driftgate: {self.driftgate}"


def karpenters(questions: Sequence[Question]) -> list[object]:
    """What Karpenter says to each question, in the same form as `ours`."""
    answers = Oracle.ask_all([_line(asked) for asked in questions])
    if len(answers) != len(questions):
        raise RuntimeError(f"{len(questions)} questions, {len(answers)} answers")
    return [_comparable(answer) for answer in answers]


def ours(asked: Question) -> object:
    """What our port says, in a form that can be compared."""
    budgets = from_objects(asked.budgets)
    if any(problem.field == "duration" for problem in problems(budgets)):
        return "cannot be decoded"
    return [
        {
            "error": any(_fails(budget, asked.nodes, at) for budget in budgets),
            **{reason.value: _shown(value) for reason, value in allowed_by_reason(budgets, asked.nodes, at).items()},
        }
        for at in asked.instants
    ]


def disagreements(count: int, seed: int, told: Callable[[int], None] = lambda _: None) -> Iterator[Disagreement]:
    """Every disagreement on `count` random lists, each reduced; `told` hears how many lists are done."""
    random = Random(seed)
    source = (random_question(random) for _ in range(count))
    asked_so_far = 0
    while chunk := list(islice(source, CHUNK)):
        for asked, answer in zip(chunk, karpenters(chunk), strict=True):
            if ours(asked) != answer:
                yield smallest(asked)
        asked_so_far += len(chunk)
        told(asked_so_far)


def smallest(asked: Question) -> Disagreement:
    """The question with everything taken away that is not needed to disagree."""
    while True:
        simpler = list(_simpler(asked))
        found = next(
            (one for one, answer in zip(simpler, karpenters(simpler), strict=True) if ours(one) != answer), None
        )
        if found is None:
            return Disagreement(asked, karpenters([asked])[0], ours(asked))
        asked = found


def _simpler(asked: Question) -> Iterator[Question]:
    if len(asked.instants) > 1:
        yield from (replace(asked, instants=(at,)) for at in asked.instants)
    for index, entry in enumerate(asked.budgets):
        before, after = asked.budgets[:index], asked.budgets[index + 1 :]
        yield replace(asked, budgets=before + after)
        yield from (replace(asked, budgets=(*before, less, *after)) for less in _simpler_entries(entry))
    if asked.nodes > 1:
        yield replace(asked, nodes=asked.nodes // 2)


def _simpler_entries(entry: dict[str, object]) -> Iterator[dict[str, object]]:
    for field in ("reasons", "schedule", "duration"):
        if field in entry:
            yield {key: value for key, value in entry.items() if key != field}
    if entry["nodes"] != "1":
        yield entry | {"nodes": "1"}
    parts = str(entry.get("schedule", "")).split(" ")
    for place, part in enumerate(parts):
        if part.strip("*"):
            yield entry | {"schedule": " ".join([*parts[:place], "*", *parts[place + 1 :]])}


def _line(asked: Question) -> str:
    return question(list(asked.budgets), asked.nodes, asked.instants)


def _comparable(answer: dict[str, Any]) -> object:
    if "decode" in answer:
        return "cannot be decoded"
    if "invalid" in answer:
        raise RuntimeError(f"the oracle did not understand a question: {answer['invalid']}")
    return [
        {"error": any(value["error"] for value in one["allowed"].values()), **one["must"]} for one in answer["answers"]
    ]


def _fails(budget: Budget, nodes: int, at: datetime) -> bool:
    try:
        if is_active(budget, at):
            number(budget, nodes)
    except BudgetError:
        return True
    return False


def _shown(value: int | None) -> int:
    return NO_LIMIT if value is None else value


def _tell(done: int) -> None:
    if done % TELL_EVERY == 0:
        print(f"{done} lists asked", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=100_000, help="how many random lists")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="repeats a run")
    options = parser.parse_args(arguments)
    if build.main(["oracle"]) != 0:
        return EXIT_NO_ORACLE
    started = time.monotonic()
    found = list(islice(disagreements(options.count, options.seed, _tell), MOST_SHOWN))
    for disagreement in found:
        print(disagreement)
    verdict = f"at least {len(found)} disagreements" if found else "no disagreement"
    took = time.monotonic() - started
    print(f"{options.count} lists, {12 * options.count} answers, seed {options.seed}: {verdict}, {took:.0f} s")
    return EXIT_DISAGREEMENT if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
