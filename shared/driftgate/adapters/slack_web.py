"""Slack over HTTPS: a bot token (threads), or an incoming webhook (none).

The token and the webhook's address are the secret: neither stands in any error, log line or `repr`. One request per
call, no retries: a message whose answer never came may stand there, and repeating it is for the caller to decide.

Source: docs.slack.dev, reference/methods/chat.postMessage, messaging/sending-messages-using-incoming-webhooks and
apis/web-api/rate-limits (2026).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from urllib3 import BaseHTTPResponse, PoolManager, Timeout
from urllib3.exceptions import HTTPError

from driftgate.domain.errors import ChatRefusedError, ChatUnavailableError
from driftgate.domain.jsonvalue import mapping, text
from driftgate.domain.slack_message import SlackMessage

SLACK_URL = "https://slack.com/api"
CONNECT_TIMEOUT_S = 3.0
READ_TIMEOUT_S = 10.0
CALL_S = CONNECT_TIMEOUT_S + READ_TIMEOUT_S
"""The longest that one post takes."""
MIN_WAIT_S, MAX_WAIT_S = 1, 3600
"""Between these a wish to wait is believed: a channel takes about one message a second."""

# Slack's words for "not now".
_BUSY = frozenset(
    {"ratelimited", "rate_limited", "message_limit_exceeded", "internal_error", "fatal_error", "service_unavailable"}
    | {"request_timeout", "rollup_error"}
)
_REMEDIES: Mapping[str, str] = {
    "channel_not_found": "Check the channel's id (C…), and invite the bot: /invite in the channel.",
    "not_in_channel": "Invite the bot: /invite in the channel.",
    "is_archived": "Unarchive the channel, or name another one.",
    "channel_is_archived": "Unarchive the channel, or make a webhook for another one.",
    "missing_scope": "Give the app the scope chat:write and install it again.",
    "not_allowed_token_type": "Put the app's bot token (xoxb-…) into the secret.",
    "no_service": "The webhook is gone: make a new one and put its address into the secret.",
    "no_team": "The webhook is gone: make a new one and put its address into the secret.",
} | dict.fromkeys(
    ("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "invalid_token"),
    "Put a valid bot token (xoxb-…) into the secret.",
)
_UNKNOWN_REMEDY = "Slack's documentation of chat.postMessage explains the code."

# urllib3 tells the path of every request at DEBUG, and a webhook's path is its secret.
logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)


class SlackBot:
    """Posts into one channel as an app, with its bot token."""

    def __init__(self, token: str, channel: str, url: str = SLACK_URL) -> None:
        self._token = token
        self._channel = channel
        self._url = url
        self._http = _pool()

    def post(self, message: SlackMessage, root: str = "") -> str:
        body: dict[str, object] = {"channel": self._channel, "parse": "none", **_content(message)}
        if root:
            body |= {"thread_ts": root} | ({"reply_broadcast": True} if message.is_broadcast else {})
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json; charset=utf-8"}
        answer = _answer(_sent(self._http, f"{self._url}/chat.postMessage", body, headers))
        if answer.get("ok") is not True:
            raise _refusal(text(answer.get("error")) or "unknown_error")
        return text(answer.get("ts")) or ""


class SlackWebhook:
    """Posts through an incoming webhook, which belongs to one channel and tells no `ts`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http = _pool()

    def post(self, message: SlackMessage, root: str = "") -> str:
        response = _sent(self._http, self._url, _content(message), {"content-type": "application/json"})
        if response.status != 200:
            raise _refusal(response.data.decode("utf-8", "replace").strip()[:80] or f"HTTP {response.status}")
        return ""


def _pool() -> PoolManager:
    return PoolManager(num_pools=1, timeout=Timeout(connect=CONNECT_TIMEOUT_S, read=READ_TIMEOUT_S))


def _content(message: SlackMessage) -> dict[str, object]:
    content: dict[str, object] = {"text": message.text, "unfurl_links": False, "unfurl_media": False}
    return content | ({"blocks": list(message.blocks)} if message.blocks else {})


def _sent(http: PoolManager, url: str, body: Mapping[str, object], headers: Mapping[str, str]) -> BaseHTTPResponse:
    """The answer, whatever it says but "not now"."""
    try:
        content = json.dumps(body).encode()
        response = http.request("POST", url, body=content, headers=headers, retries=False, redirect=False)
    except HTTPError as error:
        # without the original: it may name the address
        raise ChatUnavailableError(f"Slack did not answer ({type(error).__name__}).") from None
    if response.status == 429:
        raise ChatUnavailableError("Slack asks to wait (429).", retry_after_s=_wish(response.headers) or MIN_WAIT_S)
    if response.status >= 500:
        raise ChatUnavailableError(f"Slack answered {response.status}.", retry_after_s=_wish(response.headers))
    return response


def _wish(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds; None where there is none, or something else than Slack sends."""
    try:
        return float(min(max(int(headers.get("retry-after", "")), MIN_WAIT_S), MAX_WAIT_S))
    except ValueError:
        return None


def _answer(response: BaseHTTPResponse) -> Mapping[str, object]:
    try:
        return mapping(json.loads(response.data))
    except ValueError:
        raise ChatUnavailableError(f"Slack answered {response.status} with something that is not JSON.") from None


def _refusal(code: str) -> ChatRefusedError | ChatUnavailableError:
    if code in _BUSY:
        return ChatUnavailableError(f"Slack did not take the message now ({code}).")
    return ChatRefusedError(f"Slack refused the message ({code}) · {_REMEDIES.get(code, _UNKNOWN_REMEDY)}", code=code)
