"""One function in a process of its own, as Lambda runs it: loaded once, invoked with one event at a time.

Run as a script, with the function's environment and nothing of the project on the path but the function's own code.
The first line of the input says what to load, each further one is an invocation; each gives one line of answer.
Whatever the function prints goes to standard error: its log.

Source: aws docs, lambda/latest/dg/runtimes-api and python-context (2026).
"""

from __future__ import annotations

import ipaddress
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, TextIO

Handler = Callable[[Any, Any], Any]


class Context:
    """What a handler gets beside the event."""

    def __init__(self, invocation: dict[str, Any]) -> None:
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = int(os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"])
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = os.environ["AWS_LAMBDA_LOG_STREAM_NAME"]
        self.invoked_function_arn = invocation["arn"]
        self.aws_request_id = invocation["requestId"]
        self._ends = time.monotonic() + float(invocation["seconds"])

    def get_remaining_time_in_millis(self) -> int:
        return max(0, round((self._ends - time.monotonic()) * 1000))


class FastClock:
    """The cluster's time, which may run faster than this machine's: `ports.Clock`."""

    def __init__(self, start: str, began: float, speed: float) -> None:
        self._start = datetime.fromisoformat(start)
        self._began = began
        self._speed = speed

    def now(self) -> datetime:
        return self._start + timedelta(seconds=(time.monotonic() - self._began) * self._speed)

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds) / self._speed)


def main() -> None:
    """Serves until the input ends."""
    answers, setup = os.fdopen(os.dup(1), "w", encoding="utf-8"), json.loads(sys.stdin.readline())
    os.dup2(2, 1)
    sys.addaudithook(_stay_on_the_loopback)
    sys.path.insert(0, setup["taskRoot"])
    try:
        handler = _loaded(setup)
    except BaseException as error:
        _say(answers, _failure(error, "init"))
        return
    _say(answers, {"ready": True})
    for line in sys.stdin:
        _say(answers, _invoked(handler, json.loads(line)))


def _loaded(setup: dict[str, Any]) -> Handler:
    if setup["clock"] is not None:
        from driftgate import bootstrap

        bootstrap.use_clock(FastClock(**setup["clock"]))
    module, _, name = str(setup["handler"]).rpartition(".")
    found: Handler = getattr(import_module(module), name)
    return found


def _invoked(handler: Handler, invocation: dict[str, Any]) -> dict[str, Any]:
    try:
        result = handler(invocation["event"], Context(invocation))
        return {"result": json.loads(json.dumps(result))}
    except Exception as error:
        return _failure(error, "invoke")


def _failure(error: BaseException, phase: str) -> dict[str, Any]:
    traceback.print_exc()
    return {"errorType": type(error).__name__, "errorMessage": str(error), "phase": phase}


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    print(json.dumps(answer), file=answers, flush=True)


def _stay_on_the_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """Nothing of this machine may ever reach a real account, whatever an endpoint says."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "localhost"
    elif event == "socket.getaddrinfo":
        host = arguments[0] or "localhost"
    else:
        return
    if host != "localhost" and not _is_loopback(str(host)):
        raise PermissionError(f"a function tried to reach {host}: nothing leaves this machine")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


if __name__ == "__main__":
    main()
