"""Requests to one API server: connection, time limits, bounded repeats.

The transport (TLS, client certificates, proxies, tokens) is the official client's; what is sent and how an answer is
understood is decided here. Bodies stay bytes until somebody needs them. A PATCH is never repeated: after a lost
answer only a new reading can tell what happened.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError, ProtocolError

from driftgate import __version__
from driftgate.adapters.collector import collector_paused
from driftgate.adapters.kubernetes_errors import Answer, breakdown, nonsense, refusal
from driftgate.adapters.kubernetes_parts import new_transport
from driftgate.adapters.kubernetes_resources import Call
from driftgate.domain.errors import ClusterUnavailableError
from driftgate.domain.jsonvalue import JsonObject, mapping

USER_AGENT = f"driftgate/{__version__}"
JSON_PATCH = "application/json-patch+json"
_PAUSES_S = (0.2, 1.0)
_LONGEST_PAUSE_S = 5.0

Query = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """Seconds to wait for a connection, and for the next bytes of an answer."""

    connect_s: float = 5.0
    read_s: float = 15.0


class KubernetesClient:
    """One API server. May be used by several threads at once.

    `configuration` is an official `Configuration` of its own, never the process-wide default.
    """

    def __init__(
        self, configuration: Any, *, limits: TimeLimits | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._configuration = configuration
        self._limits = limits or TimeLimits()
        self._sleep = sleep
        self._credentials = threading.Lock()
        self._pools = new_transport(configuration)

    def close(self) -> None:
        """Closes the connections that are idle."""
        self._pools.clear()

    def get(self, call: Call, query: Query | None = None) -> JsonObject:
        """The object or list asked for; tried again, at most twice, where the server was only busy or hung up."""
        return self._patiently(lambda: self._get_once(call, query))

    def ask(self, call: Call, question: dict[str, object]) -> JsonObject:
        """The answer to a question that is put by creating it and is never stored; tried again like a reading."""
        return self._patiently(lambda: self._ask_once(call, question))

    def date(self, call: Call) -> str:
        """The `Date` of the answer to a reading, "" where it has none. Raises what an answer of 401 or 5xx means."""
        response = self._send("GET", call, {"limit": "1"})
        answer = _answer(response)
        if answer.status == 401 or answer.status >= 500:
            raise refusal(call, answer)
        return response.headers.get("date", "")

    def _patiently(self, once: Callable[[], JsonObject]) -> JsonObject:
        for pause_s in _PAUSES_S:
            try:
                return once()
            except ClusterUnavailableError as error:
                if not _may_repeat(error):
                    raise
                self._sleep(min(error.retry_after_s or pause_s, _LONGEST_PAUSE_S))
        return once()

    def patch(self, call: Call, query: Query, operations: list[dict[str, object]]) -> JsonObject:
        """The object as stored afterwards. Raises AnswerLostError where nobody can say whether it was."""
        body = json.dumps(operations).encode()
        response = self._send("PATCH", call, query, body=body, headers={"content-type": JSON_PATCH})
        return _object_in(call, _answer(response))

    def stream(self, call: Call, query: Query, silence_s: float) -> urllib3.BaseHTTPResponse:
        """An open stream, not yet read; the caller closes it. Silence of `silence_s` ends it with an error."""
        response = self._send("GET", call, query, read_s=silence_s, preload_content=False)
        if response.status == 200:
            return response
        try:
            answer = _answer(response)
        except HTTPError as error:
            raise breakdown(call, error) from error
        finally:
            response.release_conn()
        raise refusal(call, answer)

    def _get_once(self, call: Call, query: Query | None) -> JsonObject:
        response = self._send("GET", call, query or {}, headers={"accept-encoding": "gzip"})
        return _object_in(call, _answer(response))

    def _ask_once(self, call: Call, question: dict[str, object]) -> JsonObject:
        body, headers = json.dumps(question).encode(), {"content-type": "application/json"}
        return _object_in(call, _answer(self._send("POST", call, {}, body=body, headers=headers)))

    def _send(
        self, method: str, call: Call, query: Query, *, read_s: float | None = None, **more: Any
    ) -> urllib3.BaseHTTPResponse:
        headers = {
            "accept": "application/json",
            "user-agent": USER_AGENT,
            **more.pop("headers", {}),
            **self._identity(),
        }
        url = self._configuration.host + call.path + ("?" + urlencode(query) if query else "")
        timeout = urllib3.Timeout(connect=self._limits.connect_s, read=read_s or self._limits.read_s)
        try:
            return self._pools.request(
                method, url, headers=headers, timeout=timeout, retries=False, redirect=False, **more
            )
        except (HTTPError, OSError) as error:
            raise breakdown(call, error) from error

    def _identity(self) -> dict[str, str]:
        """Asks for the token anew each time: the configuration renews it when it must."""
        with self._credentials:
            token = self._configuration.get_api_key_with_prefix("authorization")
        return {"authorization": token} if token else {}


def _answer(response: urllib3.BaseHTTPResponse) -> Answer:
    return Answer(
        status=response.status,
        body=response.data,
        content_type=response.headers.get("content-type", ""),
        retry_after_s=_seconds(response.headers.get("retry-after", "")),
    )


def _seconds(retry_after: str) -> float | None:
    """Only whole seconds: the API server never sends a date here."""
    return float(retry_after) if retry_after.isdecimal() else None


def _object_in(call: Call, answer: Answer) -> JsonObject:
    """The object of the kind asked for (or its list). Raises what the answer means where it is anything else."""
    if not 200 <= answer.status < 300:
        raise refusal(call, answer)
    is_one = bool(call.name) or call.verb == "create"
    kind = call.resource.kind if is_one else f"{call.resource.kind}List"
    try:
        with collector_paused():
            found = mapping(json.loads(answer.body))
    except ValueError as error:
        raise nonsense(call, answer, kind) from error
    if found.get("kind") != kind:
        raise nonsense(call, answer, kind)
    return found


def _may_repeat(error: ClusterUnavailableError) -> bool:
    return error.status == 429 or error.status >= 500 or isinstance(error.__cause__, ProtocolError)
