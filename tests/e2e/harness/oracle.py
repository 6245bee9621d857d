"""Asks Karpenter's own code what a list of budgets allows; see controlplane/core/oracle."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from tests.e2e import build

Answer = dict[str, Any]


class Oracle:
    """A running oracle. One question at a time by `ask`, very many by `ask_all`."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [build.binary_path("oracle")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._process.communicate()

    def ask(self, budgets: object, nodes: int, at: datetime) -> Answer:
        """`{"allowed": {reason: {"value", "error"}}, "must": {reason: value}}`, or `{"decode": error}`."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(question(budgets, nodes, [at], many=False) + "\n")
        self._process.stdin.flush()
        answer: Answer = json.loads(self._process.stdout.readline())
        return answer

    @staticmethod
    def ask_all(questions: Iterable[str]) -> list[Answer]:
        """The answers to lines made by `question`: 100,000 instants take about 4 s of one core."""
        command = [build.binary_path("oracle")]
        done = subprocess.run(command, input="\n".join(questions), capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


def question(budgets: object, nodes: int, at: Sequence[datetime], *, many: bool = True) -> str:
    """One line for the oracle; with `many`, the answer holds a list `answers`, one for each instant."""
    instants = [each.isoformat() for each in at]
    return json.dumps({"budgets": budgets, "nodes": nodes, "at": instants if many else instants[0]})
