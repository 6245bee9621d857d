"""Starts a placement's `close_budgets` without waiting for it: closing needs neither queue nor lease."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from driftgate.adapters.aws_errors import aws_call
from driftgate.adapters.aws_session import AwsSession
from driftgate.domain.errors import AwsUnavailableError
from driftgate.events import close_request_to_object
from driftgate.ports import CloseRequest

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

ACCEPTED = 202


class LambdaCloser:
    """`function` is the name or ARN of the placement's `close_budgets`."""

    def __init__(self, aws: AwsSession, function: str, region: str | None = None) -> None:
        self._aws = aws
        self._function = function
        self._region = region

    def invoke(self, request: CloseRequest) -> None:
        """Lambda has taken the request and will run it, more than once if need be.

        Raises AwsForbiddenError, AwsUnavailableError.
        """
        client: LambdaClient = self._aws.client("lambda", region=self._region)
        with aws_call("lambda:InvokeFunction", self._function):
            answer = client.invoke(
                FunctionName=self._function,
                InvocationType="Event",
                Payload=json.dumps(close_request_to_object(request), ensure_ascii=False).encode(),
            )
        if answer["StatusCode"] != ACCEPTED:
            raise AwsUnavailableError(f"{self._function} was not taken: Lambda answered {answer['StatusCode']}")
