"""A function's process, seen from outside: started at the first event, ended when it takes too long."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from infra.local.runtime.function import Function, Surroundings, environment_of

SCRIPT = Path(__file__).with_name("lambda_process.py")
INIT_S = 60.0
"""Lambda allows 10 s; a busy machine with cold files may need more."""


class FunctionFailedError(Exception):
    """The handler raised, could not be loaded, or was ended because it took too long."""

    def __init__(self, function: str, kind: str, message: str) -> None:
        super().__init__(f"{function}: {kind}: {message}")
        self.kind = kind
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The cluster's clock in another process: its time at a moment of the machine's monotonic clock, and its speed."""

    start: str
    began: float
    speed: float


class FunctionProcess:
    """One function. Invocations wait for each other; `log` gets everything that it prints."""

    def __init__(self, function: Function, surroundings: Surroundings, log: Path, pace: Pace | None = None) -> None:
        self.function = function
        self._surroundings = surroundings
        self._log = log
        self._pace = pace
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.starts = 0

    def invoke(self, event: object, request_id: str) -> object:
        """What the handler returned. Raises FunctionFailedError."""
        with self._turn:
            process = self._running()
            invocation = {
                "event": event,
                "requestId": request_id,
                "arn": self.function.arn,
                "seconds": self.function.timeout_s,
            }
            answer = self._asked(process, invocation, self.function.timeout_s)
            return answer["result"]

    def stop(self) -> None:
        """Ends the process, gently first."""
        process, self._process = self._process, None
        if process is None:
            return
        _close(process)
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = self._started()
            setup = {
                "taskRoot": str(self._surroundings.task_root),
                "handler": self.function.handler,
                "clock": None if self._pace is None else vars_of(self._pace),
            }
            self._asked(self._process, setup, INIT_S)
        return self._process

    def _started(self) -> subprocess.Popen[str]:
        self.starts += 1
        self._answers = queue.SimpleQueue()
        with self._log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", str(SCRIPT)],
                env=environment_of(self.function, self._surroundings),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
            )
        assert process.stdout is not None
        threading.Thread(target=_listen, args=(process.stdout, self._answers), daemon=True).start()
        return process

    def _asked(self, process: subprocess.Popen[str], question: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            line = self._answers.get(timeout=limit_s)
        except (queue.Empty, OSError) as error:
            self._end(process)
            said = f"Task timed out after {limit_s:.2f} seconds" if isinstance(error, queue.Empty) else str(error)
            raise FunctionFailedError(self.function.label, "Sandbox.Timedout", said) from error
        return self._checked(process, line)

    def _checked(self, process: subprocess.Popen[str], line: str) -> dict[str, Any]:
        if not line:
            self._end(process)
            raise FunctionFailedError(self.function.label, "Runtime.ExitError", "the process ended")
        answer: dict[str, Any] = json.loads(line)
        if "errorType" in answer:
            if answer["phase"] == "init":
                self._end(process)
            raise FunctionFailedError(self.function.label, answer["errorType"], answer["errorMessage"])
        return answer

    def _end(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.wait()
        _close(process)
        self._process = None


def _close(process: subprocess.Popen[str]) -> None:
    """The end of its input, by which it knows that it is over; it may be gone already."""
    with suppress(OSError):
        assert process.stdin is not None
        process.stdin.close()


def vars_of(pace: Pace) -> dict[str, Any]:
    return {"start": pace.start, "began": pace.began, "speed": pace.speed}


def _listen(lines: IO[str], answers: queue.SimpleQueue[str]) -> None:
    """Hands lines on; an empty one says that there will be no more."""
    for line in lines:
        answers.put(line)
    answers.put("")
    lines.close()
