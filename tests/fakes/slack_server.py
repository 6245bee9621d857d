"""Slack on the loopback: one workspace with one channel, a bot token and an incoming webhook.

It keeps what stands in the channel and refuses what Slack refuses: unknown tokens and channels, threads without a first
message, blocks beyond Block Kit's limits.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

TOKEN = "xoxb-loopback-0000"
CHANNEL = "C0123ABCD"
HOOK = "/services/T000/B000/loopback-secret"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as it stands in the channel."""

    ts: str
    text: str
    blocks: list[dict[str, Any]]
    thread: str = ""
    is_broadcast: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What the next request meets instead of Slack."""

    status: int
    body: bytes = b""
    retry_after: str | None = None


class SlackServer:
    """Use it as a context manager. `faults` meet the requests in order, then there are none."""

    def __init__(self) -> None:
        self.tokens = {TOKEN}
        self.hooks = {HOOK}
        self.messages: list[Message] = []
        self.requests: list[Request] = []
        self.faults: list[Fault] = []
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def api(self) -> str:
        return f"{self.url}/api"

    def roots(self) -> list[str]:
        """The messages that are no replies."""
        return [message.ts for message in self.messages if not message.thread]

    def answer(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        with self._lock:
            self.requests.append(request)
            if self.faults:
                fault = self.faults.pop(0)
                wait = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
                return fault.status, wait, fault.body
            if request.path == "/api/chat.postMessage":
                return 200, {"content-type": "application/json"}, json.dumps(self._post_message(request)).encode()
            return self._hook(request)

    def _post_message(self, request: Request) -> dict[str, Any]:
        body = request.body
        thread = body.get("thread_ts", "")
        if request.headers.get("authorization") not in {f"Bearer {token}" for token in self.tokens}:
            return {"ok": False, "error": "invalid_auth"}
        if body.get("channel") != CHANNEL:
            return {"ok": False, "error": "channel_not_found"}
        if thread and thread not in self.roots():
            return {"ok": False, "error": "thread_not_found"}
        refused = refusal_of(body)
        if refused:
            return {"ok": False, "error": refused}
        return {"ok": True, "channel": CHANNEL, "ts": self._keep(body, thread)}

    def _hook(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        if request.path not in self.hooks:
            return 404, {}, b"no_service"
        if refusal_of(request.body):
            return 400, {}, b"invalid_blocks"
        self._keep(request.body, "")
        return 200, {}, b"ok"

    def _keep(self, body: dict[str, Any], thread: str) -> str:
        ts = f"1792203000.{len(self.messages) + 1:06}"
        is_broadcast = bool(body.get("reply_broadcast"))
        message = Message(
            ts=ts, text=body["text"], blocks=body.get("blocks", []), thread=thread, is_broadcast=is_broadcast
        )
        self.messages.append(message)
        return ts

    def __enter__(self) -> SlackServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def refusal_of(body: dict[str, Any]) -> str:
    """Slack's word for what is wrong with the content, "" where nothing is."""
    blocks = body.get("blocks", [])
    if not body.get("text") or len(body["text"]) > 40_000:
        return "msg_too_long" if body.get("text") else "no_text"
    if len(blocks) > 50 or not all(map(_is_valid, blocks)):
        return "invalid_blocks"
    return "msg_blocks_too_long" if sum(len(text) for block in blocks for text in texts_of(block)) > 13_200 else ""


def texts_of(block: dict[str, Any]) -> list[str]:
    """Every text of a block."""
    parts = [block.get("text"), *block.get("fields", []), *block.get("elements", [])]
    return [part["text"] for part in parts if part]


def _is_valid(block: dict[str, Any]) -> bool:
    lengths = [len(text) for text in texts_of(block)]
    if not lengths or min(lengths) < 1:
        return False
    match block["type"]:
        case "header":
            return block["text"]["type"] == "plain_text" and lengths[0] <= 150
        case "section" if "fields" in block:
            return len(lengths) <= 10 and max(lengths) <= 2_000
        case "section":
            return lengths[0] <= 3_000
        case "context":
            return len(lengths) <= 10
    return False


def _handler(owner: SlackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed: `SlackServer.requests` is the log."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, answered, content = owner.answer(Request(path=self.path, headers=headers, body=body))
            self.send_response(status)
            for name, value in answered.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
