"""A ledger in one JSON file, for one machine: several processes may use it at the same time.

A writer holds a lock on a file beside it, writes a copy, and renames it into place, so a reader or a kill at any
moment finds the state before or after a commit, never a half. A file that cannot be understood is left as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path

from driftgate.adapters.file_lock import held_lock
from driftgate.adapters.ledger_book import Book, fleet_of, state_of
from driftgate.adapters.ledger_document import book_from_document, book_to_document
from driftgate.adapters.ledger_rules import cleaned, committed, lease_request, leased, released
from driftgate.domain.errors import (
    AnswerLostError,
    InvalidInputError,
    InvariantError,
    LedgerCorruptError,
    LedgerUnavailableError,
)
from driftgate.domain.ledger import LeaseRecord
from driftgate.ports import Clock, LedgerChange, LedgerState


class FileLedger:
    """The ledger at `path`; a file that does not exist is an empty ledger, and comes with the first write."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path.resolve()
        self._clock = clock

    def load(self, cluster: str) -> LedgerState:
        return state_of(self._read(), cluster, self._clock.now())

    def load_fleet(self) -> Mapping[str, LedgerState]:
        return fleet_of(self._read())

    def commit(self, cluster: str, *changes: LedgerChange) -> None:
        with self._locked():
            self._write(committed(self._read(), cluster, changes))

    def acquire_lease(self, cluster: str, holder: str, now: datetime, ttl: timedelta) -> LeaseRecord:
        with self._locked():
            book, lease = leased(self._read(), lease_request(cluster, holder, now, ttl), now)
            self._write(book)
        return lease

    def release_lease(self, lease: LeaseRecord) -> None:
        with self._locked():
            self._write(released(self._read(), lease))

    def _locked(self) -> AbstractContextManager[None]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unavailable(self._path, error) from error
        return held_lock(self._path.with_name(self._path.name + ".lock"), self._clock)

    def _read(self) -> Book:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _unavailable(self._path, error) from error
        except UnicodeDecodeError as error:
            raise _corrupt(self._path, f"is not UTF-8 at byte {error.start}") from error
        return _parsed(self._path, text)

    def _write(self, book: Book) -> None:
        document = json.dumps(book_to_document(cleaned(book, self._clock.now())), ensure_ascii=False, indent=1)
        _check_readable(document)
        try:
            _replace(self._path, document.encode())
        except OSError as error:
            raise _unavailable(self._path, error) from error
        try:
            _sync_folder(self._path.parent)
        except OSError as error:
            raise AnswerLostError(f"{self._path} was written, but may not survive a power cut: {error}") from error


def _check_readable(document: str) -> None:
    """Raises InvariantError: what could not be read again must not be written."""
    try:
        book_from_document(json.loads(document))
    except InvalidInputError as error:
        raise InvariantError(f"the commit would make the ledger unreadable: {error}; nothing was written") from error


def _parsed(path: Path, text: str) -> Book:
    try:
        return book_from_document(json.loads(text))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _corrupt(path, f"is cut short or not JSON at {place}: {error.msg}") from error
    except (InvalidInputError, ValueError, RecursionError) as error:
        raise _corrupt(path, str(error)) from error


def _replace(path: Path, content: bytes) -> None:
    """The file holds the content, on disk; at every moment before, it holds what it held."""
    copy = path.with_name(path.name + ".new")
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        os.fchmod(descriptor, 0o600)
        stream.write(content)
        stream.flush()
        os.fsync(descriptor)
    copy.replace(path)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unavailable(path: Path, error: OSError) -> LedgerUnavailableError:
    return LedgerUnavailableError(f"the ledger {path} cannot be used: {error.strerror or error}; nothing was changed")


def _corrupt(path: Path, why: str) -> LedgerCorruptError:
    return LedgerCorruptError(
        f"the ledger {path} {why} · Nothing was overwritten. Put back a copy, or move the file away and let "
        "`driftgate close` put back the baselines, which every open NodePool carries itself."
    )
