"""What could not be read, told to the person: each cause once."""

from __future__ import annotations

from collections.abc import Iterable

from driftgate.cli.answers import note
from driftgate.domain.observation import ReadError

ONLY_FOR_DAYS = frozenset({"images", "parameters"})
"""Nothing is decided by these: without AWS a report merely counts fewer days."""


def tell_unread(errors: Iterable[ReadError]) -> bool:
    """Whether something that a judgement needs could not be read; it is told then."""
    unread: dict[str, list[str]] = {}
    for error in errors:
        if error.resource not in ONLY_FOR_DAYS:
            cause = error.message.partition(": ")[2] or error.message or f"HTTP {error.status}"
            unread.setdefault(cause, []).append(error.resource)
    for cause, resources in unread.items():
        note(f"{', '.join(resources)} could not be read: {cause}")
    return bool(unread)
