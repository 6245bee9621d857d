"""The three ledgers, each as a store that several workers open: the same suite judges them all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from moto import mock_aws

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.ledger_dynamodb import DynamoDbLedger, create_table
from driftgate.adapters.ledger_file import FileLedger
from driftgate.adapters.ledger_memory import MemoryLedger
from driftgate.ports import Ledger
from tests.fakes.clock import FakeClock

KINDS = ("memory", "file", "dynamodb")


class LedgerStore:
    """One store; `open` gives a worker's own handle to it."""

    def __init__(self, kind: str, folder: Path, aws: AwsSession) -> None:
        self.clock: Any = FakeClock()
        self._path = folder / "ledger.json"
        self._table = f"ledger-{uuid4()}"
        self._kind = kind
        self._aws = aws
        self._memory = MemoryLedger(self.clock)
        if kind == "dynamodb":
            create_table(aws.client("dynamodb", attempts=1), self._table)

    def open(self) -> Ledger:
        match self._kind:
            case "memory":
                return self._memory
            case "file":
                return FileLedger(self._path, self.clock)
        return DynamoDbLedger(self._aws, self._table, self.clock)


@contextmanager
def moto_session(clock: FakeClock | None = None) -> Iterator[AwsSession]:
    """AWS as moto has it, in this process: nothing leaves it."""
    with mock_aws():
        yield AwsSession(clock or FakeClock(), region="eu-central-1")


@contextmanager
def ledger_store(kind: str, aws: AwsSession) -> Iterator[LedgerStore]:
    with TemporaryDirectory() as folder:
        yield LedgerStore(kind, Path(folder), aws)
