"""Tells a notice in a Slack channel: each event once, one thread per roll, and nothing is lost.

The thread's turn is taken first (`domain.chat_turn`), then the message posted, then written down that it was. Where
the turn cannot be had in time, or Slack does not take the message, this raises and the delivery is repeated. A ledger
that does not answer keeps nobody silent: the message then stands alone, and may stand there twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from driftgate.domain.chat_turn import Thread, given_up, spoken, taken
from driftgate.domain.errors import (
    AnswerLostError,
    ChatRefusedError,
    ChatUnavailableError,
    DriftgateError,
    LedgerConflictError,
    LedgerUnavailableError,
)
from driftgate.domain.notice import Notice
from driftgate.domain.slack_message import SlackMessage, slack_message
from driftgate.ports import Clock, SlackChannel, SlackThreads

LOOK_EVERY_S = 1.0
POST = timedelta(seconds=15)
"""What a post takes at most, with writing it down: less than this before the deadline nothing is begun."""

# Slack's words for blocks that it does not take, and for a first message that nobody can reply to.
_BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_payload"})
_ROOT_REFUSED = frozenset(
    {"thread_not_found", "message_not_found", "cannot_reply_to_message", "restricted_action_thread_locked"}
)


class Outcome(StrEnum):
    """What became of a notice."""

    POSTED = "posted"
    SAID_BEFORE = "said before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """The outside world of the notifier."""

    clock: Clock
    channel: SlackChannel
    threads: SlackThreads


@dataclass(slots=True, kw_only=True)
class NotifyReport:
    """What was done; `problems` are what did not keep the message from being read."""

    thread: str
    event: str
    outcome: Outcome = Outcome.POSTED
    ts: str = ""
    root: str = ""
    problems: list[str] = field(default_factory=list)

    def to_object(self) -> dict[str, object]:
        return {
            "threadId": self.thread,
            "event": self.event,
            "outcome": str(self.outcome),
            "ts": self.ts or None,
            "root": self.root or None,
            "problems": self.problems,
        }


def notify_slack(notifier: Notifier, notice: Notice, holder: str, deadline: datetime) -> NotifyReport:
    """The notice stands in the channel. `holder` is this delivery's own name, `deadline` when it will be ended.

    Raises:
        ChatUnavailableError: Slack or the thread's turn could not be had in time; the delivery must come again.
        ChatRefusedError, AwsForbiddenError, InvalidSettingsError: a person must change something; nothing was posted.
    """
    report = NotifyReport(thread=notice.thread, event=notice.id)
    try:
        thread = _take_turn(notifier, notice, holder, deadline)
    except LedgerUnavailableError as error:
        report.problems.append(f"told outside its thread: {error}")
        report.ts = _Poster(notifier, deadline).post(slack_message(notice), "")
        return report
    if thread is None:
        report.outcome = Outcome.SAID_BEFORE
        return report
    return _speak(notifier, notice, thread, deadline, report)


def _take_turn(notifier: Notifier, notice: Notice, holder: str, deadline: datetime) -> Thread | None:
    """The thread with the turn taken; None where the event was told before."""
    while True:
        now, thread = notifier.clock.now(), notifier.threads.read(notice.thread)
        if thread.has_said(notice.id):
            return None
        if not thread.is_taken(holder, now):
            try:
                return notifier.threads.write(taken(thread, holder, max(deadline, now) + POST))
            except (LedgerConflictError, AnswerLostError):
                pass  # somebody was faster, or this very write got through: the next look tells
        if now + POST >= deadline:
            raise ChatUnavailableError(f"somebody else is still speaking in the thread {notice.thread}")
        notifier.clock.sleep(LOOK_EVERY_S)


def _speak(
    notifier: Notifier, notice: Notice, thread: Thread, deadline: datetime, report: NotifyReport
) -> NotifyReport:
    poster = _Poster(notifier, deadline)
    try:
        report.ts = poster.post(slack_message(notice), thread.live_root(notifier.clock.now()))
    except DriftgateError:
        _write_down(notifier, given_up(thread), report)
        raise
    report.root = poster.root
    _write_down(notifier, spoken(thread, notice.id, report.ts, poster.root, notifier.clock.now()), report)
    return report


def _write_down(notifier: Notifier, thread: Thread, report: NotifyReport) -> None:
    """A memory that fails does not make a posted message unread, so it is told and nothing more."""
    try:
        notifier.threads.write(thread)
    except DriftgateError as error:
        report.problems.append(f"the thread could not be written down: {error}")


class _Poster:
    """Posts within the time there is. `root` is what the message became a reply to, "" where it stands by itself."""

    def __init__(self, notifier: Notifier, deadline: datetime) -> None:
        self._notifier = notifier
        self._deadline = deadline
        self.root = ""

    def post(self, message: SlackMessage, root: str) -> str:
        """The message's `ts`. A thread or a form that Slack refuses is left for one that it takes."""
        self.root = root
        try:
            return self._patiently(message, root)
        except ChatRefusedError as refused:
            if root and refused.code in _ROOT_REFUSED:
                return self.post(message, "")
            if message.blocks and refused.code in _BLOCKS_REFUSED:
                return self.post(replace(message, blocks=()), root)
            raise

    def _patiently(self, message: SlackMessage, root: str) -> str:
        """Waits as long as Slack asks to, where the time allows it."""
        while True:
            try:
                return self._notifier.channel.post(message, root)
            except ChatUnavailableError as busy:
                clock, wait = self._notifier.clock, busy.retry_after_s
                if wait is None or clock.now() + timedelta(seconds=wait) + POST > self._deadline:
                    raise
                clock.sleep(wait)
