"""Calls to one DynamoDB table, repeated within bounds, with an exact account of what may have happened.

boto3's own retries would hide whether an earlier attempt of a write got through, so every attempt here is one request.
A repeated transaction carries the same token: DynamoDB does it once. Must not know what an item means.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.dynamodb_errors import Fate, failure_of, fate_of
from driftgate.domain.errors import InvariantError, LedgerUnavailableError
from driftgate.ports import Clock

Json = dict[str, Any]
PAUSES_S = (0.05, 0.1, 0.2, 0.4)
ACTIONS = {
    "query": "dynamodb:Query",
    "batch_get_item": "dynamodb:BatchGetItem",
    "put_item": "dynamodb:PutItem",
    "transact_write_items": "dynamodb:PutItem, UpdateItem, DeleteItem and ConditionCheckItem",
}


class DynamoDbCalls:
    """Raises LedgerUnavailableError, AnswerLostError (writes), AwsForbiddenError, PermanentError (no such table)."""

    def __init__(self, aws: AwsSession, table: str, clock: Clock, region: str | None) -> None:
        self._aws = aws
        self._table = table
        self._clock = clock
        self._region = region

    def query(self, partition: str) -> list[Json]:
        """All items of a partition."""
        request: Json = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": partition}},
            "ConsistentRead": True,
        }
        items: list[Json] = []
        while True:
            page = self._send("query", request)
            items += page["Items"]
            if not page.get("LastEvaluatedKey"):
                return items
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def get(self, keys: Sequence[Json]) -> list[Json]:
        """Those of the items that exist."""
        items: list[Json] = []
        wanted: Json = {self._table: {"Keys": list(keys), "ConsistentRead": True}}
        for pause in (*PAUSES_S, 0.0):
            page = self._send("batch_get_item", {"RequestItems": wanted})
            items += page["Responses"].get(self._table, [])
            wanted = page.get("UnprocessedKeys", {})
            if not wanted:
                return items
            self._clock.sleep(pause)
        raise LedgerUnavailableError(
            f"dynamodb:BatchGetItem on table {self._table} leaves keys unread: it is throttled"
        )

    def put(self, content: Json, condition: Json) -> None:
        """The item is stored. Raises ConditionFailedError with the item that stood in the way."""
        request = {"TableName": self._table, "Item": content, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        self._send("put_item", request | condition, is_write=True)

    def transact(self, actions: Sequence[tuple[str, Json]]) -> None:
        """All actions (kind and request) happened. Raises ConditionFailedError, and then none did."""
        named = [{kind: {"TableName": self._table} | request} for kind, request in actions]
        request = {"TransactItems": named, "ClientRequestToken": str(uuid4())}
        self._send("transact_write_items", request, is_write=True)

    def _send(self, method: str, request: Json, *, is_write: bool = False) -> Json:
        client = self._aws.client("dynamodb", region=self._region, attempts=1)
        may_have_happened = False
        for pause in (*PAUSES_S, None):
            try:
                answer: Json = getattr(client, method)(**request)
            except (ClientError, BotoCoreError) as error:
                fate = fate_of(error)
                may_have_happened |= is_write and fate is Fate.UNKNOWN
                if fate is Fate.REFUSED or pause is None:
                    raise failure_of(
                        error, ACTIONS[method], self._table, may_have_happened=may_have_happened
                    ) from error
                self._clock.sleep(pause * random.uniform(0.5, 1.5))
            else:
                return answer
        raise InvariantError("the last attempt returns or raises")
