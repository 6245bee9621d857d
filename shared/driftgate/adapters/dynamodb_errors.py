"""What an error of DynamoDB says of the request: was it done, was it not, or may it have been?

A write whose answer never came may have happened; saying otherwise would let a worker act on a wrong belief.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
)

from driftgate.adapters.aws_errors import (
    DENIED,
    NO_CREDENTIALS,
    THROTTLED,
    code_of,
    no_credentials,
    status_of,
    translated,
)
from driftgate.domain.errors import (
    AnswerLostError,
    DriftgateError,
    LedgerConflictError,
    LedgerUnavailableError,
    PermanentError,
)

NEVER_SENT = (ConnectTimeoutError, EndpointConnectionError)
CONDITION = "ConditionalCheckFailed"
HOPELESS = frozenset({CONDITION, "ValidationError", "ItemCollectionSizeLimitExceeded"})
BUSY = frozenset({"TransactionConflictException", "TransactionInProgressException", "ReplicatedWriteConflictException"})

AwsError = ClientError | BotoCoreError


class ConditionFailedError(Exception):
    """A condition of a write did not hold. Never leaves the ledger.

    `failed` tells for each action of a transaction whether its condition was one of those; `found` is the item that
    stood in the way of a single write; `may_have_happened`: an earlier attempt of the same write got no answer.
    """

    def __init__(self, error: ClientError, *, may_have_happened: bool) -> None:
        super().__init__(str(error))
        self.failed = [reason == CONDITION for reason in _reasons(error)]
        self.found: dict[str, Any] | None = _answer(error).get("Item")
        self.may_have_happened = may_have_happened


class Fate(Enum):
    """What became of a request."""

    REFUSED = "not done, and asking again does not help"
    NOT_DONE = "not done; asking again may help"
    UNKNOWN = "may have been done"


def fate_of(error: AwsError) -> Fate:
    if isinstance(error, ClientError):
        return _fate_of_answer(error)
    if isinstance(error, NEVER_SENT):
        return Fate.NOT_DONE
    return Fate.UNKNOWN if isinstance(error, HTTPClientError) else Fate.REFUSED


def _fate_of_answer(error: ClientError) -> Fate:
    code = code_of(error)
    if code == "TransactionCanceledException":
        return Fate.REFUSED if HOPELESS & set(_reasons(error)) else Fate.NOT_DONE
    if code in THROTTLED | BUSY:
        return Fate.NOT_DONE
    return Fate.UNKNOWN if status_of(error) >= 500 else Fate.REFUSED


def failure_of(
    error: AwsError, action: str, table: str, *, may_have_happened: bool
) -> DriftgateError | ConditionFailedError:
    """The error to raise when nothing more is tried."""
    if isinstance(error, ClientError) and _is_condition(error):
        return ConditionFailedError(error, may_have_happened=may_have_happened)
    if may_have_happened:
        return AnswerLostError(f"{action} on table {table} was sent and may have happened: {error}")
    if isinstance(error, NO_CREDENTIALS):
        return no_credentials(error, action)
    if isinstance(error, ClientError):
        return _failure_of_answer(error, action, table)
    return LedgerUnavailableError(f"{action} on table {table} got no answer: {error}")


def _failure_of_answer(error: ClientError, action: str, table: str) -> DriftgateError:
    if code_of(error) in DENIED:
        return translated(error, action, f"table {table}")
    if code_of(error) == "ResourceNotFoundException":
        return PermanentError(
            f"there is no DynamoDB table {table} in this account and region · Check name and region, or deploy first."
        )
    if "TransactionConflict" in _reasons(error) or code_of(error) in BUSY:
        return LedgerConflictError(f"somebody else is writing the same records: {error}; load again and decide again")
    if fate_of(error) is Fate.REFUSED:
        return PermanentError(f"{action} on table {table} was refused: {error}")
    return LedgerUnavailableError(f"{action} on table {table} failed: {error}")


def _is_condition(error: ClientError) -> bool:
    return code_of(error) == f"{CONDITION}Exception" or CONDITION in _reasons(error)


def _reasons(error: ClientError) -> list[str]:
    """Why a transaction was cancelled, one code per action; empty for other errors."""
    return [str(reason.get("Code")) for reason in _answer(error).get("CancellationReasons", ())]


def _answer(error: ClientError) -> dict[str, Any]:
    return dict(error.response)
