"""The objects of the simulated cluster and the history of their changes, like etcd: one counter for all.

Stored objects are never changed in place, so readers need the lock only to take references.
"""

from __future__ import annotations

import bisect
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Literal

from driftgate.sim.kinds import KINDS, Kind
from driftgate.sim.objects import JsonDict, labels_of, name_of, namespace_of
from driftgate.sim.status import EXPIRED_CONTINUE, expired, watch_expired


class Stored:
    """One object as stored at one version, with its JSON written at most once for each form."""

    __slots__ = ("_item", "_whole", "key", "kind", "labels", "name", "obj", "version")

    def __init__(self, kind: Kind, obj: JsonDict, version: int) -> None:
        self.kind = kind
        self.obj = obj
        self.version = version
        self.name = name_of(obj)
        self.key = key_of(self.name, namespace_of(obj))
        self.labels = labels_of(obj)
        self._whole: bytes | None = None
        self._item: bytes | None = None

    def whole(self) -> bytes:
        """The JSON of the object."""
        if self._whole is None:
            self._whole = encode(self.obj, ordered=self.kind.custom)
        return self._whole

    def item(self) -> bytes:
        """The JSON as an item of a list: built-in kinds leave out kind and apiVersion there."""
        if self.kind.custom:
            return self.whole()
        if self._item is None:
            self._item = encode({k: v for k, v in self.obj.items() if k not in ("kind", "apiVersion")})
        return self._item


def encode(value: object, *, ordered: bool = False) -> bytes:
    """Compact JSON; `ordered` sorts the keys, as the server does for custom resources."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=ordered).encode()


def key_of(name: str, namespace: str = "") -> str:
    return f"{namespace}/{name}" if namespace else name


ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `after` of a deletion is the last state, at the deletion's version."""

    version: int
    kind: Kind
    type: ChangeType
    before: Stored | None
    after: Stored
    at: datetime
    manager: str


class Store:
    """All objects. Every method may be called from any thread; `lock` makes several calls one."""

    def __init__(self, first_version: int = 1000, keep: int = 200_000) -> None:
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.listeners: list[Callable[[Change], None]] = []
        self._objects: dict[Kind, dict[str, Stored]] = {kind: {} for kind in KINDS}
        self._keys: dict[Kind, list[str]] = {}
        self._history: dict[Kind, list[Change]] = {kind: [] for kind in KINDS}
        self._version = first_version
        self._compacted = first_version
        self._keep = keep

    @property
    def version(self) -> int:
        """The version of the last write of all."""
        return self._version

    def get(self, kind: Kind, key: str) -> Stored | None:
        with self.lock:
            return self._objects[kind].get(key)

    def all_of(self, kind: Kind) -> list[Stored]:
        """All objects of the kind, in the order of their keys."""
        with self.lock:
            found = self._objects[kind]
            keys = self._keys.get(kind)
            if keys is None:
                keys = self._keys[kind] = sorted(found)
            return [found[key] for key in keys]

    def list_at(self, kind: Kind, version: int) -> list[Stored]:
        """The objects as they were at an earlier version. Raises ApiError 410 where history was compacted."""
        with self.lock:
            if version < self._compacted:
                raise expired(EXPIRED_CONTINUE)
            later = self._after(kind, version)
            if not later:
                return self.all_of(kind)
            found = dict(self._objects[kind])
            for change in reversed(later):
                if change.before is None:
                    found.pop(change.after.key, None)
                else:
                    found[change.after.key] = change.before
            return [found[key] for key in sorted(found)]

    def changes_since(self, kind: Kind, version: int) -> list[Change]:
        """All changes after the version. Raises ApiError 410 where history was compacted."""
        with self.lock:
            if version < self._compacted:
                raise watch_expired(version, self._compacted)
            return self._after(kind, version)

    def _after(self, kind: Kind, version: int) -> list[Change]:
        history = self._history[kind]
        return history[bisect.bisect_right(history, version, key=attrgetter("version")) :]

    def next_version(self) -> int:
        """Takes the next version; the caller holds the lock and writes at it."""
        self._version += 1
        return self._version

    def put(self, stored: Stored, at: datetime, manager: str) -> Stored:
        """Adds or replaces the object, at the version it carries."""
        with self.lock:
            before = self._objects[stored.kind].get(stored.key)
            self._objects[stored.kind][stored.key] = stored
            kind: ChangeType = "ADDED" if before is None else "MODIFIED"
            self._record(Change(stored.version, stored.kind, kind, before, stored, at, manager))
            return stored

    def remove(self, last: Stored, at: datetime, manager: str) -> None:
        """Takes the object away; `last` is its last state at the version of the deletion."""
        with self.lock:
            before = self._objects[last.kind].pop(last.key)
            self._record(Change(last.version, last.kind, "DELETED", before, last, at, manager))

    def _record(self, change: Change) -> None:
        if change.type != "MODIFIED":
            self._keys.pop(change.kind, None)
        history = self._history[change.kind]
        history.append(change)
        if len(history) > self._keep:
            self._compacted = history[len(history) // 2].version
            del history[: len(history) // 2 + 1]
        self.changed.notify_all()
        for listener in self.listeners:
            listener(change)

    def compact(self) -> None:
        """Forgets all history: older watches and continue tokens get 410."""
        with self.lock:
            self._compacted = self._version
            for history in self._history.values():
                history.clear()
