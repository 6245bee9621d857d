"""The ledger in one DynamoDB table, shared by every function of a deployment.

Reads are consistent; a commit is one transaction; the lease is one conditional write. The client itself never repeats
a write (`dynamodb_calls` does, and knows what may have happened). Items and keys: `ledger_dynamodb_items`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.dynamodb_calls import DynamoDbCalls
from driftgate.adapters.dynamodb_errors import ConditionFailedError
from driftgate.adapters.ledger_book import fleet_of, state_of
from driftgate.adapters.ledger_dynamodb_changes import ABSENT, Action, actions_of, equal
from driftgate.adapters.ledger_dynamodb_items import (
    FLEET_PARTITION,
    Item,
    book_of,
    heartbeat_keys,
    key,
    lease_item,
    lease_of,
    partition_of,
)
from driftgate.adapters.ledger_rules import lease_request, next_lease
from driftgate.domain.errors import AnswerLostError, LedgerConflictError, LedgerUnavailableError
from driftgate.domain.ledger import LeaseRecord
from driftgate.ports import Clock, LedgerChange, LedgerState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LEASE_TRIES = 5


class DynamoDbLedger:
    """Raises, beside what the port says: AwsForbiddenError, and PermanentError where there is no such table."""

    def __init__(self, aws: AwsSession, table: str, clock: Clock, region: str | None = None) -> None:
        self._calls = DynamoDbCalls(aws, table, clock, region)
        self._clock = clock

    def load(self, cluster: str) -> LedgerState:
        items = self._calls.get(heartbeat_keys(cluster)) + self._calls.query(partition_of(cluster))
        return state_of(book_of(items), cluster, self._clock.now())

    def load_fleet(self) -> Mapping[str, LedgerState]:
        return fleet_of(book_of(self._calls.query(FLEET_PARTITION)))

    def commit(self, cluster: str, *changes: LedgerChange) -> None:
        actions = actions_of(cluster, changes, self._clock.now())
        if not actions:
            return
        try:
            self._calls.transact([(action.kind, action.request) for action in actions])
        except ConditionFailedError as failure:
            raise _refused(actions, failure) from failure

    def acquire_lease(self, cluster: str, holder: str, now: datetime, ttl: timedelta) -> LeaseRecord:
        found = next(iter(self._calls.get([key(FLEET_PARTITION, "lease", cluster)])), None)
        for _ in range(LEASE_TRIES):
            held, last_token = lease_of(found)
            lease = next_lease(held, last_token, lease_request(cluster, holder, now, ttl), now)
            try:
                self._calls.put(lease_item(cluster, lease, lease.token), _as_found(found))
            except ConditionFailedError as failure:
                # somebody was faster, or this is our own write, repeated: then it is renewed under its token
                found = failure.found
            else:
                return lease
        raise LedgerUnavailableError(f"the lease of {cluster} changed {LEASE_TRIES} times while it was asked for")

    def release_lease(self, lease: LeaseRecord) -> None:
        free = lease_item(lease.cluster, None, lease.token)
        try:
            self._calls.put(free, equal(holder={"S": lease.holder}, token=free["token"]))
        except ConditionFailedError:
            return


def create_table(client: DynamoDBClient, name: str) -> None:
    """The table as the ledger needs it, ready for use: for tests, one machine, and who deploys by hand."""
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    client.update_time_to_live(TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})


def _as_found(found: Item | None) -> dict[str, Any]:
    """The condition that the lease is still what was read."""
    return ABSENT if found is None else equal(body=found["body"], token=found["token"])


def _refused(actions: list[Action], failure: ConditionFailedError) -> LedgerConflictError | AnswerLostError:
    failed = [action.expects for action, is_failed in zip(actions, failure.failed, strict=False) if is_failed]
    text = f"not found as expected: {'; '.join(failed) or 'a record in use elsewhere'}"
    if failure.may_have_happened:
        return AnswerLostError(f"{text}; an earlier attempt had no answer and may have been the one: load again")
    return LedgerConflictError(f"{text}; load again and decide again")
