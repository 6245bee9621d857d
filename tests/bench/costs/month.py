"""A month by what one heartbeat, one poll, one look and one roll use: counted once, multiplied here. Pure.

The month is a hard one: there is a new image before every window, so every pool rolls a node in each of them, one roll
follows the other until its end, and the images bake after it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.bench.costs.tables import READ_BYTES
from tests.bench.costs.usage import Unit, Usage

MINUTES = 30 * 24 * 60
WEEKS = MINUTES / (7 * 24 * 60)
POLL_EVERY_MIN = 15
FULL_CPU_MB = 1769
"""Memory at which a function has one processor. Source: aws docs, lambda/latest/dg/configuration-memory (2026)."""

IDLE_POLLS_PER_S = 0.5
"""Lambda asks an idle queue with five long polls of about ten seconds. Source: aws docs, with-sqs (2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """How long runs last: processor time of this machine, shared as Lambda shares it, and waiting for answers."""

    cpu_s: float
    waiting_s: float
    memory_mb: int = 512

    @property
    def gb_s(self) -> float:
        """Billed for one run."""
        lasting = self.cpu_s * FULL_CPU_MB / self.memory_mb + self.waiting_s
        return lasting * self.memory_mb / 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What was counted, of one each. `fleet_bytes` is what a heartbeat reads for each cluster.

    `roll` is what a roll uses beside the looks that follow it.
    """

    heartbeat: Usage
    poll: Usage
    look: Usage
    roll: Usage
    fleet_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of time, in which each cluster has so many minutes of windows and of bakes after them, and rolls."""

    minutes: float
    window_min: float
    bake_min: float
    rolls: float
    bake_looks_min: float = 5
    observe_every_min: float = 30

    @property
    def looks(self) -> float:
        """Of one cluster."""
        rest = self.minutes - self.window_min - self.bake_min
        return self.window_min + self.bake_min / self.bake_looks_min + rest / self.observe_every_min


MONTH = Span(minutes=MINUTES, window_min=180 * WEEKS, bake_min=240 * WEEKS, rolls=20 * WEEKS)


HEARTBEAT = Seconds(cpu_s=0.01, waiting_s=0.02)
HEARTBEAT_PER_CLUSTER_CPU_S = 0.0001
POLL = Seconds(cpu_s=0.05, waiting_s=0.2)
LOOK = Seconds(cpu_s=0.6, waiting_s=0.5)
ROLL_WATCH = Seconds(cpu_s=0.2, waiting_s=40.0)
"""Measured on one busy machine, rounded up: 2,000 nodes decoded in a look; an open gate watched until the sign."""


def of_fleet(clusters: int, counted: Counted, span: Span = MONTH) -> Usage:
    """What happens once however many clusters there are."""
    reads = max(1, math.ceil(clusters * counted.fleet_bytes / READ_BYTES))
    more = Usage({Unit.TABLE_READ: reads - counted.heartbeat.of(Unit.TABLE_READ)})
    polls = span.minutes / POLL_EVERY_MIN
    return (counted.heartbeat + more) * span.minutes + counted.poll * polls


def of_clusters(clusters: int, counted: Counted, span: Span = MONTH) -> Usage:
    """What they add."""
    return (counted.look * span.looks + counted.roll * span.rolls) * clusters


def of_clocks(span: Span = MONTH) -> Usage:
    """The two schedules, and the idle polling of the queue of one placement."""
    fired = span.minutes + span.minutes / POLL_EVERY_MIN
    return Usage({Unit.SCHEDULED: fired, Unit.FIFO_REQUEST: IDLE_POLLS_PER_S * span.minutes * 60})


def of_time(clusters: int, span: Span = MONTH) -> Usage:
    """How long it all lasts."""
    beat = Seconds(cpu_s=HEARTBEAT.cpu_s + clusters * HEARTBEAT_PER_CLUSTER_CPU_S, waiting_s=HEARTBEAT.waiting_s)
    fleet = beat.gb_s * span.minutes + POLL.gb_s * span.minutes / POLL_EVERY_MIN
    each = LOOK.gb_s * span.looks + ROLL_WATCH.gb_s * span.rolls
    return Usage({Unit.LAMBDA_GB_S: fleet + each * clusters})


def month(clusters: int, counted: Counted, span: Span = MONTH) -> Usage:
    parts = (of_fleet(clusters, counted, span), of_clusters(clusters, counted, span))
    return parts[0] + parts[1] + of_clocks(span) + of_time(clusters, span)
