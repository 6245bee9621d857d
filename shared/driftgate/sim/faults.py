"""Trouble on request: the next request that matches is refused, left hanging, cut off, or lands late."""

from __future__ import annotations

import fnmatch
import threading
from dataclasses import dataclass, field
from typing import Literal

Action = Literal["status", "hang", "close_before", "close_after", "land_late", "cut_watch"]


@dataclass(slots=True, kw_only=True)
class Fault:
    """One order. `path` may hold `*`; the first `skip` matching requests pass, then `times` are hit.

    status        answered with `code` (and `message`, where there is one); nothing happens
    hang          no answer until `release` or the end of the server; nothing happens
    close_before  the connection closes; nothing happened
    close_after   it happens, then the connection closes without an answer
    land_late     the connection closes at once; it happens `delay_s` simulated seconds later
    cut_watch     a watch whose connection breaks after `events` events
    """

    action: Action
    method: str = "*"
    path: str = "*"
    code: int = 500
    message: str = ""
    delay_s: float = 0.0
    events: int = 0
    skip: int = 0
    times: int = 1
    hits: int = 0
    released: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        """Lets hanging requests go: their connections close."""
        self.released.set()

    def matches(self, method: str, path: str) -> bool:
        return self.method in ("*", method) and fnmatch.fnmatchcase(path, self.path)


class Faults:
    """The orders not yet used up, oldest first."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> Fault:
        with self._lock:
            self._orders.append(fault)
        return fault

    def take(self, method: str, path: str) -> Fault | None:
        """The fault that hits this request, which counts as used."""
        with self._lock:
            for fault in self._orders:
                if not fault.matches(method, path) or fault.hits >= fault.times:
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    return None
                fault.hits += 1
                return fault
        return None

    def clear(self) -> None:
        """Forgets all orders and lets hanging requests go."""
        with self._lock:
            for fault in self._orders:
                fault.release()
            self._orders.clear()
