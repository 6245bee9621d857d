"""Everything a ledger holds, as immutable values, and how a load reads it.

Must not know where a book is kept, nor change one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from driftgate.domain.ledger import FLEET, CounterRecord, ImageVerdict, LeaseRecord, Stop
from driftgate.domain.roll import Roll
from driftgate.ports import LedgerState, PutLook, Told

KEPT_AFTER_END = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRecords:
    """What is kept of one cluster (or, under `*`, of the fleet).

    `stops_revision` counts the changes of stops; `last_token` outlives the lease, so that tokens only grow.
    """

    rolls: Mapping[str, Roll] = field(default_factory=dict)
    counters: Mapping[str, CounterRecord] = field(default_factory=dict)
    image_verdicts: Mapping[tuple[str, str | None], ImageVerdict] = field(default_factory=dict)
    told: Mapping[str, Told] = field(default_factory=dict)
    stops: Mapping[str, Stop] = field(default_factory=dict)
    stops_revision: int = 0
    lease: LeaseRecord | None = None
    last_token: int = 0
    look: PutLook | None = None

    @property
    def concerns_heartbeat(self) -> bool:
        """Whether there is anything of what a heartbeat reads."""
        is_rolling = any(not roll.is_finished for roll in self.rolls.values())
        return is_rolling or self.stops_revision > 0 or self.last_token > 0 or self.look is not None


Book = Mapping[str, ClusterRecords]


def records_of(book: Book, cluster: str) -> ClusterRecords:
    return book.get(cluster) or ClusterRecords()


def state_of(book: Book, cluster: str, now: datetime) -> LedgerState:
    """Everything of one cluster, with the fleet's stops."""
    records = records_of(book, cluster)
    return replace(
        heartbeat_state_of(book, cluster),
        rolls=tuple(sorted_rolls(roll for roll in records.rolls.values() if is_kept(roll, now))),
        counters=tuple(records.counters[key] for key in sorted(records.counters)),
        image_verdicts=sorted_verdicts(records.image_verdicts.values()),
        told=dict(records.told),
    )


def heartbeat_state_of(book: Book, cluster: str) -> LedgerState:
    """What a heartbeat needs of one cluster: unfinished rolls, stops, lease, look."""
    records, fleet = records_of(book, cluster), records_of(book, FLEET)
    own, look = {} if cluster == FLEET else records.stops, records.look
    return LedgerState(
        cluster=cluster,
        rolls=tuple(sorted_rolls(roll for roll in records.rolls.values() if not roll.is_finished)),
        stops=sorted_stops([*fleet.stops.values(), *own.values()]),
        stops_revision=revision(fleet.stops_revision, 0 if cluster == FLEET else records.stops_revision),
        lease=records.lease,
        looked_at=look.at if look else None,
        parameters=look.parameters if look else (),
        due_at=look.due_at if look else None,
        config=look.config if look else "",
    )


def fleet_of(book: Book) -> dict[str, LedgerState]:
    names = {name for name, records in book.items() if records.concerns_heartbeat} | {FLEET}
    return {name: heartbeat_state_of(book, name) for name in sorted(names)}


def is_kept(roll: Roll, now: datetime) -> bool:
    """Whether a load still shows the roll: unfinished, or finished in the last 90 days."""
    return not roll.is_finished or (roll.ended_at or roll.state_since) >= now - KEPT_AFTER_END


def sorted_rolls(rolls: Iterable[Roll]) -> list[Roll]:
    return sorted(rolls, key=lambda roll: roll.id)


def sorted_stops(stops: Iterable[Stop]) -> tuple[Stop, ...]:
    return tuple(sorted(stops, key=lambda stop: stop.key))


def sorted_verdicts(verdicts: Iterable[ImageVerdict]) -> tuple[ImageVerdict, ...]:
    return tuple(sorted(verdicts, key=lambda verdict: (verdict.image, verdict.pool or "")))


def revision(fleet: int, own: int) -> str:
    """How often the stops that cover a cluster changed: the fleet's and its own."""
    return f"{fleet}.{own}"


def counts_of(text: str) -> tuple[int, int]:
    """The two counts of a revision; one that was never loaded ("") is that of an empty ledger."""
    fleet, _, own = text.partition(".")
    return int(fleet or 0), int(own or 0)
