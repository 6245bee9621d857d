"""Records that outlive a run, other than the roll itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

FLEET = "*"


class StopCause(StrEnum):
    """Who said that nothing may open. Values are stored."""

    PAUSE = "pause"
    ALARM = "alarm"
    ROLL = "roll"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A durable word that nothing may open.

    `cluster` is a name or `*` for the fleet; `pool` narrows it, None means every pool. `ref` is the person,
    the alarm's name or the roll's id. `until` None means: until lifted.
    """

    cause: StopCause
    ref: str
    cluster: str = FLEET
    pool: str | None = None
    at: datetime | None = None
    until: datetime | None = None
    reason: str = ""

    @property
    def key(self) -> str:
        """One stop per scope, cause and ref: writing it again replaces it."""
        return f"{self.cluster}/{self.pool or ''}/{self.cause}/{self.ref}"

    def is_active(self, now: datetime) -> bool:
        return self.until is None or now < self.until

    def covers(self, cluster: str, pool: str) -> bool:
        return self.cluster in (FLEET, cluster) and self.pool in (None, pool)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRecord:
    """Who works on a cluster. `token` grows with every new holder (fencing)."""

    cluster: str
    holder: str
    token: int
    acquired_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterRecord:
    """Openings of one pool in one window: `taken` slots and `unused` openings. The key is the window key."""

    window_key: str
    taken: int = 0
    unused: int = 0


class Approval(StrEnum):
    """What a person or a roll says of an image. Values are stored."""

    SUSPECT = "SUSPECT"
    DENIED = "DENIED"
    APPROVED = "APPROVED"
    CLEARED = "CLEARED"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageVerdict:
    """The last word on an image; `pool` None means every pool that selects it."""

    image: str
    verdict: Approval
    at: datetime | None = None
    pool: str | None = None
    reason: str = ""
    by: str = ""
