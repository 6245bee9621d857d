"""One opening as the watchman saw it, and what really held when it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from driftgate.domain.budget import Budget
from driftgate.sim.witness import Disruption


@dataclass(slots=True, kw_only=True)
class Opening:
    """One opening by driftgate.

    `is_disturbed`: somebody died, slept or did not answer while it stood. `is_forgotten`: the ledger that knew of it
    is lost. `is_traceless`: so is the note on its NodePool. `objected_at`: since when something speaks
    against it while it stands.
    """

    id: str
    pool: str
    at: datetime
    guard_at: datetime
    window: datetime | None
    baseline: tuple[Budget, ...]
    is_now: bool = False
    against: tuple[str, ...] = ()
    objected_at: datetime | None = None
    is_edited: bool = False
    is_disturbed: bool = False
    is_forgotten: bool = False
    is_traceless: bool = False
    closed_at: datetime | None = None
    taken: list[Disruption] = field(default_factory=list)

    def stood_until(self, now: datetime) -> datetime:
        """When it ended, by a closing or by its guard; now where it still stands."""
        return min(self.guard_at, self.closed_at or now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What really holds at the moment of an opening: everything against it, the window, and when that ends."""

    against: tuple[str, ...] = ()
    window: datetime | None = None
    end: datetime | None = None


Permit = Callable[[str, datetime, bool], Permission]
"""Of a pool, at a moment, asked for by a person's `--now` or not."""


def always(pool: str, at: datetime, is_now: bool) -> Permission:
    """Nothing speaks against it."""
    return Permission()
