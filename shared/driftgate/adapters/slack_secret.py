"""The way into Slack that the one secret names: a bot token or an incoming webhook.

The secret is read at the first message and kept for the life of the process; where Slack does not know it (any more)
it is read once again, for somebody may have replaced it. It stands in no error, log line or `repr`.
"""

from __future__ import annotations

from typing import Any

from driftgate.adapters.aws_errors import aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.slack_web import SLACK_URL, SlackBot, SlackWebhook
from driftgate.domain.errors import ChatRefusedError, InvalidSettingsError, Problem
from driftgate.domain.slack_message import SlackMessage
from driftgate.ports import SlackChannel

TOKEN = "xoxb-"
WEBHOOK = "https://hooks.slack"
# Slack's words for a token or an address that is not (any more) valid.
_STALE = frozenset(
    {"invalid_auth", "account_inactive", "token_revoked", "token_expired", "no_service", "no_team", "invalid_token"}
)


class SecretSlackChannel:
    """`secret` is a name or ARN; `channel` an id (C…), needed with a token only.

    Raises, beside what the port says: AwsForbiddenError, AwsUnavailableError (the secret cannot be read) and
    InvalidSettingsError (it is neither a token nor a webhook, or a token without a channel).
    """

    def __init__(self, aws: AwsSession, secret: str, channel: str, url: str | None = None) -> None:
        self._aws = aws
        self._secret = secret
        self._channel = channel
        self._url = url or SLACK_URL
        self._known = ""
        self._way: SlackChannel | None = None

    def post(self, message: SlackMessage, root: str = "") -> str:
        way = self._way or self._opened()
        try:
            return way.post(message, root)
        except ChatRefusedError as refused:
            before = self._known
            if refused.code not in _STALE:
                raise
            way = self._opened()
            if self._known == before:
                raise
        return way.post(message, root)

    def _opened(self) -> SlackChannel:
        self._known = self._read()
        self._way = _way_of(self._known, self._secret, self._channel, self._url)
        return self._way

    def _read(self) -> str:
        client: Any = self._aws.client("secretsmanager")
        with aws_call("secretsmanager:GetSecretValue", self._secret):
            answer = client.get_secret_value(SecretId=self._secret)
        return str(answer.get("SecretString", "")).strip()


def _way_of(value: str, secret: str, channel: str, url: str) -> SlackChannel:
    """Raises InvalidSettingsError, which names the secret and not what is in it."""
    if value.startswith(WEBHOOK):
        return SlackWebhook(value)
    if not value.startswith(TOKEN):
        raise _unusable(secret, "holds neither a bot token nor a webhook", f"Store {TOKEN}… or {WEBHOOK}.com/… in it.")
    if not channel:
        raise _unusable(secret, "holds a bot token, and no channel is named", "Set deployment.slack.channel (C…).")
    return SlackBot(value, channel, url)


def _unusable(secret: str, message: str, remedy: str) -> InvalidSettingsError:
    return InvalidSettingsError("secret", [Problem(place="", path=secret, message=message, remedy=remedy)])
