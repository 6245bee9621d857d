"""The history of image parameters in memory, with the conditions of the real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from driftgate.domain.errors import DriftgateError, LedgerConflictError
from driftgate.domain.seen_images import Key, SeenParameter


class FakeImageHistory:
    """`saved` holds every parameter as it was stored last; the failures are raised instead of an answer."""

    def __init__(self, *known: SeenParameter) -> None:
        self.saved: dict[Key, SeenParameter] = {seen.key: seen for seen in known}
        self.failure: DriftgateError | None = None
        self.save_failure: DriftgateError | None = None

    def load(self, keys: Sequence[Key]) -> Mapping[Key, SeenParameter]:
        if self.failure is not None:
            raise self.failure
        return {key: self.saved[key] for key in keys if key in self.saved}

    def save(self, seen: SeenParameter) -> None:
        if self.save_failure is not None:
            raise self.save_failure
        stored = self.saved.get(seen.key)
        if seen.version != (stored.version if stored else 0):
            raise LedgerConflictError(f"somebody else stored what was seen of {seen.name}: load again")
        self.saved[seen.key] = replace(seen, version=seen.version + 1)
