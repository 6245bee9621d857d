"""Processes beside the measured one: what they serve must not share our interpreter, nor count as our memory.

They talk by lines of JSON: one when it is ready, one more for every question; the end of its input is the end of each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

Facts = dict[str, Any]
PATIENCE_S = 30.0


class Helper:
    """A module of the bench, running. Use it as a context manager."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._module = module
        command = [sys.executable, "-m", module, *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = self._read()

    def ask(self, question: str = "facts") -> Facts:
        """What it answers."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Facts:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._module} ended with {self._process.wait(PATIENCE_S)}")
        answer: Facts = json.loads(line)
        return answer

    def __enter__(self) -> Helper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process:
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process.wait(PATIENCE_S)


def serve(ready: Facts, answer: Callable[[str], Facts]) -> None:
    """The helper's own side, until nobody asks any more."""
    print(json.dumps(ready), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line.strip())), flush=True)
