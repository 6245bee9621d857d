"""Wall clocks and instants: what a local time means across both clock changes.

Only IANA names count, so that a file means the same on every machine. Nothing here reads the clock.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from driftgate.domain.errors import InvalidInputError, InvariantError

_MINUTE = timedelta(minutes=1)
# Files that some systems keep beside the zones: they mean something else on every machine.
_NOT_ZONES = frozenset({"localtime", "Factory"})


@lru_cache(maxsize=64)
def load_zone(name: str) -> ZoneInfo:
    """The zone of that IANA name.

    Raises InvalidInputError, with the nearest known name, where there is none.
    """
    if name not in zone_names():
        raise InvalidInputError(f"{name!r} is not a zone", remedy=_zone_remedy(name))
    return ZoneInfo(name)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Every IANA name that this machine knows."""
    return frozenset(available_timezones()) - _NOT_ZONES


def wall_clock(at: datetime, zone: ZoneInfo) -> datetime:
    """What a clock on the wall shows at an instant: naive, cut to the minute."""
    if at.tzinfo is None:
        raise InvariantError(f"{at.isoformat()} has no zone")
    return at.astimezone(zone).replace(tzinfo=None, second=0, microsecond=0, fold=0)


def first_instant(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first instant (UTC) at which the wall clock shows `wall` (naive, in whole minutes).

    A time that the spring change leaves out means the first instant that exists after it.
    """
    return _instant(wall, zone, fold=0)


def last_instant(wall: datetime, zone: ZoneInfo) -> datetime:
    """As `first_instant`, but of the two that the autumn change gives the second one."""
    return _instant(wall, zone, fold=1)


def _instant(wall: datetime, zone: ZoneInfo, *, fold: int) -> datetime:
    while not _exists(wall, zone):
        wall += _MINUTE
    return wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def _exists(wall: datetime, zone: ZoneInfo) -> bool:
    local = wall.replace(tzinfo=zone)
    return local.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) == wall


def _zone_remedy(name: str) -> str:
    """The zone that was probably meant; abbreviations and offsets (CEST, GMT+2) are too ambiguous to guess."""
    places = sorted(known for known in zone_names() if "/" in known and not known.startswith("Etc/"))
    meant = {known.rsplit("/", 1)[-1].lower(): known for known in reversed(places)}
    meant |= {known.lower(): known for known in zone_names()}
    wanted = name.strip().lower().replace(" ", "_")
    near = get_close_matches(name, places, n=1, cutoff=0.8)
    found = meant.get(wanted) or (near[0] if near else "")
    return f"Did you mean {found}?" if found else "Write an IANA name such as Europe/Berlin or UTC."
