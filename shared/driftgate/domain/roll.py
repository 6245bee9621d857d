"""One supervised pass for one node."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from driftgate.domain.budget import Budget


class RollState(StrEnum):
    """Where a roll stands. Values are stored and shown, so they are never renamed."""

    PLANNED = "planned"
    OPENING = "opening"
    OPENED = "opened"
    CLOSED = "closed"
    IN_FLIGHT = "in_flight"
    SETTLING = "settling"
    BAKING = "baking"
    DONE = "done"
    CLOSED_UNUSED = "closed_unused"
    FAILED = "failed"
    SUSPECT = "suspect"


TERMINAL = frozenset({RollState.DONE, RollState.CLOSED_UNUSED, RollState.FAILED, RollState.SUSPECT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll:
    """The ledger's record of a roll.

    Ids sort by time. `claims_at_open` are the pool's NodeClaims that showed no sign when the gate opened: only they
    can give one; `also_taken` are those that went on this opening beside `claim`. `image` is the image that is right
    for the node expected to go. `closed_at` None after opening means that the gate is open. `expected_version` of a
    commit is `version`.
    """

    id: str
    cluster: str
    pool: str
    state: RollState
    state_since: datetime
    window_key: str
    baseline: tuple[Budget, ...]
    opened: tuple[Budget, ...]
    revert_by: datetime | None = None
    image: str = ""
    generation: int | None = None
    opened_at: datetime | None = None
    guard_at: datetime | None = None
    beat_at: datetime | None = None
    holder: str = ""
    claims_at_open: tuple[str, ...] = ()
    sign_at: datetime | None = None
    sign: str = ""
    node: str = ""
    claim: str = ""
    also_taken: tuple[str, ...] = ()
    closed_at: datetime | None = None
    closed_by: str = ""
    baseline_restored: bool = False
    replacement: str = ""
    ended_at: datetime | None = None
    trigger: str = ""
    count: int = 1
    version: int = 0

    @property
    def is_finished(self) -> bool:
        return self.state in TERMINAL

    @property
    def may_be_open(self) -> bool:
        """Whether the gate may stand open because of this roll: intent written, and no closing recorded."""
        return not self.is_finished and self.closed_at is None
