"""How many openings a pool had in a window: the greater of what the ledger and the NodePool itself say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from driftgate.domain.ledger import CounterRecord
from driftgate.domain.roll import Roll, RollState


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningCount:
    """Slots `taken`, and openings that took no node (`unused`), of one window key."""

    taken: int = 0
    unused: int = 0


def count_openings(key: str, rolls: Iterable[Roll], counters: Iterable[CounterRecord], annotated: int) -> OpeningCount:
    """The count of the window `key`; `annotated` is what the pool's annotation says for the same key, else 0."""
    of_key = [roll for roll in rolls if roll.window_key == key]
    counter = next((c for c in counters if c.window_key == key), CounterRecord(window_key=key))
    unused = [roll for roll in of_key if roll.state is RollState.CLOSED_UNUSED and roll.opened_at is not None]
    taken = [roll for roll in of_key if roll.state is not RollState.CLOSED_UNUSED]
    return OpeningCount(
        taken=max(counter.taken, len(taken), annotated - max(counter.unused, len(unused))),
        unused=max(counter.unused, len(unused)),
    )
