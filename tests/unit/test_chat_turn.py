"""Who may speak in a thread, what it replies to, and what the thread remembers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from driftgate.domain.chat_turn import REMEMBERED, Thread, given_up, spoken, taken
from tests.factories import NOW

SECOND = timedelta(seconds=1)
NEW = Thread(name="roll")


def test_a_thread_that_nobody_speaks_in_is_free():
    assert not NEW.is_taken("me", NOW)


@pytest.mark.parametrize(("by", "is_taken"), [("me", False), ("you", True)])
def test_a_turn_keeps_others_out_and_not_its_holder(by, is_taken):
    assert taken(NEW, "me", NOW + SECOND).is_taken(by, NOW) is is_taken


def test_a_turn_ends_by_itself_at_its_instant():
    held = taken(NEW, "dead", NOW)

    assert held.is_taken("me", NOW - SECOND)
    assert not held.is_taken("me", NOW)


def test_a_turn_given_up_is_free_and_nothing_was_said():
    assert given_up(taken(NEW, "me", NOW + SECOND)) == NEW


def test_the_first_message_becomes_what_others_reply_to():
    after = spoken(taken(NEW, "me", NOW + SECOND), "e1", "100.1", "", NOW)

    assert (after.root, after.root_at, after.said, after.holder) == ("100.1", NOW, ("e1",), "")
    assert after.live_root(NOW) == "100.1"


def test_a_reply_changes_nothing_of_the_first_message():
    first = spoken(NEW, "e1", "100.1", "", NOW)

    after = spoken(first, "e2", "100.2", "100.1", NOW + SECOND)

    assert (after.root, after.root_at, after.said) == ("100.1", NOW, ("e1", "e2"))


def test_a_thread_older_than_a_week_is_left_alone():
    old = spoken(NEW, "e1", "100.1", "", NOW)

    assert old.live_root(NOW + timedelta(days=7) - SECOND) == "100.1"
    assert old.live_root(NOW + timedelta(days=7)) == ""


def test_a_thread_remembers_the_last_hundred_events():
    after = NEW
    for number in range(REMEMBERED + 1):
        after = spoken(after, f"e{number}", "1", "1", NOW)

    assert (after.has_said("e0"), after.has_said("e1"), after.has_said("e100")) == (False, True, True)
