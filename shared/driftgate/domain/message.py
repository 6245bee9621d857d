"""What people are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


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
