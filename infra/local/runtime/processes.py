"""Every function in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from infra.local.cloud.server import CloudServer
from infra.local.runtime.function import Function, Surroundings
from infra.local.runtime.logs import FunctionLog
from infra.local.runtime.process import FunctionProcess, Pace

CodeOf = Callable[[Function], Path]


class Processes:
    """`Runtime` by processes. `code_of` says where the code of a function lies; `logs` is a folder."""

    def __init__(self, cloud: CloudServer, code_of: CodeOf, logs: Path, pace: Pace | None = None) -> None:
        self._cloud = cloud
        self._code_of = code_of
        self._folder = logs
        self._pace = pace
        self._processes: dict[str, FunctionProcess] = {}
        self._logs: dict[str, FunctionLog] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def admit(self, functions: tuple[Function, ...]) -> None:
        """Makes their processes, not yet started, and their roles' sessions."""
        for function in functions:
            self._cloud.front.admit(function.key, function.role_arn, function.name)
            path = self._folder / f"{function.log_name}.log"
            client = self._cloud.client("logs", function.key)
            self._logs[function.name] = FunctionLog(function, path, client, lambda: int(time.time() * 1000))
            surroundings = Surroundings(endpoint=self._cloud.url, task_root=self._code_of(function))
            self._processes[function.name] = FunctionProcess(function, surroundings, path, self._pace)

    def run(self, function: Function, event: object, request_id: str) -> object:
        """Raises FunctionFailedError."""
        try:
            return self._processes[function.name].invoke(event, request_id)
        finally:
            self._logs[function.name].carry()

    def stop(self) -> None:
        for process in self._processes.values():
            process.stop()
