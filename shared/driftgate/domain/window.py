"""Maintenance windows and blackouts: when disruption may, and must not, happen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Half-open: start included, end excluded. Both aware, UTC."""

    start: datetime
    end: datetime
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceWindow:
    """Starts by cron in an IANA zone, lasts an elapsed duration."""

    name: str
    timezone: str
    cron: str
    duration: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Blackout:
    """Half-open span in which nothing opens; `end` None means until it is lifted."""

    name: str
    start: datetime
    end: datetime | None
    owner: str = ""
    reason: str = ""
