"""Every function in this one process, one at a time: for nights in virtual time, through the Clock port.

Each has its own environment while it runs, its own pipeline and its own role's session. What differs from a process
of its own: modules are shared, nothing is ended for taking long, and the cluster is reached as `through` says.
"""

from __future__ import annotations

import json
import os
import time
from collections import UserDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from driftgate import bootstrap
from driftgate.app.pipeline import Pipeline
from driftgate.domain.errors import DriftgateError
from driftgate.ports import Clock, Clusters
from infra.local.cloud.server import CloudServer
from infra.local.runtime.function import Function, Surroundings, environment_of
from infra.local.runtime.process import FunctionFailedError

KEPT_OF_THE_MACHINE = ("PATH", "HOME", "PYTEST_CURRENT_TEST")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What Lambda gives a handler beside the event."""

    function_name: str
    memory_limit_in_mb: int
    invoked_function_arn: str
    aws_request_id: str
    ends: float

    def get_remaining_time_in_millis(self) -> int:
        return max(0, round((self.ends - time.monotonic()) * 1000))


class InProcess:
    """`Runtime` in this process. `through` may put another way to the cluster in place of the real client's.

    `read` are the names of the variables that each function asked for, by its label.
    """

    def __init__(self, cloud: CloudServer, code: Path, clock: Clock, through: Callable[[Clusters], Clusters]) -> None:
        self._cloud = cloud
        self._surroundings = Surroundings(endpoint=cloud.url, task_root=code)
        self._clock = clock
        self._through = through
        self._pipelines: dict[str, Pipeline | None] = {}
        self._running: list[Pipeline | None] = []
        self.read: dict[str, set[str]] = defaultdict(set)

    def admit(self, functions: tuple[Function, ...]) -> None:
        for function in functions:
            self._cloud.front.admit(function.key, function.role_arn, function.name)

    def run(self, function: Function, event: object, request_id: str) -> object:
        """Raises FunctionFailedError."""
        variables = environment_of(function, self._surroundings)
        with _environment(variables, self.read[function.label]), self._pieces(function):
            try:
                handler = import_module(function.handler.rpartition(".")[0]).handler
                return json.loads(json.dumps(handler(event, _context(function, request_id))))
            except Exception as error:
                raise FunctionFailedError(function.label, type(error).__name__, str(error)) from error

    @contextmanager
    def _pieces(self, function: Function) -> Iterator[None]:
        """A function may be called while another waits; afterwards that one's pieces are back."""
        if function.name not in self._pipelines:
            self._pipelines[function.name] = self._built()
        self._running.append(self._pipelines[function.name])
        bootstrap.use(self._running[-1])
        try:
            yield
        finally:
            self._running.pop()
            bootstrap.use(self._running[-1] if self._running else None)

    def _built(self) -> Pipeline | None:
        """None where the environment makes no pipeline: the handler asks again, and says why."""
        bootstrap.use_clock(self._clock)
        try:
            made = bootstrap.lambda_pipeline(os.environ)
        except DriftgateError:
            return None
        finally:
            bootstrap.use_clock(None)
        return replace(made, clusters=self._through(made.clusters))


class _Watched(UserDict[str, str]):
    """An environment that remembers which names were asked for."""

    def __init__(self, variables: Mapping[str, str], read: set[str]) -> None:
        self._read = read
        super().__init__(variables)

    def __getitem__(self, name: str) -> str:
        self._read.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._read.add(str(name))
        return super().__contains__(name)


@contextmanager
def _environment(variables: Mapping[str, str], read: set[str]) -> Iterator[None]:
    """These variables in place of the process's own."""
    machine: Any = os.environ
    kept = {name: machine[name] for name in KEPT_OF_THE_MACHINE if name in machine}
    watched: Any = _Watched({**kept, **variables}, read)
    os.environ = watched  # noqa: B003 - no child is started, and the machine's own comes back
    try:
        yield
    finally:
        os.environ = machine  # noqa: B003


def _context(function: Function, request_id: str) -> Any:
    return Context(
        function_name=function.name,
        memory_limit_in_mb=function.memory_mb,
        invoked_function_arn=function.arn,
        aws_request_id=request_id,
        ends=time.monotonic() + function.timeout_s,
    )
