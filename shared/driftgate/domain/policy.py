"""What the owner wants of a pool: driftgate.yaml, resolved for one pool of one cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from driftgate.domain.location import HOME, Location
from driftgate.domain.window import Blackout, MaintenanceWindow


class Mode(StrEnum):
    """`observe` judges and tells; only `act` may write."""

    OBSERVE = "observe"
    ACT = "act"


class InsufficientData(StrEnum):
    """What an alarm in INSUFFICIENT_DATA means: not guarding (hold), or known to be sparse (allow)."""

    HOLD = "hold"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPolicy:
    """How often and how long a gate may open. `per_window` None means all."""

    per_window: int | None = 1
    open_timeout: timedelta = timedelta(minutes=10)
    pause_between: timedelta = timedelta(minutes=45)
    expected_roll: timedelta = timedelta(minutes=20)
    settle_timeout: timedelta = timedelta(minutes=20)
    allow_single_node_pool: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmGuard:
    """An alarm that must be OK before a gate opens."""

    name: str
    insufficient_data: InsufficientData = InsufficientData.HOLD
    region: str | None = None
    account_role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardPolicy:
    """Alarms and calendars that must agree. `alarms` None: nobody said anything, so nothing opens;
    an empty tuple: `alarms: none` was written on purpose."""

    alarms: tuple[AlarmGuard, ...] | None = None
    calendars: tuple[str, ...] = ()
    flapping_transitions: int = 3
    flapping_within: timedelta = timedelta(hours=6)
    bake: timedelta = timedelta(hours=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePolicy:
    """Which images may be rolled out: minimum age since creation, and denied ids or name globs."""

    min_age: timedelta = timedelta(0)
    deny: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RespectPolicy:
    """What the owner's own settings in the cluster count for."""

    freeze: bool = True
    do_not_disrupt: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPolicy:
    """Everything that is configured for one pool."""

    mode: Mode = Mode.OBSERVE
    windows: tuple[MaintenanceWindow, ...] = ()
    blackouts: tuple[Blackout, ...] = ()
    open: OpenPolicy = field(default_factory=OpenPolicy)
    guards: GuardPolicy = field(default_factory=GuardPolicy)
    ami: ImagePolicy = field(default_factory=ImagePolicy)
    respect: RespectPolicy = field(default_factory=RespectPolicy)


@dataclass(frozen=True, slots=True, kw_only=True)
class NowRequest:
    """`--now` by a person: lifts OUTSIDE_WINDOW, PER_WINDOW_REACHED and WILL_NOT_FIT, nothing else."""

    person: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPolicy:
    """Everything that is configured for one cluster. `pools` None means every NodePool, by `default`.

    `location` is where its images and parameters are; `parameters` are watched whatever its node classes follow.
    """

    cluster: str
    deployment: str = "driftgate"
    location: Location = HOME
    parameters: tuple[str, ...] = ()
    default: PoolPolicy = field(default_factory=PoolPolicy)
    pools: tuple[tuple[str, PoolPolicy], ...] | None = None
    observe_every: timedelta = timedelta(minutes=30)
    configured: bool = True

    def of(self, pool: str) -> PoolPolicy | None:
        """The pool's policy, None where the pool is not covered."""
        if self.pools is None:
            return self.default
        return dict(self.pools).get(pool)

    def policies(self) -> tuple[PoolPolicy, ...]:
        """Every policy that a pool of this cluster may have."""
        return (self.default,) if self.pools is None else tuple(policy for _, policy in self.pools) or (self.default,)

    def alarm_names(self) -> frozenset[str]:
        """Every alarm that guards a pool of this cluster."""
        return frozenset(guard.name for policy in self.policies() for guard in policy.guards.alarms or ())

    def calendar_names(self) -> frozenset[str]:
        """Every Change Calendar that a pool of this cluster obeys."""
        return frozenset(name for policy in self.policies() for name in policy.guards.calendars)
