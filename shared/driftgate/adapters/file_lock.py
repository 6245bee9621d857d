"""A lock between processes of one machine, freed by the kernel when its holder dies.

Waits for a bounded time; then the error names the holder. Must not be a file's existence: that outlives a kill.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from driftgate.domain.errors import LedgerUnavailableError
from driftgate.domain.jsonvalue import instant, integer, mapping, rfc3339
from driftgate.ports import Clock

PAUSE_S = 0.02
WAIT_S = 10.0


@contextmanager
def held_lock(path: Path, clock: Clock) -> Iterator[None]:
    """While the block runs, no other process or thread holds the lock.

    Raises LedgerUnavailableError after ten seconds, with the holder's process id and for how long it has held it.
    """
    descriptor = _opened(path)
    try:
        _wait(descriptor, path, clock)
        _sign(descriptor, clock)
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LedgerUnavailableError(f"the lock {path} cannot be opened: {error.strerror}") from error


def _wait(descriptor: int, path: Path, clock: Clock) -> None:
    for _ in range(round(WAIT_S / PAUSE_S)):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            clock.sleep(PAUSE_S)
        else:
            return
    raise LedgerUnavailableError(
        f"the ledger is locked by {_holder(descriptor, clock)} ({path}), and {WAIT_S:.0f} s of waiting did not help · "
        "Wait for that process, or end it if it no longer works; the lock then frees itself."
    )


def _sign(descriptor: int, clock: Clock) -> None:
    """The lock file tells who holds it and since when; only messages are made of it."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "since": rfc3339(clock.now())}).encode(), 0)


def _holder(descriptor: int, clock: Clock) -> str:
    try:
        signed = mapping(json.loads(os.pread(descriptor, 1000, 0)))
    except ValueError:
        signed = {}
    pid, since = integer(signed.get("pid")), instant(signed.get("since"))
    if pid is None or since is None:
        return "another process"
    return f"process {pid} for {(clock.now() - since).total_seconds():.0f} s"
