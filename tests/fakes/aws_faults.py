"""Faults put between a boto3 client and AWS (moto), one per request, then none: what a real network does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

DENIED = ("AccessDeniedException", 400)
THROTTLED = ("ThrottlingException", 400)
BROKEN = ("InternalServerError", 500)


def refusal(code: str, status: int = 400, operation: str = "?", **more: Any) -> ClientError:
    """An answer that is an error."""
    answer = {"Error": {"Code": code, "Message": "said AWS"}, "ResponseMetadata": {"HTTPStatusCode": status}, **more}
    return ClientError(answer, operation)  # type: ignore[arg-type]


def unreachable() -> EndpointConnectionError:
    return EndpointConnectionError(endpoint_url="https://loopback.invalid")


def timeout() -> ReadTimeoutError:
    return ReadTimeoutError(endpoint_url="https://loopback.invalid")


class AwsFaults:
    """Watches a client: `requests` are the operations sent; the given faults meet the requests in order.

    `before` faults keep the request from AWS; `after` faults lose the answer of a request that was done.
    """

    def __init__(
        self, client: Any, before: Iterable[Exception | None] = (), after: Iterable[Exception | None] = ()
    ) -> None:
        self.requests: list[str] = []
        self.parameters: list[dict[str, Any]] = []
        self._before = iter(before)
        self._after = iter(after)
        client.meta.events.register_first("before-send", self._sending)
        client.meta.events.register_first("after-call", self._answered)
        client.meta.events.register_first("before-parameter-build", self._asked)

    def _asked(self, params: dict[str, Any], **_: object) -> None:
        self.parameters.append(dict(params))

    def _sending(self, event_name: str, **_: object) -> None:
        self.requests.append(event_name.rpartition(".")[2])
        fault = next(self._before, None)
        if fault is not None:
            raise fault

    def _answered(self, **_: object) -> None:
        fault = next(self._after, None)
        if fault is not None:
            raise fault
