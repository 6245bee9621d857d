"""Reads off what every function uses: its calls to AWS as the local AWS hears them, its runs, its lines of log.

What is billed without a call of ours is added: the queue's receive and delete beside each send, the key's use beside
each publish, and what Lambda itself writes into a function's log.
"""

from __future__ import annotations

import io
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from driftgate.observability import logger
from driftgate.ports import Clock
from infra.local.iam.calls import Call
from infra.local.runtime.function import Function
from infra.local.runtime.invocations import Runtime
from tests.bench.costs import tables
from tests.bench.costs.usage import Unit, Usage

LINE_BYTES = 26
"""Added by CloudWatch Logs to each event. Source: aws docs, API_PutLogEvents (2026)."""

PLATFORM_BYTES = 1000
"""Start, end, report and trace of an invocation, as Lambda writes them in JSON: about 200 to 350 bytes each."""

ONE: Mapping[tuple[str, str], Mapping[Unit, float]] = {
    ("sns", "Publish"): {Unit.PUBLISH: 1.0, Unit.KEY_USE: 2.0},
    ("sqs", "SendMessage"): {Unit.FIFO_REQUEST: 3.0},
    ("sqs", "ReceiveMessage"): {},
    ("sqs", "DeleteMessage"): {},
    ("sqs", "GetQueueAttributes"): {},
    ("cloudwatch", "DescribeAlarms"): {Unit.CLOUDWATCH_CALL: 1.0},
    ("cloudwatch", "DescribeAlarmHistory"): {Unit.CLOUDWATCH_CALL: 1.0},
    ("cloudwatch", "ListAlarmMuteRules"): {Unit.CLOUDWATCH_CALL: 1.0},
    ("lambda", "Invoke"): {},
}
FREE = frozenset({"ssm", "ec2", "eks", "sts"})


@dataclass(slots=True)
class Runs:
    """What one function did: how often, how long it waited in virtual time, the processor's time, what it used.

    `calls` are those to AWS, in order; `read_bytes` what its queries read.
    """

    count: int = 0
    waited_s: float = 0.0
    cpu_s: float = 0.0
    read_bytes: int = 0
    calls: list[str] = field(default_factory=list)
    used: dict[Unit, float] = field(default_factory=lambda: defaultdict(float))

    def usage(self) -> Usage:
        return Usage(dict(self.used))


class Meter:
    """`Runtime` around another: by the label of the function, from the last `take` on."""

    def __init__(self, runtime: Runtime, clock: Clock) -> None:
        self._runtime = runtime
        self._clock = clock
        self._labels: Mapping[str, str] = {}
        self._runs: dict[str, Runs] = defaultdict(Runs)

    def know(self, functions: tuple[Function, ...]) -> None:
        """Whose calls are counted: each is known by its key."""
        self._labels = {function.key: function.label for function in functions}

    def take(self) -> Mapping[str, Runs]:
        """What was used since the last time."""
        taken, self._runs = self._runs, defaultdict(Runs)
        return taken

    def hear(self, call: Call, result: Mapping[str, Any]) -> None:
        """One call to AWS that succeeded."""
        label = self._labels.get(call.key)
        if label is None:
            return
        runs = self._runs[label]
        runs.calls.append(f"{call.service}:{call.operation}")
        for unit, amount in _units(call, result).items():
            runs.used[unit] += amount
        if call.operation == "Query":
            runs.read_bytes += tables.query_bytes(result["Items"])

    def run(self, function: Function, event: object, request_id: str) -> object:
        runs, began, cpu = self._runs[function.label], self._clock.now(), time.process_time()
        try:
            with _written(runs):
                return self._runtime.run(function, event, request_id)
        finally:
            runs.count += 1
            runs.waited_s += (self._clock.now() - began).total_seconds()
            runs.cpu_s += time.process_time() - cpu
            runs.used[Unit.LAMBDA_REQUEST] += 1
            runs.used[Unit.TRACE] += function.is_traced
            runs.used[Unit.LOG_BYTE] += PLATFORM_BYTES


def _units(call: Call, result: Mapping[str, Any]) -> Mapping[Unit, float]:
    """Raises KeyError for a call whose price nobody looked up."""
    if call.service in FREE:
        return {Unit.FREE: 1.0}
    match call.service, call.operation:
        case "dynamodb", "Query":
            return {Unit.TABLE_READ: tables.reads(tables.query_bytes(result["Items"]))}
        case "dynamodb", "BatchGetItem":
            return {Unit.TABLE_READ: _batch_reads(call.params, result)}
        case "dynamodb", "PutItem":
            return {Unit.TABLE_WRITE: tables.writes(tables.item_bytes(call.params["Item"]))}
        case "dynamodb", "TransactWriteItems":
            return {Unit.TABLE_WRITE: tables.transaction_writes(call.params)}
        case "events", "PutEvents":
            return {Unit.EVENT: float(len(call.params["Entries"]))}
    return ONE[call.service, call.operation]


def _batch_reads(params: Mapping[str, Any], result: Mapping[str, Any]) -> int:
    asked = sum(len(table["Keys"]) for table in params["RequestItems"].values())
    return tables.batch_reads(asked, [item for items in result["Responses"].values() for item in items])


class _Tap(io.TextIOBase):
    """Standard output that is counted and dropped."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def write(self, text: str) -> int:
        self._runs.used[Unit.LOG_BYTE] += len(text.encode()) + LINE_BYTES * text.count("\n")
        return len(text)


@contextmanager
def _written(runs: Runs) -> Iterator[None]:
    """What is printed and logged meanwhile goes to the function's log; who is interrupted gets its own back."""
    handler: Any = logger.registered_handler
    before, printed, tap = handler.stream, sys.stdout, _Tap(runs)
    handler.stream = sys.stdout = tap
    try:
        yield
    finally:
        handler.stream, sys.stdout = before, printed
