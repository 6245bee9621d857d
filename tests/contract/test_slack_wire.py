"""What goes over the wire to Slack, what its answers mean, and that the secret shows nowhere."""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Iterator

import pytest

from driftgate.adapters.slack_secret import SecretSlackChannel
from driftgate.adapters.slack_web import SlackBot, SlackWebhook
from driftgate.domain.errors import (
    AwsForbiddenError,
    ChatRefusedError,
    ChatUnavailableError,
    DriftgateError,
    InvalidSettingsError,
)
from driftgate.domain.slack_message import SlackMessage
from tests.fakes.aws_faults import AwsFaults, refusal
from tests.fakes.ledgers import moto_session
from tests.fakes.slack_server import CHANNEL, HOOK, TOKEN, Fault, SlackServer

BLOCK = {"type": "section", "text": {"type": "mrkdwn", "text": "app", "verbatim": True}}
HELLO = SlackMessage(text="größe: the gate opens", blocks=(BLOCK,))
URGENT = SlackMessage(text="The gate was left open", blocks=(BLOCK,), is_broadcast=True)
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:slack-a1B2c3"


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with SlackServer() as server:
        yield server


@pytest.fixture
def bot(slack):
    return SlackBot(TOKEN, CHANNEL, slack.api)


@pytest.fixture
def webhook(slack):
    return SlackWebhook(slack.url + HOOK)


# --- requests --------------------------------------------------------------------------------------


def test_the_bot_posts_json_with_its_token_to_its_channel(slack, bot):
    bot.post(HELLO)

    (request,) = slack.requests
    assert request.path == "/api/chat.postMessage"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    assert request.body == {
        "channel": CHANNEL,
        "parse": "none",
        "text": "größe: the gate opens",
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": [BLOCK],
    }


def test_a_reply_names_its_thread_and_only_an_urgent_one_is_shown_to_all(slack, bot):
    root = bot.post(HELLO)
    bot.post(HELLO, root)
    bot.post(URGENT, root)
    bot.post(URGENT)

    _, quiet, urgent, alone = (request.body for request in slack.requests)
    assert (quiet["thread_ts"], "reply_broadcast" in quiet) == (root, False)
    assert (urgent["thread_ts"], urgent["reply_broadcast"]) == (root, True)
    assert "thread_ts" not in alone
    assert "reply_broadcast" not in alone


def test_the_webhook_gets_the_content_and_no_channel_thread_or_token(slack, webhook):
    assert webhook.post(HELLO, "1792203000.000001") == ""

    (request,) = slack.requests
    assert request.path == HOOK
    assert "authorization" not in request.headers
    assert request.headers["content-type"] == "application/json"
    assert set(request.body) == {"text", "unfurl_links", "unfurl_media", "blocks"}


def test_a_message_without_blocks_is_sent_without_any(slack, bot):
    bot.post(SlackMessage(text="plain"))

    assert "blocks" not in slack.requests[0].body


# --- answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "wait"),
    [("30", 30.0), ("0", 1.0), (None, 1.0), ("soon", 1.0), ("-3", 1.0), ("inf", 1.0), ("9" * 400, 3600.0)],
)
def test_a_429_says_how_long_to_wait(slack, bot, header, wait):
    slack.faults.append(Fault(status=429, retry_after=header))

    with pytest.raises(ChatUnavailableError, match="429") as raised:
        bot.post(HELLO)

    assert raised.value.retry_after_s == wait


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=500),
        Fault(status=503, body=b"<html>down</html>"),
        Fault(status=200, body=b"<html>maintenance</html>"),
        Fault(status=200, body=b'{"ok": false, "error": "internal_error"}'),
        Fault(status=200, body=b'{"ok": false, "error": "ratelimited"}'),
    ],
)
def test_a_slack_that_cannot_now_is_unavailable(slack, bot, fault):
    slack.faults.append(fault)

    with pytest.raises(ChatUnavailableError):
        bot.post(HELLO)


def test_a_503_may_say_how_long_to_wait(slack, bot):
    slack.faults.append(Fault(status=503, retry_after="20"))

    with pytest.raises(ChatUnavailableError) as raised:
        bot.post(HELLO)

    assert raised.value.retry_after_s == 20.0


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("not_in_channel", "Invite the bot"),
        ("token_revoked", "Put a valid bot token"),
        ("missing_scope", "chat:write"),
        ("brand_new_error", "documentation of chat.postMessage"),
    ],
)
def test_a_refusal_names_the_code_and_the_remedy(slack, bot, code, remedy):
    slack.faults.append(Fault(status=200, body=f'{{"ok": false, "error": "{code}"}}'.encode()))

    with pytest.raises(ChatRefusedError, match=f"{code}.*{remedy}") as raised:
        bot.post(HELLO)

    assert raised.value.code == code


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"ok": false}', b"null"])
def test_an_answer_that_says_nothing_is_not_taken_for_success(slack, bot, body):
    slack.faults.append(Fault(status=200, body=body))

    with pytest.raises(ChatRefusedError, match="unknown_error"):
        bot.post(HELLO)


def test_a_webhook_that_is_gone_is_refused_with_the_remedy(slack, webhook):
    slack.hooks.clear()

    with pytest.raises(ChatRefusedError, match=r"no_service.*make a new one") as raised:
        webhook.post(HELLO)

    assert raised.value.code == "no_service"


def test_a_redirect_is_not_followed_with_the_token(slack, bot):
    slack.faults.append(Fault(status=302, body=b"{}"))

    with pytest.raises(ChatRefusedError):
        bot.post(HELLO)

    assert len(slack.requests) == 1


def unserved() -> str:
    """An address of the loopback where nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{found.getsockname()[1]}"


def test_no_connection_is_unavailable():
    with pytest.raises(ChatUnavailableError, match="did not answer"):
        SlackBot(TOKEN, CHANNEL, unserved()).post(HELLO)


# --- the secret ------------------------------------------------------------------------------------


def everything_said(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("kind", ["bot", "webhook"])
@pytest.mark.parametrize("fault", ["nobody", "refused", "busy"])
def test_no_error_and_no_log_line_holds_the_secret(slack, kind, fault, caplog):
    url = unserved() if fault == "nobody" else slack.url
    channel = SlackBot(TOKEN, CHANNEL, f"{url}/api") if kind == "bot" else SlackWebhook(url + HOOK)
    slack.faults += [] if fault == "nobody" else [Fault(status=429 if fault == "busy" else 403, body=b"{}")]

    with caplog.at_level(logging.DEBUG), pytest.raises(DriftgateError) as raised:
        channel.post(HELLO)

    said = everything_said(raised.value) + caplog.text + repr(channel)
    assert TOKEN not in said
    assert "loopback-secret" not in said


@pytest.fixture
def aws():
    with moto_session() as session:
        yield session


def stored(aws, value: str) -> str:
    arn: str = aws.client("secretsmanager").create_secret(Name="slack", SecretString=value)["ARN"]
    return arn


def test_the_secret_is_read_at_the_first_message_and_kept(aws, slack):
    asked = AwsFaults(aws.client("secretsmanager"))
    channel = SecretSlackChannel(aws, stored(aws, f" {TOKEN}\n"), CHANNEL, slack.api)
    asked.requests.clear()

    assert asked.requests == []
    channel.post(HELLO)
    channel.post(HELLO)

    assert asked.requests == ["GetSecretValue"]
    assert len(slack.messages) == 2


def test_a_secret_that_was_replaced_is_read_again_when_slack_refuses_the_old_one(aws, slack):
    secret = stored(aws, TOKEN)
    channel = SecretSlackChannel(aws, secret, CHANNEL, slack.api)
    channel.post(HELLO)
    slack.tokens = {"xoxb-new"}
    aws.client("secretsmanager").put_secret_value(SecretId=secret, SecretString="xoxb-new")

    channel.post(HELLO)

    assert len(slack.messages) == 2
    assert slack.requests[-1].headers["authorization"] == "Bearer xoxb-new"


def test_a_refused_secret_that_is_still_the_same_is_told_after_one_more_look(aws, slack):
    channel = SecretSlackChannel(aws, stored(aws, TOKEN), CHANNEL, slack.api)
    slack.tokens.clear()

    with pytest.raises(ChatRefusedError, match="invalid_auth"):
        channel.post(HELLO)

    assert len(slack.requests) == 1


def test_a_refusal_that_is_not_about_the_secret_reads_it_no_second_time(aws, slack):
    asked = AwsFaults(aws.client("secretsmanager"))
    channel = SecretSlackChannel(aws, stored(aws, TOKEN), "C0THER", slack.api)
    asked.requests.clear()

    with pytest.raises(ChatRefusedError, match="channel_not_found"):
        channel.post(HELLO)

    assert asked.requests == ["GetSecretValue"]


def test_a_webhook_in_the_secret_is_used_as_such(aws):
    channel = SecretSlackChannel(aws, stored(aws, "https://hooks.slack.invalid/services/T/B/hidden"), "")

    with pytest.raises(ChatUnavailableError, match="did not answer") as raised:
        channel.post(HELLO)

    assert "hidden" not in everything_said(raised.value)


@pytest.mark.parametrize(
    ("value", "channel", "message"),
    [
        ("hunter2", CHANNEL, "neither a bot token nor a webhook"),
        ("http://hooks.slack.invalid/services/hunter2", CHANNEL, "neither a bot token nor a webhook"),
        ("xoxb-hunter2", "", "no channel is named"),
    ],
)
def test_an_unusable_secret_is_told_with_the_remedy_and_not_shown(aws, slack, value, channel, message):
    with pytest.raises(InvalidSettingsError, match=message) as raised:
        SecretSlackChannel(aws, stored(aws, value), channel, slack.api).post(HELLO)

    assert "hunter2" not in everything_said(raised.value)
    assert slack.requests == []


def test_a_secret_that_may_not_be_read_names_the_action(aws, slack):
    AwsFaults(aws.client("secretsmanager"), before=[refusal("AccessDeniedException")])

    with pytest.raises(AwsForbiddenError, match="secretsmanager:GetSecretValue"):
        SecretSlackChannel(aws, SECRET, CHANNEL, slack.api).post(HELLO)
