"""What boto3 raises, translated once: nothing of boto3 leaves the adapters.

Must not retry: the client's own configuration and the ledger do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    TokenRetrievalError,
)
from botocore.parsers import ResponseParserError

from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError

DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "AuthorizationErrorException",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "KMSAccessDeniedException",
        "KmsAccessDenied",
        "NotAuthorized",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)
THROTTLED = frozenset(
    {
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
NO_CREDENTIALS = (
    NoCredentialsError,
    PartialCredentialsError,
    CredentialRetrievalError,
    TokenRetrievalError,
    NoRegionError,
)


@contextmanager
def aws_call(action: str, subject: str = "") -> Iterator[None]:
    """Whatever boto3 raises in the block leaves it as one of ours. `action` is the IAM action, `subject` what it is on.

    Raises AwsForbiddenError (denied, or no usable credentials), AwsUnavailableError (everything else).
    """
    try:
        yield
    except ClientError as error:
        raise translated(error, action, subject) from error
    except NO_CREDENTIALS as error:
        raise no_credentials(error, action) from error
    except (BotoCoreError, ResponseParserError) as error:
        raise AwsUnavailableError(f"{_what(action, subject)} got no answer: {error}") from error


def translated(error: ClientError, action: str, subject: str = "") -> AwsForbiddenError | AwsUnavailableError:
    """An answer that is an error, as one of ours."""
    code, message = code_of(error), error.response.get("Error", {}).get("Message", "")
    if code in DENIED:
        what = _what(action, subject)
        return AwsForbiddenError(f"{what} was denied ({code}): {message} · Allow {action} to this role.", action=action)
    why = "was throttled" if code in THROTTLED else "failed"
    return AwsUnavailableError(f"{_what(action, subject)} {why} ({code}): {message}")


def no_credentials(error: BotoCoreError, action: str) -> AwsForbiddenError:
    remedy = "Set AWS_PROFILE and AWS_REGION, or run where a role is at hand."
    return AwsForbiddenError(f"{action} could not be called: {error} · {remedy}", action=action)


def code_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def status_of(error: ClientError) -> int:
    """The HTTP status of the answer, 0 where it is not known."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _what(action: str, subject: str) -> str:
    return f"{action} on {subject}" if subject else action
