"""A door before the API server that keeps one PATCH of a NodePool waiting: between a worker and its opening.

A worker that fell asleep in the middle of its opening, or whose request is stuck on the way, is the hardest case of
all; only somebody on the wire can bring it about at will. Everything else goes through at once.
"""

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import urllib3
import yaml

from tests.e2e.harness.controlplane import ControlPlane

HOP = ("connection", "transfer-encoding", "content-length", "host")


class Door:
    """`arrived` is set when the PATCH is there; it goes on when `let_go` is set."""

    def __init__(self, plane: ControlPlane) -> None:
        self.arrived = threading.Event()
        self.let_go = threading.Event()
        self.answers: list[int] = []
        self._plane = plane
        self._pools = urllib3.PoolManager(ca_certs=str(plane.ca))

    def kubeconfig(self, port: int) -> Path:
        """The kubeconfig of the group driftgate, through the door."""
        config = yaml.safe_load(self._plane.kubeconfig("driftgate").read_text())
        config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{port}"}
        path = self._plane.run.folder / "door.kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Hands the request on, and the answer back; a PATCH waits first."""
        body = request.rfile.read(int(request.headers.get("content-length", 0)))
        if request.command == "PATCH" and not self.arrived.is_set():
            self.arrived.set()
            self.let_go.wait(120)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP}
        url = self._plane.server + request.path
        with self._pools.request(
            request.command, url, body=body, headers=headers, preload_content=False, decode_content=False
        ) as found:
            if request.command == "PATCH":
                self.answers.append(found.status)
            request.send_response(found.status)
            for name, value in found.headers.items():
                if name.lower() not in HOP:
                    request.send_header(name, value)
            request.send_header("connection", "close")
            request.end_headers()
            for part in found.stream(65536, decode_content=False):
                request.wfile.write(part)


@contextmanager
def door(plane: ControlPlane) -> Iterator[tuple[Door, Path]]:
    """A door that stands while the block runs, and the kubeconfig that leads through it."""
    found = Door(plane)

    class Handler(BaseHTTPRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):  # the worker has given up
                super().handle()

        def do_GET(self) -> None:
            found.answer(self)

        do_PATCH = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """The door says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found, found.kubeconfig(server.server_address[1])
    finally:
        found.let_go.set()
        server.shutdown()
        server.server_close()
