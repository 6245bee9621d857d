"""What people are told."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256


class EventKind(StrEnum):
    """What happened. Values are the detail-type of the own event bus and are never renamed."""

    POOL_TRAPPED = "PoolTrapped"
    ROLL_PLANNED = "RollPlanned"
    BUDGETS_OPENED = "BudgetsOpened"
    SIGN_SEEN = "SignSeen"
    BUDGETS_CLOSED = "BudgetsClosed"
    NODE_GONE = "NodeGone"
    REPLACEMENT_READY = "ReplacementReady"
    ROLL_ENDED = "RollEnded"
    ALERT = "Alert"
    IMAGE_CHANGED = "ImageChanged"
    POOL_CLEAN = "PoolClean"


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainEvent:
    """One thing worth telling. `thread` groups the messages of one roll; `facts` are for machines."""

    kind: EventKind
    at: datetime
    cluster: str
    title: str
    text: str
    pool: str = ""
    thread: str = ""
    code: str = ""
    next_steps: tuple[str, ...] = ()
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The same for the same event, however often it is sent: 32 hexadecimal digits."""
        said = (self.kind, self.at.isoformat(), self.cluster, self.pool, self.thread, self.code, self.title, self.text)
        return sha256(json.dumps(said).encode()).hexdigest()[:32]
