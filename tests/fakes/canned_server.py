"""An HTTP server on the loopback that gives prepared answers, also impossible ones, and keeps what it was asked."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        """What the replies are kept by: a watch has its own, `/path?watch`."""
        return f"{self.path}?watch" if self.query.get("watch") == "true" else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer. A `body` that is not bytes is sent as JSON."""

    status: int = 200
    body: Any = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An answer in chunks, one for each part: an object as a line of JSON, or bytes as they are.

    Afterwards it ends in good order, is cut off, or stays open and silent until the server ends.
    """

    parts: Sequence[Any] = ()
    then: Literal["end", "cut", "hang"] = "end"


DROP: Literal["drop"] = "drop"
"""The connection closes without an answer."""
HANG: Literal["hang"] = "hang"
"""No answer until the server ends."""
Canned = Reply | Stream | Literal["drop", "hang"]
NOT_SERVED = Reply(status=404, body=b"404 page not found\n", content_type="text/plain")


class CannedServer:
    """Answers each path with its replies in order, the last one again and again; `/path?watch` is for watches.

    Use it as a context manager.
    """

    def __init__(self, replies: Mapping[str, Sequence[Canned]], *, certificate: str | None = None) -> None:
        self._replies = {path: list(given) for path, given in replies.items()}
        self._lock = threading.Lock()
        self.asked: list[Asked] = []
        self.ended = threading.Event()
        self._http = _Http(self)
        self._scheme = "http" if certificate is None else "https"
        if certificate is not None:
            self._http.socket = _tls(certificate).wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    def reply_to(self, asked: Asked) -> Canned:
        with self._lock:
            self.asked.append(asked)
            waiting = self._replies.get(asked.key, [NOT_SERVED])
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    def __enter__(self) -> CannedServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ended.set()
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join()


def _tls(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


class _Http(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, owner: CannedServer) -> None:
        self.owner = owner
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Connection)

    def hang_up(self) -> None:
        for connection in list(self.connections):
            _shut(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed: `CannedServer.asked` is the log."""

    def _respond(self) -> None:
        reply = self.server.owner.reply_to(self._asked())
        if isinstance(reply, Reply):
            self._send(reply)
        elif isinstance(reply, Stream):
            self._stream(reply)
        else:
            self._break_off(reply)

    do_GET = do_PATCH = do_PUT = _respond  # noqa: N815 - names of http.server

    def _asked(self) -> Asked:
        parts = urlsplit(self.path)
        return Asked(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(int(self.headers.get("content-length") or 0)),
        )

    def _send(self, reply: Reply) -> None:
        content = reply.content()
        self.send_response(reply.status)
        for name, value in {"content-type": reply.content_type, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, stream: Stream) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in stream.parts:
            line = part if isinstance(part, bytes) else json.dumps(part).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        if stream.then == "end":
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._break_off("drop" if stream.then == "cut" else "hang")

    def _break_off(self, how: Literal["drop", "hang"]) -> None:
        if how == "hang":
            self.server.owner.ended.wait()
        self.close_connection = True
        _shut(self.connection)
