"""notify_slack: a delivery of SNS stands in Slack once; what could not be told comes again and is counted."""

from __future__ import annotations

import json

import pytest

from driftgate import bootstrap
from driftgate.adapters.q_notification import notification_of
from driftgate.app.notify_slack import Notifier
from driftgate.domain.errors import ChatRefusedError, ChatUnavailableError, InvalidEventError
from driftgate.domain.message import DomainEvent, EventKind
from functions.notify_slack.handler import handler
from tests.factories import NOW
from tests.fakes.clock import FakeClock
from tests.fakes.slack import FakeSlackChannel, MemorySlackThreads
from tests.fakes.slack_server import CHANNEL, TOKEN, Fault, SlackServer
from tests.functions.conftest import REGION, event
from tests.functions.deployed import ALWAYS, TABLE, deployed

ROLL = "20261017T021000000Z-app"


def told(kind: EventKind, title: str) -> DomainEvent:
    return DomainEvent(kind=kind, at=NOW, cluster="demo", pool="app", title=title, text="text", thread=ROLL)


OPENED = told(EventKind.BUDGETS_OPENED, "app: the gate opens for one node")
CLOSED = told(EventKind.BUDGETS_CLOSED, "app: the gate is shut")


def delivery(message: object, message_id: str = "m1") -> dict[str, object]:
    """What Lambda gets from SNS."""
    body = notification_of(message) if isinstance(message, DomainEvent) else message
    found = event("sns_delivery")
    found["Records"][0]["Sns"] |= {"MessageId": message_id, "Message": json.dumps(body)}
    return found


@pytest.fixture
def around(use):
    """A notifier of fakes in place of the environment; `use` makes the process cold again."""
    notifier = Notifier(clock=FakeClock(), channel=FakeSlackChannel(), threads=MemorySlackThreads())
    bootstrap.use(None, notifier=notifier)
    return notifier


def test_a_delivery_is_told_and_logged_with_its_thread(around, context, output):
    answer = handler(delivery(OPENED), context)

    (posted,) = around.channel.posted
    (line,) = output().log("Told people in Slack")
    assert answer["told"] == [
        {"threadId": ROLL, "event": line["event"], "outcome": "posted", "ts": posted.ts, "root": None, "problems": []}
    ]
    assert (line["level"], line["threadId"], line["outcome"]) == ("INFO", ROLL, "posted")
    assert "the gate opens" in posted.message.text


def test_the_same_delivery_twice_is_one_message(around, context):
    handler(delivery(OPENED), context)
    handler(delivery(OPENED), context)

    assert len(around.channel.posted) == 1


def test_an_event_that_was_published_twice_is_one_message(around, context):
    handler(delivery(OPENED, "m1"), context)
    handler(delivery(OPENED, "m2"), context)

    assert len(around.channel.posted) == 1


def test_an_alarm_is_told_and_shown_to_all(around, context):
    handler(event("sns_delivery"), context)

    (posted,) = around.channel.posted
    assert posted.message.is_broadcast
    assert posted.message.text.startswith("driftgate-prod-heartbeat-silent: ALARM\n")


@pytest.mark.parametrize("fault", [ChatUnavailableError("down"), ChatRefusedError("no", code="is_archived")])
def test_what_could_not_be_told_is_counted_and_raises_so_that_lambda_tries_again(around, context, output, fault):
    around.channel.faults.append(fault)

    with pytest.raises(type(fault)):
        handler(delivery(OPENED), context)

    seen = output()
    assert seen.values() == {"MessageFailed": [1.0]}
    assert seen.dimensions() == {"service"}
    assert [line["level"] for line in seen.log("A message could not be told; it comes again")] == ["ERROR"]


def test_what_came_again_is_told(around, context):
    around.channel.faults.append(ChatUnavailableError("down"))
    with pytest.raises(ChatUnavailableError):
        handler(delivery(OPENED), context)

    handler(delivery(OPENED), context)

    assert len(around.channel.posted) == 1


def test_what_is_not_for_people_is_dropped_with_a_warning(around, context, output):
    answer = handler(delivery({"source": "aws.health"}), context)

    seen = output()
    assert answer == {"told": []}
    assert around.channel.posted == []
    assert [line["level"] for line in seen.log("Dropped a message that is not for people")] == ["WARNING"]
    assert seen.metrics == []


def test_what_is_malformed_raises_with_the_place_and_is_counted(around, context, output):
    with pytest.raises(InvalidEventError, match="content") as raised:
        handler(delivery({"version": "1.0", "source": "custom"}), context)

    assert raised.value.place == "event.Records[0].Sns.Message.content"
    assert output().values() == {"MessageFailed": [1.0]}


# --- as it is deployed -----------------------------------------------------------------------------


@pytest.fixture
def slack():
    with SlackServer() as server:
        yield server


@pytest.fixture
def aws(tmp_path, slack, use, monkeypatch):
    """moto and Slack on the loopback, and the notifier's own environment."""
    (tmp_path / "driftgate.yaml").write_text(ALWAYS)
    with deployed(tmp_path / "driftgate.yaml") as found:
        arn = found.client("secretsmanager").create_secret(Name="slack", SecretString=TOKEN)["ARN"]
        own = {name: value for name, value in found.env.items() if not name.startswith("DRIFTGATE_")}
        own |= {"DRIFTGATE_TABLE": TABLE, "DRIFTGATE_SLACK_SECRET": arn}
        own |= {"DRIFTGATE_SLACK_CHANNEL": CHANNEL, "DRIFTGATE_SLACK_URL": slack.api, "AWS_REGION": REGION}
        for name, value in own.items():
            monkeypatch.setenv(name, value)
        bootstrap.use(None)
        yield found


def test_a_roll_is_one_thread_in_slack(aws, slack, context):
    handler(delivery(OPENED), context)
    handler(delivery(CLOSED), context)
    handler(delivery(CLOSED), context)

    first, second = slack.messages
    assert (first.thread, second.thread) == ("", first.ts)
    assert first.blocks[0]["text"]["text"].endswith("app: the gate opens for one node")


def test_another_process_goes_on_in_the_same_thread(aws, slack, context):
    handler(delivery(OPENED), context)
    bootstrap.use(None)

    handler(delivery(CLOSED), context)

    assert slack.roots() == [slack.messages[0].ts]


def test_slack_down_loses_nothing_and_the_secret_is_not_logged(aws, slack, context, output, caplog):
    slack.faults += [Fault(status=500), Fault(status=200, body=b'{"ok": false, "error": "invalid_auth"}')]
    for _ in range(2):
        with pytest.raises((ChatUnavailableError, ChatRefusedError)):
            handler(delivery(OPENED), context)

    handler(delivery(OPENED), context)

    assert [message.thread for message in slack.messages] == [""]
    assert TOKEN not in json.dumps(output().lines) + caplog.text
