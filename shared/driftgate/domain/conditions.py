"""Status conditions of Kubernetes objects, as read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One status condition. `since` is its lastTransitionTime, None where the server gave none."""

    status: str
    reason: str = ""
    message: str = ""
    since: datetime | None = None

    @property
    def is_true(self) -> bool:
        return self.status == "True"


Conditions = Mapping[str, Condition]


def is_true(conditions: Conditions, kind: str) -> bool:
    """Whether the condition is there and True: absent, False and Unknown are all not true."""
    found = conditions.get(kind)
    return found is not None and found.is_true
