"""Tells the person who runs the command line: a plain line per event, its text and next steps indented below."""

from __future__ import annotations

from typing import TextIO

from driftgate.domain.errors import AwsUnavailableError
from driftgate.domain.message import DomainEvent


class StdoutPublisher:
    """Writes to the stream; times are UTC."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def publish(self, event: DomainEvent) -> None:
        """Raises AwsUnavailableError where nobody reads any more: a broken pipe must not stop a closing."""
        try:
            self._stream.write("\n".join(lines_of(event)) + "\n")
            self._stream.flush()
        except (OSError, ValueError) as error:
            raise AwsUnavailableError(f"the message {event.title!r} could not be shown: {error}") from error


def lines_of(event: DomainEvent) -> list[str]:
    """The event as lines of plain text."""
    where = "/".join(part for part in (event.cluster, event.pool) if part)
    code = f" [{event.code}]" if event.code and event.code not in event.title else ""
    head = f"{event.at:%Y-%m-%dT%H:%M:%SZ} {where} {event.title}{code}"
    text = [f"    {line}" for line in event.text.splitlines()]
    return [head, *text, *(f"    → {step}" for step in event.next_steps)]
