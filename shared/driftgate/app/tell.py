"""Tells people, and never lets that stop anything: a message that could not be sent is counted and reported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from driftgate.domain import stories
from driftgate.domain.errors import DriftgateError
from driftgate.domain.message import DomainEvent
from driftgate.domain.plan import Alert
from driftgate.ports import Clock, EventPublisher, Ledger, LedgerState, PutTold, Told


@dataclass(slots=True)
class Teller:
    """Publishes; keeps what was sent and what failed, for the run's report."""

    publisher: EventPublisher
    sent: list[DomainEvent] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def tell(self, events: Iterable[DomainEvent]) -> None:
        for event in events:
            self._send(event)

    def _send(self, event: DomainEvent) -> bool:
        try:
            self.publisher.publish(event)
        except DriftgateError as error:
            self.failures.append(f"{event.kind}: {error}")
            return False
        self.sent.append(event)
        return True

    def tell_alert(
        self, ledger: Ledger, known: LedgerState, clock: Clock, about: tuple[str, str], alert: Alert
    ) -> None:
        """Sends the alert once a day: its objects say whether it is the same one.

        `about` is the pool, and the roll whose thread it belongs to ("" where none).
        """
        (pool, thread), now = about, clock.now()
        event = stories.of_alert(known.cluster, pool, thread, alert, now)
        subject = f"alert/{pool}/{alert.code}/{'+'.join(alert.objects)}"
        self.tell_once(ledger, known, clock, subject, f"{now:%Y-%m-%d}", event)

    def tell_once(
        self, ledger: Ledger, known: LedgerState, clock: Clock, subject: str, fingerprint: str, event: DomainEvent
    ) -> None:
        """Sends unless the same was said of the subject before; the ledger remembers what was really sent."""
        said = known.told.get(subject)
        if said is not None and said.fingerprint == fingerprint:
            return
        if self._send(event):
            try:
                ledger.commit(event.cluster, PutTold(Told(subject, fingerprint, clock.now())))
            except DriftgateError as error:
                self.failures.append(f"remembering {subject}: {error}")
