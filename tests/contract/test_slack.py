"""What every way into a Slack channel does with a message: the fake, the bot token, the incoming webhook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from driftgate.adapters.slack_web import SlackBot, SlackWebhook
from driftgate.domain.errors import ChatRefusedError, ChatUnavailableError
from driftgate.domain.slack_message import SlackMessage
from driftgate.ports import SlackChannel
from tests.fakes.slack import FakeSlackChannel
from tests.fakes.slack_server import CHANNEL, HOOK, TOKEN, Fault, SlackServer

HELLO = SlackMessage(text="The gate opens", blocks=({"type": "section", "text": {"type": "mrkdwn", "text": "app"}},))


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A channel and a look into it: texts with what they reply to. `break_with` lets the next posts meet faults."""

    channel: SlackChannel
    seen: Callable[[], list[tuple[str, str]]]
    busy: Callable[[str], None]
    refuse: Callable[[], None]


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with SlackServer() as server:
        yield server


@pytest.fixture(params=["fake", "bot", "webhook"])
def room(request, slack) -> Room:
    if request.param == "fake":
        return _fake_room()
    channel: Any = SlackBot(TOKEN, CHANNEL, slack.api) if request.param == "bot" else SlackWebhook(slack.url + HOOK)

    def refuse():
        slack.tokens.clear()
        slack.hooks.clear()

    return Room(
        channel=channel,
        seen=lambda: [(message.text, message.thread) for message in slack.messages],
        busy=lambda wait: slack.faults.append(Fault(status=429, retry_after=wait)),
        refuse=refuse,
    )


def _fake_room() -> Room:
    fake = FakeSlackChannel()
    return Room(
        channel=fake,
        seen=lambda: [(posted.message.text, posted.root) for posted in fake.posted],
        busy=lambda wait: fake.faults.append(ChatUnavailableError("busy", retry_after_s=float(wait))),
        refuse=lambda: fake.faults.append(ChatRefusedError("refused", code="invalid_auth")),
    )


def test_a_message_stands_in_the_channel_once(room):
    room.channel.post(HELLO)

    assert room.seen() == [("The gate opens", "")]


def test_two_messages_are_told_apart_where_the_way_in_tells_them_apart(room):
    first, second = room.channel.post(HELLO), room.channel.post(HELLO)

    assert len(room.seen()) == 2
    assert first != second or first == ""


def test_a_reply_stands_under_its_first_message_where_there_are_threads(room):
    root = room.channel.post(HELLO)

    room.channel.post(SlackMessage(text="The gate is shut"), root)

    assert room.seen() == [("The gate opens", ""), ("The gate is shut", root)]


def test_a_busy_channel_says_how_long_to_wait_and_takes_nothing(room):
    room.busy("7")

    with pytest.raises(ChatUnavailableError) as raised:
        room.channel.post(HELLO)

    assert raised.value.retry_after_s == 7.0
    assert room.seen() == []


def test_a_refusal_has_a_code_and_posts_nothing(room):
    room.refuse()

    with pytest.raises(ChatRefusedError) as raised:
        room.channel.post(HELLO)

    assert raised.value.code
    assert room.seen() == []


@pytest.mark.parametrize("kind", ["fake", "bot"])
def test_a_reply_to_a_message_that_is_gone_is_refused_by_its_name(slack, kind):
    channel: SlackChannel = FakeSlackChannel() if kind == "fake" else SlackBot(TOKEN, CHANNEL, slack.api)

    with pytest.raises(ChatRefusedError) as raised:
        channel.post(HELLO, "1700000000.000001")

    assert raised.value.code == "thread_not_found"
