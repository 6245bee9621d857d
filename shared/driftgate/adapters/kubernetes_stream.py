"""One watch of one resource, followed in a thread of its own: each event goes into a queue as it arrives.

A stream that the server ends in good order is taken up again from the last version seen, which loses nothing. Anything
else (a broken connection, silence, an expired version, nonsense) ends the follower with the error as its last word:
whoever reads the queue must list again. The server is asked to end each stream after a few seconds, so that a dead
connection, which looks like a quiet one, is found out before Karpenter's next pass (10 s).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue

import urllib3
from urllib3.exceptions import HTTPError

from driftgate.adapters.kubernetes_client import KubernetesClient, Query
from driftgate.adapters.kubernetes_errors import Answer, breakdown, nonsense, refusal
from driftgate.adapters.kubernetes_resources import Call, Resource
from driftgate.domain.jsonvalue import JsonObject, child, integer, mapping, text

_SHORT_S = 1.0
_BREATH_S = 0.25
_PIECE = 1 << 16
_EVENT_TYPES = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
_JOIN_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchTimes:
    """Seconds: how long a stream lasts before it is taken up anew, how much silence in it means that it is dead, and
    how long an API server may be out of reach before the watch gives up. Silence and patience together stay below one
    idle pass of Karpenter (10 s): whoever cannot see shuts the gate before a second node can go.
    """

    stream_s: int = 3
    silence_s: float = 4.0
    patience_s: float = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent:
    """An object of the resource as it is now, or (`deleted`) as it last was."""

    resource: Resource
    raw: JsonObject
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The last word of a follower: why it cannot go on by itself."""

    error: Exception


Heard = WatchEvent | Broken


class Follower:
    """Follows one resource from `version` on until it breaks or is stopped."""

    def __init__(
        self,
        client: KubernetesClient,
        resource: Resource,
        query: Query,
        version: str,
        heard: SimpleQueue[Heard],
        times: WatchTimes,
    ) -> None:
        self._client = client
        self._times = times
        self._call = Call(verb="watch", resource=resource)
        self._query = query
        self._version = version
        self._heard = heard
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._open: urllib3.BaseHTTPResponse | None = None
        self._thread = threading.Thread(target=self._run, name=f"watch-{resource.plural}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, also in the middle of a wait. One that still waits for a connection ends by its limit."""
        self._stopped.set()
        with self._lock:
            if self._open is not None:
                _hang_up(self._open)

    def join(self) -> None:
        self._thread.join(_JOIN_S)

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                began = time.monotonic()
                self._follow_once()
                if time.monotonic() - began < _SHORT_S:
                    self._stopped.wait(_BREATH_S)
        except Exception as error:  # the thread's edge: whoever reads the queue raises it
            if not self._stopped.is_set():
                self._heard.put(Broken(error=error))

    def _follow_once(self) -> None:
        """Follows one stream to its end in good order. Raises what ended it otherwise."""
        response = self._client.stream(self._call, self._asked(), self._times.silence_s)
        with self._lock:
            self._open = response
        try:
            if not self._stopped.is_set():
                self._hear_all(response)
        except (HTTPError, OSError) as error:
            raise breakdown(self._call, error) from error
        finally:
            with self._lock:
                self._open = None
            response.close()

    def _asked(self) -> Query:
        return {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._times.stream_s),
            "resourceVersion": self._version,
        }

    def _hear_all(self, response: urllib3.BaseHTTPResponse) -> None:
        for line in _lines(response):
            kind, raw = self._understood(line)
            if kind == "ERROR":
                raise refusal(self._call, Answer(status=integer(raw.get("code")) or 500, body=json.dumps(raw).encode()))
            if kind != "BOOKMARK":
                self._heard.put(WatchEvent(resource=self._call.resource, raw=raw, deleted=kind == "DELETED"))
            self._version = text(child(raw, "metadata").get("resourceVersion")) or self._version

    def _understood(self, line: bytes) -> tuple[str, JsonObject]:
        try:
            event = mapping(json.loads(line))
        except ValueError:
            event = {}
        kind, raw = text(event.get("type")), mapping(event.get("object"))
        if kind not in _EVENT_TYPES or not raw:
            raise nonsense(self._call, Answer(status=200, body=line), "a watch event")
        return kind, raw


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """The lines of the stream, each as soon as it is whole; a torn last line is given as it is."""
    rest = b""
    for piece in response.stream(_PIECE):
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line for line in whole if line)
    if rest:
        yield rest


def _hang_up(response: urllib3.BaseHTTPResponse) -> None:
    """Wakes up the thread that reads the response; nothing happens where it has ended already."""
    with suppress(OSError, RuntimeError, ValueError):
        response.shutdown()
