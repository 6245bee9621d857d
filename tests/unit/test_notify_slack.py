"""Each event once, one thread per roll, nothing lost: whoever else speaks, and whatever fails."""

from __future__ import annotations

from datetime import timedelta

import pytest

from driftgate.app.notify_slack import Notifier, Outcome, notify_slack
from driftgate.domain.chat_turn import Thread, spoken, taken
from driftgate.domain.errors import (
    AnswerLostError,
    AwsForbiddenError,
    ChatRefusedError,
    ChatUnavailableError,
    LedgerConflictError,
    LedgerUnavailableError,
)
from driftgate.domain.notice import Notice
from tests.factories import NOW
from tests.fakes.clock import FakeClock
from tests.fakes.slack import FakeSlackChannel, MemorySlackThreads

MINUTE = timedelta(minutes=1)
DOWN = LedgerUnavailableError("the table does not answer")


def notice(event: str = "e1", thread: str = "roll") -> Notice:
    return Notice(id=event, thread=thread, title=f"title of {event}", text="text", next_steps=("wait",))


class Around:
    """The notifier's world."""

    def __init__(self, *threads: Thread, faults=(), forgets=()) -> None:
        self.clock = FakeClock()
        self.channel = FakeSlackChannel(faults=list(faults))
        self.threads = MemorySlackThreads(*threads, faults=forgets)

    def tell(self, told: Notice, holder: str = "me", within: timedelta = MINUTE):
        notifier = Notifier(clock=self.clock, channel=self.channel, threads=self.threads)
        return notify_slack(notifier, told, holder, self.clock.now() + within)

    def seen(self) -> list[tuple[str, str]]:
        """Titles, and the message each replies to."""
        return [(posted.message.text.split("\n")[0], posted.root) for posted in self.channel.posted]

    def thread(self, name: str = "roll") -> Thread:
        return self.threads.known[name]


def test_the_messages_of_a_roll_are_one_thread():
    around = Around()

    first = around.tell(notice("e1"))
    around.tell(notice("e2"))
    around.tell(notice("e3", thread="another roll"))

    assert around.seen() == [("title of e1", ""), ("title of e2", first.ts), ("title of e3", "")]


def test_the_same_event_is_told_once():
    around = Around()

    around.tell(notice("e1"))
    again = around.tell(notice("e1"), holder="you")

    assert again.outcome is Outcome.SAID_BEFORE
    assert len(around.seen()) == 1


def test_a_delivery_waits_while_another_speaks_in_the_thread():
    around = Around(taken(Thread(name="roll"), "you", NOW + timedelta(seconds=5)))

    around.tell(notice())

    assert around.clock.now() == NOW + timedelta(seconds=5)
    assert around.thread().holder == ""


def test_a_delivery_that_cannot_wait_so_long_comes_again():
    around = Around(taken(Thread(name="roll"), "you", NOW + 2 * MINUTE))

    with pytest.raises(ChatUnavailableError, match="still speaking in the thread roll"):
        around.tell(notice())

    assert around.seen() == []
    assert around.thread().holder == "you"


def test_two_that_meet_at_a_new_thread_make_one_thread():
    around = Around(forgets=[None, LedgerConflictError("somebody else wrote it")])

    around.tell(notice())

    assert around.seen() == [("title of e1", "")]


def test_a_turn_whose_answer_was_lost_is_ours_if_it_got_through():
    around = Around()
    write = around.threads.write
    lost: list[Thread] = []

    def lose_the_first_answer(thread):
        stored = write(thread)
        if not lost:
            lost.append(stored)
            raise AnswerLostError("no answer")
        return stored

    around.threads.write = lose_the_first_answer  # type: ignore[method-assign]

    around.tell(notice())

    assert around.seen() == [("title of e1", "")]
    assert around.thread().said == ("e1",)


def test_a_turn_outlives_the_invocation_that_holds_it():
    around = Around(faults=[ChatUnavailableError("down")], forgets=[None, None, DOWN])

    with pytest.raises(ChatUnavailableError):
        around.tell(notice())

    until = around.thread().until
    assert until is not None
    assert until > NOW + MINUTE


def test_slack_is_waited_for_as_long_as_it_asks():
    around = Around(faults=[ChatUnavailableError("busy", retry_after_s=30.0), None])

    around.tell(notice())

    assert around.clock.now() == NOW + timedelta(seconds=30)
    assert len(around.seen()) == 1


@pytest.mark.parametrize("wish", [46.0, 3600.0, None])
def test_a_wait_that_does_not_fit_gives_the_turn_back_so_that_the_delivery_can_come_again(wish):
    around = Around(faults=[ChatUnavailableError("busy", retry_after_s=wish)])

    with pytest.raises(ChatUnavailableError):
        around.tell(notice())
    later = around.tell(notice(), holder="again")

    assert around.clock.now() == NOW
    assert later.outcome is Outcome.POSTED
    assert around.seen() == [("title of e1", "")]


def test_a_refusal_gives_the_turn_back_and_is_raised():
    around = Around(faults=[ChatRefusedError("archived", code="is_archived")])

    with pytest.raises(ChatRefusedError, match="archived"):
        around.tell(notice())

    assert around.thread().holder == ""
    assert around.thread().said == ()


@pytest.mark.parametrize("code", ["invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_payload"])
def test_blocks_that_slack_does_not_take_become_plain_text(code):
    around = Around(faults=[ChatRefusedError("no", code=code)])

    around.tell(notice())

    (posted,) = around.channel.posted
    assert posted.message.blocks == ()
    assert posted.message.text == "title of e1\ntext"


def test_a_form_that_is_refused_as_plain_text_too_is_raised():
    around = Around(faults=[ChatRefusedError("no", code="invalid_blocks")] * 2)

    with pytest.raises(ChatRefusedError):
        around.tell(notice())


def test_a_thread_whose_first_message_is_gone_begins_anew():
    around = Around(spoken(Thread(name="roll"), "e0", "1.1", "", NOW - MINUTE))

    report = around.tell(notice())

    assert around.seen() == [("title of e1", "")]
    assert around.thread().root == report.ts


def test_a_first_message_older_than_a_week_is_left_alone():
    around = Around()
    around.tell(notice("e1"))
    around.clock.advance(timedelta(days=7))

    second = around.tell(notice("e2"))
    around.tell(notice("e3"))

    assert around.seen() == [("title of e1", ""), ("title of e2", ""), ("title of e3", second.ts)]


def test_a_ledger_that_does_not_answer_keeps_nobody_silent():
    around = Around(forgets=[DOWN])

    report = around.tell(notice())

    assert around.seen() == [("title of e1", "")]
    assert report.problems == ["told outside its thread: the table does not answer"]


def test_a_ledger_that_forbids_is_a_fault_of_the_deployment():
    around = Around(forgets=[AwsForbiddenError("denied")])

    with pytest.raises(AwsForbiddenError):
        around.tell(notice())


def test_a_memory_that_fails_after_the_message_does_not_send_it_again():
    around = Around(forgets=[None, None, DOWN])

    report = around.tell(notice())

    assert report.outcome is Outcome.POSTED
    assert report.problems == ["the thread could not be written down: the table does not answer"]


def test_a_way_in_without_threads_tells_each_event_once_too():
    around = Around()
    posted: list[str] = []

    class Webhook:
        def post(self, message, root=""):
            posted.append(root)
            return ""

    around.channel = Webhook()  # type: ignore[assignment]

    around.tell(notice("e1"))
    around.tell(notice("e2"))
    around.tell(notice("e2"))

    assert posted == ["", ""]
