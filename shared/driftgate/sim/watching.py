"""Watches: what changed from a version on, one JSON object a line, until the watch's time is over.

The time of a watch is real time, whatever clock the cluster runs on: the client's timeouts are real, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from driftgate.sim.kinds import Kind
from driftgate.sim.objects import JsonDict
from driftgate.sim.selectors import Matches
from driftgate.sim.status import ApiError
from driftgate.sim.store import Change, Store, Stored, encode

BOOKMARK_EVERY_S = 60.0
DEFAULT_TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """`since` None starts with what is there (as ADDED). `is_over` ends the watch from outside."""

    since: int | None
    namespace: str = ""
    matches: Matches | None = None
    bookmarks: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S
    is_over: Callable[[], bool] = lambda: False

    def selects(self, stored: Stored | None) -> bool:
        if stored is None or (self.namespace and not stored.key.startswith(f"{self.namespace}/")):
            return False
        return self.matches is None or self.matches(stored)


def watch(store: Store, kind: Kind, options: WatchOptions) -> Iterator[bytes]:
    """The lines of the answer. A version that is too old is an ERROR event with a Status of 410."""
    began = bookmarked = time.monotonic()
    version, first = _start(store, kind, options)
    yield from first
    while (left := began + options.timeout_s - time.monotonic()) > 0 and not options.is_over():
        try:
            changes, newest = _wait(store, kind, version, min(left, 0.5))
        except ApiError as error:
            yield _line("ERROR", encode(error.to_status()))
            return
        yield from (line for change in changes if (line := _shown(change, options)) is not None)
        version = newest
        if options.bookmarks and time.monotonic() - bookmarked >= BOOKMARK_EVERY_S:
            bookmarked = time.monotonic()
            yield _bookmark(kind, version)
    if options.bookmarks and not options.is_over():
        yield _bookmark(kind, version)


def _start(store: Store, kind: Kind, options: WatchOptions) -> tuple[int, list[bytes]]:
    if options.since is not None:
        return options.since, []
    with store.lock:
        there = [entry for entry in store.all_of(kind) if options.selects(entry)]
        return store.version, [_line("ADDED", entry.whole()) for entry in there]


def _wait(store: Store, kind: Kind, version: int, timeout_s: float) -> tuple[list[Change], int]:
    """Changes after the version, and the version up to which nothing is left out."""
    with store.lock:
        changes = store.changes_since(kind, version)
        if not changes:
            store.changed.wait(timeout_s)
            changes = store.changes_since(kind, version)
        return changes, max(version, store.version)


def _shown(change: Change, options: WatchOptions) -> bytes | None:
    """An object that leaves the selection is DELETED for this watcher, one that enters it ADDED."""
    was, is_now = options.selects(change.before), options.selects(change.after)
    if change.type == "DELETED":
        return _line("DELETED", change.after.whole()) if was else None
    if is_now:
        return _line("MODIFIED" if was else "ADDED", change.after.whole())
    return _line("DELETED", _last_seen(change)) if was else None


def _last_seen(change: Change) -> bytes:
    """The last state that was selected, at the version of the change that ended it."""
    before = change.before.obj if change.before is not None else change.after.obj
    metadata = before.get("metadata")
    shown: JsonDict = dict(metadata) if isinstance(metadata, dict) else {}
    return encode(before | {"metadata": shown | {"resourceVersion": str(change.version)}})


def _bookmark(kind: Kind, version: int) -> bytes:
    body: JsonDict = {"kind": kind.kind, "apiVersion": kind.api_version}
    return _line("BOOKMARK", encode(body | {"metadata": {"resourceVersion": str(version)}}))


def _line(event: str, body: bytes) -> bytes:
    return b'{"type":"' + event.encode() + b'","object":' + body + b"}\n"
