"""Handlers as Lambda calls them: a context, real events, and a world put in place of the environment."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from driftgate import bootstrap
from driftgate.bootstrap import Deployment
from driftgate.observability import logger, metrics
from tests.fakes.pipeline import FakeWorld

EVENTS = Path(__file__).resolve().parents[1] / "events"
REGION = "eu-central-1"
Event = dict[str, Any]


class Context:
    """What Lambda gives beside the event."""

    function_name = "driftgate-test"
    memory_limit_in_mb = 256
    invoked_function_arn = f"arn:aws:lambda:{REGION}:111122223333:function:driftgate-test"
    aws_request_id = "request-1"

    def get_remaining_time_in_millis(self) -> int:
        return 120_000


@dataclass(frozen=True, slots=True)
class Output:
    """What an invocation wrote to standard output: log lines and metrics."""

    lines: list[Event] = field(default_factory=list)

    @property
    def logs(self) -> list[Event]:
        return [line for line in self.lines if "_aws" not in line]

    @property
    def metrics(self) -> list[Event]:
        return [line for line in self.lines if "_aws" in line]

    def log(self, message: str) -> list[Event]:
        return [line for line in self.logs if line["message"] == message]

    def values(self) -> dict[str, Any]:
        """Every metric by name, its values as one list where it was emitted several times."""
        found: dict[str, Any] = {}
        for blob in self.metrics:
            for described in blob["_aws"]["CloudWatchMetrics"]:
                for metric in described["Metrics"]:
                    found.setdefault(metric["Name"], []).extend(blob[metric["Name"]])
        return found

    def dimensions(self) -> set[str]:
        described = [each for blob in self.metrics for each in blob["_aws"]["CloudWatchMetrics"]]
        return {name for each in described for names in each["Dimensions"] for name in names}


def event(name: str) -> Event:
    """A recorded event."""
    found: Event = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def context() -> Context:
    return Context()


@pytest.fixture
def use() -> Iterator[Callable[[FakeWorld], FakeWorld]]:
    """Puts a world in place; afterwards the process is as cold as before."""

    def put(world: FakeWorld) -> FakeWorld:
        bootstrap.use(world.pipeline(), Deployment(name="local", region=REGION))
        return world

    yield put
    bootstrap.use(None)
    logger.clear_state()
    metrics.clear_metrics()


class CurrentStdout(io.TextIOBase):
    """Whatever standard output is now: pytest changes it from test to test, and a logger keeps what it was given."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)


@pytest.fixture(autouse=True)
def _log_to_this_test() -> None:
    found = logger.registered_handler
    assert isinstance(found, logging.StreamHandler)
    found.stream = CurrentStdout()


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Callable[[], Output]:
    """What was written since the last call."""

    def read() -> Output:
        return Output([json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")])

    return read
