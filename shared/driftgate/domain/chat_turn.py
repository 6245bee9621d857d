"""Whose turn it is to speak in a thread: one message at a time, each event once.

Two deliveries may come at the same moment, and neither must open a second thread for a roll. So whoever wants to
speak takes the thread's turn first, by a write that holds only if nobody else wrote meanwhile. A turn ends by itself:
who died while it was speaking keeps nobody silent. Must not store or send anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

THREAD_LASTS = timedelta(days=7)
"""After this a thread is left alone: its first message is too far up for a reply to be noticed. No roll is so long."""

REMEMBERED = 100
"""Events that a thread remembers; a delivery is repeated within hours, not after a hundred others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """What is known of a thread. `root` is the `ts` of its first message, "" where there is none (yet).

    `holder` speaks until `until`; "" where nobody does. `said` are the ids of the events told, oldest first. A write
    of the record expects `version`; 0 is a thread that nobody knows.
    """

    name: str
    root: str = ""
    root_at: datetime | None = None
    said: tuple[str, ...] = ()
    holder: str = ""
    until: datetime | None = None
    version: int = 0

    def has_said(self, event: str) -> bool:
        return event in self.said

    def is_taken(self, by: str, now: datetime) -> bool:
        """Whether somebody else is speaking."""
        return self.holder not in ("", by) and self.until is not None and now < self.until

    def live_root(self, now: datetime) -> str:
        """What to reply to; "" where a new thread begins."""
        return self.root if self.root_at is not None and now - self.root_at < THREAD_LASTS else ""


def taken(thread: Thread, by: str, until: datetime) -> Thread:
    """The thread with the turn taken."""
    return replace(thread, holder=by, until=until)


def given_up(thread: Thread) -> Thread:
    """The thread with the turn given back and nothing said."""
    return replace(thread, holder="", until=None)


def spoken(thread: Thread, event: str, ts: str, root: str, now: datetime) -> Thread:
    """The thread after the event was told as message `ts`: a reply to `root`, or the first one where that is ""."""
    done = replace(given_up(thread), said=(*thread.said, event)[-REMEMBERED:])
    return done if root else replace(done, root=ts, root_at=now)
