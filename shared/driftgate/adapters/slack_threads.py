"""Slack threads in the ledger's table: one item per thread, in a partition of its own, so that no look ever reads it.

pk              sk
slack#<thread>  thread     the record as JSON in `body`; `version` for the condition; `ttl` is only cleaning
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.dynamodb_calls import DynamoDbCalls
from driftgate.adapters.dynamodb_errors import ConditionFailedError
from driftgate.adapters.ledger_dynamodb_changes import ABSENT, equal
from driftgate.adapters.ledger_dynamodb_items import SCHEMA_VERSION, Item, as_json, joined, key
from driftgate.contract import SLACK_PARTITION
from driftgate.domain.chat_turn import Thread
from driftgate.domain.errors import AnswerLostError, InvalidInputError, LedgerConflictError, LedgerCorruptError
from driftgate.domain.fields import Fields
from driftgate.domain.jsonvalue import rfc3339
from driftgate.ports import Clock

KEPT = timedelta(days=90)


class DynamoDbThreads:
    """Raises, beside what the port says: LedgerCorruptError, and PermanentError where there is no such table."""

    def __init__(self, aws: AwsSession, table: str, clock: Clock, region: str | None = None) -> None:
        self._calls = DynamoDbCalls(aws, table, clock, region)
        self._clock = clock

    def read(self, name: str) -> Thread:
        found = self._calls.get([_key(name)])
        return _thread(name, found[0]) if found else Thread(name=name)

    def write(self, thread: Thread) -> Thread:
        stored = replace(thread, version=thread.version + 1)
        condition = equal(version={"N": str(thread.version)}) if thread.version else ABSENT
        try:
            self._calls.put(_item(stored, self._clock.now()), condition)
        except ConditionFailedError as failure:
            if failure.may_have_happened:
                raise AnswerLostError(f"the thread {thread.name} may have been written: read again") from failure
            raise LedgerConflictError(f"somebody else wrote the thread {thread.name}: read again") from failure
        return stored


def _key(name: str) -> Item:
    return key(joined(SLACK_PARTITION, name), "thread")


def _item(thread: Thread, now: datetime) -> Item:
    body = {
        "root": thread.root,
        "rootAt": rfc3339(thread.root_at),
        "said": list(thread.said),
        "holder": thread.holder,
        "until": rfc3339(thread.until),
    }
    described = {"v": {"N": str(SCHEMA_VERSION)}, "kind": {"S": "thread"}, "body": {"S": as_json(body)}}
    ttl = {"N": str(int((now + KEPT).timestamp()))}
    return _key(thread.name) | described | {"version": {"N": str(thread.version)}, "ttl": ttl}


def _thread(name: str, item: Item) -> Thread:
    try:
        fields = Fields(json.loads(item["body"]["S"]), "body")
        return Thread(
            name=name,
            root=fields.text("root"),
            root_at=fields.instant("rootAt"),
            said=fields.texts("said"),
            holder=fields.text("holder"),
            until=fields.instant("until"),
            version=int(item["version"]["N"]),
        )
    except (KeyError, ValueError, InvalidInputError) as error:
        raise LedgerCorruptError(
            f"the thread {name} in the ledger cannot be read: {error} · Delete its item."
        ) from error
