"""Lambda's side of an invocation: the role, the log, and for events the retries and the place for failures.

Source: aws docs, lambda/latest/dg/invocation-async-error-handling (2026): one and two minutes after a failure.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from infra.local.cloud.account import Account, NotAllowedError, role, service
from infra.local.runtime.function import Function
from infra.local.runtime.process import FunctionFailedError
from infra.local.template.document import TemplateError
from infra.local.template.loading import Stack
from infra.local.tempo import Tempo

LAMBDA = service("lambda")
RETRY_AFTER_S = (60.0, 120.0)
XRAY = ("xray:PutTraceSegments", "xray:PutTelemetryRecords")


class Runtime(Protocol):
    """Runs a function's handler. Raises FunctionFailedError."""

    def run(self, function: Function, event: object, request_id: str) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How asynchronous events of a function are treated. `on_failure` "" : they are lost."""

    oldest: timedelta = timedelta(hours=6)
    retries: int = 2
    on_failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An event in Lambda's own queue."""

    function: Function
    event: object
    at: datetime
    request_id: str


class Invocations:
    """Every function of the stack, by its ARN or name; `failures` says what every failed attempt said."""

    def __init__(
        self,
        functions: tuple[Function, ...],
        patience: Mapping[str, Patience],
        runtime: Runtime,
        account: Account,
        tempo: Tempo,
    ) -> None:
        self._by_name = {function.name: function for function in functions}
        self._patience = patience
        self._runtime = runtime
        self._account = account
        self._tempo = tempo
        self.failures: list[str] = []
        self.lost: list[str] = []
        for function in functions:
            self._check_destination(function)

    def _check_destination(self, function: Function) -> None:
        """Lambda takes no destination that the function's role may not send to; here that is a loss from the start.

        Source: aws docs, lambda/latest/dg/invocation-async-retain-records, required permissions (2026).
        """
        queue = self._patience.get(function.name, Patience()).on_failure
        if not queue:
            return
        try:
            self._account.require(role(function.role_arn), "sqs:SendMessage", queue)
        except NotAllowedError as error:
            self.lost.append(f"{function.label} could not be given its destination: {error}")

    def named(self, name: str) -> Function:
        """Raises TemplateError where there is no such function."""
        found = self._by_name.get(name.rsplit(":function:", 1)[-1].removesuffix(":$LATEST"))
        if found is None:
            raise TemplateError(f"there is no function {name}")
        return found

    def call(self, name: str, event: object) -> object:
        """What the function returned. Raises FunctionFailedError, and notes it."""
        return self._run(self.named(name), event, str(uuid.uuid4()))

    def accept(self, name: str, event: object) -> None:
        """Lambda has taken the event and will run the function soon, again if it fails."""
        accepted = Accepted(
            function=self.named(name), event=event, at=self._tempo.clock.now(), request_id=str(uuid.uuid4())
        )
        self._tempo.after(0.0, lambda: self._hand(accepted, 0))

    def _hand(self, accepted: Accepted, attempt: int) -> None:
        self._tempo.hand(accepted.function.name, lambda: self._attempt(accepted, attempt))

    def _attempt(self, accepted: Accepted, attempt: int) -> None:
        try:
            self._run(accepted.function, accepted.event, accepted.request_id)
        except FunctionFailedError as error:
            self._failed(accepted, attempt, error)

    def _failed(self, accepted: Accepted, attempt: int, error: FunctionFailedError) -> None:
        patience = self._patience.get(accepted.function.name, Patience())
        if attempt >= patience.retries:
            self._give_up(accepted, patience, error, "RetriesExhausted", attempt + 1)
            return
        wait = RETRY_AFTER_S[attempt]
        if self._tempo.clock.now() + timedelta(seconds=wait) - accepted.at > patience.oldest:
            self._give_up(accepted, patience, error, "EventAgeExceeded", attempt + 1)
            return
        self._tempo.after(wait, lambda: self._hand(accepted, attempt + 1))

    def _give_up(
        self, accepted: Accepted, patience: Patience, error: FunctionFailedError, condition: str, attempts: int
    ) -> None:
        """Lambda's record of the failure, sent as the function's own role."""
        record = {
            "version": "1.0",
            "requestContext": {
                "requestId": accepted.request_id,
                "functionArn": accepted.function.arn,
                "condition": condition,
                "approximateInvokeCount": attempts,
            },
            "requestPayload": accepted.event,
            "responsePayload": {"errorType": error.kind, "errorMessage": error.message},
        }
        try:
            if not patience.on_failure:
                raise NotAllowedError("it has no destination for failures")
            self._account.send(role(accepted.function.role_arn), patience.on_failure, json.dumps(record), {})
        except NotAllowedError as refused:
            self.lost.append(f"{accepted.function.label} gave up ({error}); {refused}")

    def _run(self, function: Function, event: object, request_id: str) -> object:
        try:
            taken = self._account.assume(LAMBDA, function.role_arn)
            for action in XRAY if function.is_traced else ():
                self._account.require(taken, action, "*")
            return self._runtime.run(function, event, request_id)
        except NotAllowedError as error:
            self.failures.append(str(error))
            raise FunctionFailedError(function.label, "AccessDeniedException", str(error)) from error
        except FunctionFailedError as error:
            self.failures.append(str(error))
            raise


def patience_of(stack: Stack) -> dict[str, Patience]:
    """By the function's name. Raises TemplateError for a destination that is not served here."""
    found: dict[str, Patience] = {}
    for config in stack.of_type("AWS::Lambda::EventInvokeConfig"):
        properties: Mapping[str, Any] = config.properties
        destinations = properties.get("DestinationConfig", {})
        on_failure = destinations.get("OnFailure", {}).get("Destination", "")
        if set(destinations) - {"OnFailure"} or (on_failure and ":sqs:" not in on_failure):
            raise TemplateError(f"{config.logical_id}: only a queue for failures is served here")
        found[properties["FunctionName"]] = Patience(
            oldest=timedelta(seconds=properties.get("MaximumEventAgeInSeconds", 21600)),
            retries=properties.get("MaximumRetryAttempts", 2),
            on_failure=on_failure,
        )
    return found
