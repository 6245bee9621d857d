"""A Slack channel, and the memory of its threads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from driftgate.domain.chat_turn import Thread
from driftgate.domain.errors import ChatRefusedError, DriftgateError, LedgerConflictError
from driftgate.domain.slack_message import SlackMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A message as it stands in the channel; `root` is the message that it replies to, "" where it stands alone."""

    ts: str
    message: SlackMessage
    root: str = ""


@dataclass(slots=True)
class FakeSlackChannel:
    """Remembers what was posted. Each post first meets the next of `faults`; None is none."""

    posted: list[Posted] = field(default_factory=list)
    faults: list[DriftgateError | None] = field(default_factory=list)

    def post(self, message: SlackMessage, root: str = "") -> str:
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        if root and root not in [known.ts for known in self.posted if not known.root]:
            raise ChatRefusedError("no such message", code="thread_not_found")
        ts = f"1792203000.{len(self.posted) + 1:06}"
        self.posted.append(Posted(ts=ts, message=message, root=root))
        return ts


class MemorySlackThreads:
    """Keeps threads in memory. Each call first meets the next of `faults`; None is none."""

    def __init__(self, *threads: Thread, faults: Iterable[DriftgateError | None] = ()) -> None:
        self.known = {thread.name: thread for thread in threads}
        self.faults = list(faults)

    def read(self, name: str) -> Thread:
        self._meet_fault()
        return self.known.get(name, Thread(name=name))

    def write(self, thread: Thread) -> Thread:
        self._meet_fault()
        if thread.version != self.known.get(thread.name, Thread(name=thread.name)).version:
            raise LedgerConflictError("somebody else wrote it")
        self.known[thread.name] = replace(thread, version=thread.version + 1)
        return self.known[thread.name]

    def _meet_fault(self) -> None:
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
