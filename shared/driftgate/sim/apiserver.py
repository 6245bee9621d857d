"""The simulated API over HTTP, on the loopback only: sockets, faults on request, and a log of requests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from ssl import SSLContext
from types import TracebackType
from urllib.parse import parse_qsl, urlsplit

from driftgate.sim.answers import Answer, error_answer
from driftgate.sim.api import Api, Request
from driftgate.sim.clock import SimClock
from driftgate.sim.faults import Fault, Faults
from driftgate.sim.status import fault as fault_status

Later = Callable[[float, Callable[[], None]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """One request as it came, at the cluster's time. `status` 0: no answer was given."""

    at: datetime
    request: Request
    status: int


class ApiServer:
    """Serves an `Api` on 127.0.0.1, on a port that the system chooses. Use it as a context manager.

    `later(seconds, do)` runs something at a simulated time: for writes that land late. With `tls` it speaks HTTPS.
    """

    def __init__(self, api: Api, clock: SimClock, later: Later, tls: SSLContext | None = None) -> None:
        self.api = api
        self.clock = clock
        self.later = later
        self.faults = Faults()
        self.requests: list[LoggedRequest] = []
        self._stopping = threading.Event()
        self._scheme = "http" if tls is None else "https"
        self._http = _Http(self, tls)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    def start(self) -> ApiServer:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ends watches and hanging requests, closes every connection, and waits for the threads."""
        self._stopping.set()
        self.faults.clear()
        with self.api.store.lock:
            self.api.store.changed.notify_all()
        self._http.shutdown()
        self._http.close_connections()
        self._http.server_close()
        self._http.join()
        self._thread.join()

    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def log(self, request: Request, status: int) -> None:
        self.requests.append(LoggedRequest(at=self.clock.now(), request=request, status=status))

    def answer(self, request: Request) -> tuple[Answer | None, Fault | None]:
        """The answer to give (None: close the connection without one), and the fault that hit the request."""
        fault = self.faults.take(request.method, request.path)
        if fault is None or fault.action == "cut_watch":
            return self.api.handle(request, self.is_stopping), fault
        if fault.action == "status":
            return error_answer(fault_status(fault.code, fault.message)), fault
        if fault.action == "hang":
            fault.released.wait()
        elif fault.action == "close_after":
            self.api.handle(request, self.is_stopping)
        elif fault.action == "land_late":
            self.later(fault.delay_s, lambda: self._land(request))
        return None, fault

    def _land(self, request: Request) -> None:
        self.log(request, self.api.handle(request).status)

    def __enter__(self) -> ApiServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Http(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, owner: ApiServer, tls: SSLContext | None) -> None:
        self.owner = owner
        self._open: set[_Connection] = set()
        self._open_lock = threading.Lock()
        self._threads_of: list[threading.Thread] = []
        super().__init__(("127.0.0.1", 0), _Connection)
        if tls is not None:
            # shaken hands with by the connection's own thread, so that nobody keeps others from connecting
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def process_request(self, request: socket | tuple[bytes, socket], client_address: object) -> None:
        """A thread per connection: it never keeps a process from ending, but `join` waits for it."""
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        self._threads_of = [other for other in self._threads_of if other.is_alive()] + [thread]
        thread.start()

    def join(self) -> None:
        for thread in self._threads_of:
            thread.join()

    def opened(self, connection: _Connection) -> None:
        with self._open_lock:
            self._open.add(connection)
            if self.owner.is_stopping():
                connection.shut()

    def closed(self, connection: _Connection) -> None:
        with self._open_lock:
            self._open.discard(connection)

    def close_connections(self) -> None:
        with self._open_lock:
            for connection in self._open:
                connection.shut()


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Http

    def setup(self) -> None:
        super().setup()
        self.server.opened(self)

    def finish(self) -> None:
        self.server.closed(self)
        try:
            super().finish()
        except OSError:
            self.close_connection = True

    def shut(self) -> None:
        """Breaks the connection from outside."""
        try:
            self.connection.shutdown(2)
        except OSError:
            self.close_connection = True

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed: `ApiServer.requests` is the log."""

    def _respond(self) -> None:
        request = self._read()
        answer, fault = self.server.owner.answer(request)
        self.server.owner.log(request, 0 if answer is None else answer.status)
        if answer is None:
            self.close_connection = True
        elif answer.lines is not None:
            self._send_watch(answer, fault)
        else:
            self._send(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _respond  # noqa: N815 - names of http.server

    def _read(self) -> Request:
        length = int(self.headers.get("Content-Length") or 0)
        parts = urlsplit(self.path)
        return Request(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            authorization=self.headers.get("Authorization", ""),
            content_type=self.headers.get("Content-Type", ""),
            user_agent=self.headers.get("User-Agent", "unknown"),
            body=self.rfile.read(length) if length else b"",
        )

    def _send_head(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Cache-Control", "no-cache, private")
        for name, value in answer.headers:
            self.send_header(name, value)

    def _send(self, answer: Answer) -> None:
        self._send_head(answer)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        self.wfile.flush()

    def _send_watch(self, answer: Answer, fault: Fault | None) -> None:
        self._send_head(answer)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for count, line in enumerate(answer.lines or ()):
            if fault is not None and count >= fault.events:
                self.close_connection = True
                return
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
