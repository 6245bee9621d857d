"""Answers of the simulated API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from driftgate.sim.listing import with_restart_token
from driftgate.sim.status import ApiError
from driftgate.sim.store import Stored, encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP answer. A watch has `lines` instead of a body."""

    status: int = 200
    body: bytes = b""
    lines: Iterator[bytes] | None = None
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


def object_answer(stored: Stored, *, status: int = 200, dropped: list[str] | None = None) -> Answer:
    headers = tuple(("Warning", f'299 - "unknown field \\"{name}\\""') for name in dropped or ())
    return Answer(status=status, body=stored.whole() + b"\n", headers=headers)


def json_answer(body: object, *, status: int = 200) -> Answer:
    """An answer whose body is JSON, or text where it is a string."""
    if isinstance(body, str):
        return Answer(status=status, body=body.encode(), content_type="text/plain; charset=utf-8")
    return Answer(status=status, body=encode(body) + b"\n")


def error_answer(error: ApiError, *, token: str = "") -> Answer:
    """The Status of an error; 429 and 503 say when to come again, 410 of a list where to go on."""
    body = with_restart_token(error, token) if error.code == 410 and token else error.to_status()
    headers = (("Retry-After", "1"),) if error.code in (429, 503) else ()
    return Answer(status=error.code, body=encode(body) + b"\n", headers=headers)
