"""Hold our port of Karpenter's budget rules against Karpenter's own code, on random budget lists.

`python -m tests.e2e.oracle --count 1000000 [--seed N]` asks both about so many lists, each at four instants and
for each of the three reasons, and prints every disagreement reduced to the smallest list that shows it.
Exit codes: 0 they agree, 1 they do not, 3 the oracle could not be built.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from driftgate.domain.allowance import allowed, is_active, number, problems
from driftgate.domain.budget import NO_LIMIT, Budget, DisruptionReason, from_objects
from driftgate.domain.errors import BudgetError
from tests.e2e import build
from tests.e2e.oracle_questions import Question, random_question

CHUNK = 5_000
MOST_SHOWN = 5
EXIT_DISAGREEMENT, EXIT_NO_ORACLE = 1, 3


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The smallest question found that the two answer differently."""

    question: Question
    karpenter: object
    driftgate: object

    def __str__(self) -> str:
        asked = json.dumps(self.question.to_object(), ensure_ascii=True)
        return f"{asked}\n  Karpenter: {self.karpenter}\n  driftgate: {self.driftgate}"


class Oracle:
    """Karpenter's own code, asked by the batch."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def ask(self, questions: Sequence[Question]) -> list[object]:
        """One comparable answer per question."""
        lines = "".join(json.dumps(question.to_object()) + "\n" for question in questions)
        done = subprocess.run([self._program], input=lines.encode(), capture_output=True, check=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) != len(questions):
            raise RuntimeError(f"{len(questions)} questions, {len(answers)} answers: {done.stderr[-500:]!r}")
        return [_karpenters(answer) for answer in answers]


def ours(question: Question) -> object:
    """What our port says, in the same form as `Oracle.ask`."""
    budgets = from_objects(list(question.budgets))
    if any(problem.field == "duration" for problem in problems(budgets)):
        return "cannot be decoded"
    return [
        {
            "error": any(_fails(budget, question.nodes, at) for budget in budgets),
            **{reason.value: _shown(allowed(budgets, question.nodes, at, reason)) for reason in DisruptionReason},
        }
        for at in question.instants
    ]


def disagreements(oracle: Oracle, count: int, seed: int) -> Iterator[Disagreement]:
    """Every disagreement on `count` random lists, each reduced."""
    random = Random(seed)
    source = (random_question(random) for _ in range(count))
    while chunk := list(islice(source, CHUNK)):
        for question, answer in zip(chunk, oracle.ask(chunk), strict=True):
            if ours(question) != answer:
                yield smallest(oracle, question)


def smallest(oracle: Oracle, question: Question) -> Disagreement:
    """The question with everything taken away that is not needed to disagree."""
    while True:
        simpler = list(_simpler(question))
        answers = oracle.ask(simpler)
        found = next((q for q, answer in zip(simpler, answers, strict=True) if ours(q) != answer), None)
        if found is None:
            return Disagreement(question, oracle.ask([question])[0], ours(question))
        question = found


def _simpler(question: Question) -> Iterator[Question]:
    if len(question.instants) > 1:
        for at in question.instants:
            yield replace(question, instants=(at,))
    for index, entry in enumerate(question.budgets):
        before, after = question.budgets[:index], question.budgets[index + 1 :]
        yield replace(question, budgets=before + after)
        for field in ("reasons", "schedule", "duration"):
            if field in entry:
                less = {key: value for key, value in entry.items() if key != field}
                yield replace(question, budgets=(*before, less, *after))
    if question.nodes > 1:
        yield replace(question, nodes=question.nodes // 2)


def _karpenters(answer: dict[str, Any]) -> object:
    if "decode" in answer:
        return "cannot be decoded"
    if "invalid" in answer:
        raise RuntimeError(f"the oracle did not understand a question: {answer['invalid']}")
    return [
        {"error": any(value["error"] for value in one["allowed"].values()), **one["must"]} for one in answer["answers"]
    ]


def _fails(budget: Budget, nodes: int, at: Any) -> bool:
    try:
        if is_active(budget, at):
            number(budget, nodes)
    except BudgetError:
        return True
    return False


def _shown(value: int | None) -> int:
    return NO_LIMIT if value is None else value


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=100_000, help="how many random lists")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="repeats a run")
    options = parser.parse_args(arguments)
    if build.main(["oracle"]) != 0:
        return EXIT_NO_ORACLE
    started = time.monotonic()
    found = list(islice(disagreements(Oracle(build.binary_path("oracle")), options.count, options.seed), MOST_SHOWN))
    for disagreement in found:
        print(disagreement)
    verdict = f"at least {len(found)} disagreements" if found else "no disagreement"
    took = time.monotonic() - started
    print(f"{options.count} lists, {12 * options.count} answers, seed {options.seed}: {verdict}, {took:.0f} s")
    return EXIT_DISAGREEMENT if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
