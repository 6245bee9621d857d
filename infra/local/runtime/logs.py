"""What a function printed, in its log group: written there as Lambda does it, with the function's own role."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from infra.local.runtime.function import Function

MOST_LINES = 1000


class FunctionLog:
    """The file that a process writes to, and how far it has been carried into the log group."""

    def __init__(self, function: Function, path: Path, client: Any, now_ms: Callable[[], int]) -> None:
        self.path = path
        self._function = function
        self._client = client
        self._now_ms = now_ms
        self._read = 0
        self._has_stream = False
        self._lock = threading.Lock()
        path.write_text("", encoding="utf-8")

    def carry(self) -> None:
        """What was printed since the last time. A refusal is in the front's record: as in AWS, the function goes on."""
        with self._lock:
            lines = self._new_lines()
            if not lines:
                return
            try:
                self._write(lines[-MOST_LINES:])
            except ClientError:
                return

    def _new_lines(self) -> list[str]:
        with self.path.open(encoding="utf-8", errors="replace") as file:
            file.seek(self._read)
            found = file.read()
            self._read = file.tell()
        return [line for line in found.splitlines() if line.strip()]

    def _write(self, lines: list[str]) -> None:
        stream = {"logGroupName": self._function.log_group, "logStreamName": f"local/{self._function.label}"}
        if not self._has_stream:
            self._client.create_log_stream(**stream)
            self._has_stream = True
        at = self._now_ms()
        self._client.put_log_events(**stream, logEvents=[{"timestamp": at, "message": line} for line in lines])
