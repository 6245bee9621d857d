"""What SNS delivers, as notices; what is not for people, and what is malformed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from driftgate.adapters.q_notification import notification_of
from driftgate.app.notify_slack_event import notices_of
from driftgate.domain.errors import InvalidEventError
from driftgate.domain.message import DomainEvent, EventKind
from driftgate.domain.notice import Notice
from tests.factories import NOW

CLOSED = DomainEvent(
    kind=EventKind.BUDGETS_CLOSED,
    at=NOW,
    cluster="demo",
    pool="app",
    title="app: the gate is shut",
    text="Karpenter took a3.",
    thread="20261017T021000Z-app",
    code="IN_FLIGHT",
    next_steps=("That node goes on by itself.",),
    facts={"rollId": "20261017T021000Z-app", "state": "in_flight", "node": "a3", "plan": {"at": "x"}},
)
ALARM = {
    "AlarmName": "driftgate-prod-heartbeat-silent",
    "AlarmDescription": "The heartbeat is silent.",
    "AlarmArn": "arn:aws:cloudwatch:eu-central-1:111122223333:alarm:driftgate-prod-heartbeat-silent",
    "NewStateValue": "ALARM",
    "NewStateReason": "Threshold Crossed",
    "OldStateValue": "OK",
    "StateChangeTime": "2026-10-17T02:10:00.000+0000",
    "Region": "EU (Frankfurt)",
}


def delivery(*messages: object, **sns: object) -> dict[str, object]:
    """An event of SNS; texts are delivered as they are."""
    bodies = [message if isinstance(message, str) else json.dumps(message) for message in messages]
    known: dict[str, object] = {"MessageId": "m1", "TopicArn": "arn:aws:sns:eu-central-1:111122223333:driftgate"}
    return {"Records": [{"EventSource": "aws:sns", "Sns": known | {"Message": body} | sns} for body in bodies]}


def test_an_event_of_ours_arrives_as_what_it_said():
    sent: dict[str, Any] = notification_of(CLOSED)

    (notice,) = notices_of(delivery(sent))

    assert notice == Notice(
        id=sent["id"],
        thread="20261017T021000Z-app",
        title="[demo] app: the gate is shut",
        text="Karpenter took a3.",
        next_steps=("That node goes on by itself.",),
        kind="BudgetsClosed",
        where="demo/app",
        code="IN_FLIGHT",
        facts={"state": "in_flight", "node": "a3"},
    )


def test_a_notification_without_an_id_is_known_by_the_topics():
    (notice,) = notices_of(delivery({"version": "1.0", "source": "custom", "content": {"description": "hello"}}))

    assert notice is not None
    assert (notice.id, notice.thread, notice.text) == ("m1", "m1", "hello")


def test_an_alarm_arrives_with_its_state_its_description_and_its_reason():
    (notice,) = notices_of(delivery(ALARM))

    assert notice == Notice(
        id=f"{ALARM['AlarmArn']}@2026-10-17T02:10:00.000+0000",
        thread=ALARM["AlarmArn"],
        title="driftgate-prod-heartbeat-silent: ALARM",
        text="The heartbeat is silent.\nThreshold Crossed",
        kind="Alarm",
        where="EU (Frankfurt)",
        facts={"at": "2026-10-17T02:10:00.000+0000"},
    )


def test_an_alarm_without_words_says_what_it_was():
    (notice,) = notices_of(delivery({"AlarmName": "x", "NewStateValue": "OK", "OldStateValue": "ALARM"}))

    assert notice is not None
    assert (notice.title, notice.text, notice.thread) == ("x: OK", "It was ALARM.", "x")


@pytest.mark.parametrize("message", ["hello", "[1]", "null", {"source": "aws.health"}, {"AlarmName": "x"}, {}])
def test_what_is_neither_is_for_nobody(message):
    assert notices_of(delivery(message)) == (None,)


def test_every_record_of_a_delivery_is_read():
    assert len(notices_of(delivery(ALARM, "hello", ALARM))) == 3


@pytest.mark.parametrize(
    ("event", "place"),
    [
        ({}, "event.Records"),
        ({"Records": []}, "event.Records"),
        ({"Records": [{"Sns": None}]}, "event.Records[0].Sns"),
        ({"Records": [3]}, "event.Records[0].Sns"),
        (delivery({"version": "1.0", "source": "custom"}), "event.Records[0].Sns.Message.content"),
        (delivery({"version": "1.0", "source": "custom", "content": {}}), "event.Records[0].Sns.Message.content"),
        (
            delivery({"version": "1.0", "source": "custom", "content": {"description": "x", "nextSteps": "y"}}),
            "event.Records[0].Sns.Message.content.nextSteps",
        ),
        (
            delivery({"version": "1.0", "source": "custom", "content": {"description": "x"}}, MessageId=""),
            "event.Records[0].Sns",
        ),
        (delivery({"AlarmName": "", "NewStateValue": "OK"}), "event.Records[0].Sns.Message"),
    ],
)
def test_what_says_that_it_is_ours_and_is_not_raises_with_the_place(event, place):
    with pytest.raises(InvalidEventError) as raised:
        notices_of(event)

    assert raised.value.place == place
