"""JSON patches (RFC 6902) as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class PatchOperation:
    """One operation. `value` is unused for `remove`."""

    op: Literal["test", "add", "replace", "remove"]
    path: str
    value: object = None

    def to_object(self) -> dict[str, object]:
        shown: dict[str, object] = {"op": self.op, "path": self.path}
        return shown if self.op == "remove" else shown | {"value": self.value}


JsonPatch = tuple[PatchOperation, ...]
