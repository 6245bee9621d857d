"""What SNS delivers to the notifier, as notices.

On the topic there are driftgate's own messages, in the form that Amazon Q takes too, and those of CloudWatch alarms.
Anything else is for nobody to read: it is told apart, so that it can be logged and dropped. A message that says that
it is one of ours and is not, raises.

Source: aws docs, lambda/with-sns, chatbot/adminguide/custom-notifs, CloudWatch/monitoring (alarm messages, 2026).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from driftgate.domain.errors import InvalidEventError, InvalidInputError
from driftgate.domain.fields import Fields
from driftgate.domain.jsonvalue import items, mapping, strings
from driftgate.domain.notice import ALARM, Notice
from driftgate.events import CHECK_SENDER

# What stands in the footnote already, or means nothing to a reader.
_SAID_ELSEWHERE = frozenset({"cluster", "pool", "code", "rollId"})


def notices_of(event: Mapping[str, object]) -> tuple[Notice | None, ...]:
    """One entry per record of the delivery; None for a message that is not for people.

    Raises InvalidEventError with the place.
    """
    records = items(event.get("Records"))
    if not records:
        raise InvalidEventError("is no delivery of SNS", place="event.Records", remedy=CHECK_SENDER)
    try:
        return tuple(_notice(record, f"event.Records[{index}]") for index, record in enumerate(records))
    except InvalidEventError:
        raise
    except InvalidInputError as error:
        raise InvalidEventError(error.message, place=error.place, remedy=CHECK_SENDER) from error


def _notice(record: object, place: str) -> Notice | None:
    sns = Fields(mapping(record).get("Sns"), f"{place}.Sns")
    message, place = _parsed(sns.text("Message")), f"{place}.Sns.Message"
    if message.get("source") == "custom" and "version" in message:
        return _own(message, place, sns.required_text("MessageId"))
    if "AlarmName" in message and "NewStateValue" in message:
        return _alarm(Fields(message, place))
    return None


def _parsed(message: str) -> Mapping[str, object]:
    try:
        return mapping(json.loads(message))
    except ValueError:
        return {}


def _own(message: Mapping[str, object], place: str, message_id: str) -> Notice:
    content = Fields(message.get("content"), f"{place}.content")
    metadata = Fields(message.get("metadata") or {}, f"{place}.metadata")
    context = strings(metadata.anything("additionalContext"))
    identity = Fields(message, place).text("id") or message_id
    return Notice(
        id=identity,
        thread=metadata.text("threadId") or identity,
        title=content.text("title"),
        text=content.required_text("description"),
        next_steps=content.texts("nextSteps"),
        kind=metadata.text("eventType"),
        where=", ".join(metadata.texts("relatedResources")),
        code=context.get("code", ""),
        facts={name: value for name, value in context.items() if name not in _SAID_ELSEWHERE},
    )


def _alarm(fields: Fields) -> Notice:
    """One thread per alarm; its description says what to do."""
    name, state = fields.required_text("AlarmName"), fields.required_text("NewStateValue")
    at, arn = fields.text("StateChangeTime"), fields.text("AlarmArn") or name
    description, reason = fields.text("AlarmDescription"), fields.text("NewStateReason")
    return Notice(
        id=f"{arn}@{at}",
        thread=arn,
        title=f"{name}: {state}",
        text="\n".join(part for part in (description, reason) if part) or f"It was {fields.text('OldStateValue')}.",
        kind=ALARM,
        where=fields.text("Region"),
        facts={"at": at} if at else {},
    )
