"""What holds for one cluster and one pool: the settings at the top, overridden by the cluster's and the pool's."""

from __future__ import annotations

from typing import TypeVar

from driftgate.config.map import Map
from driftgate.config.model import Alarm, BlackoutSpan, ClusterSettings, Guards, PoolSettings, Window
from driftgate.domain.location import Location
from driftgate.domain.policy import (
    AlarmGuard,
    ClusterPolicy,
    GuardPolicy,
    ImagePolicy,
    InsufficientData,
    Mode,
    OpenPolicy,
    PoolPolicy,
    RespectPolicy,
)
from driftgate.domain.window import Blackout, MaintenanceWindow

M = TypeVar("M", bound=Map)


def overlay(base: M, over: Map) -> M:
    """`base` with what `over` says: maps merge by key, everything else is replaced. What `over` leaves out stays."""
    fields = type(base).model_fields.keys() & over.model_fields_set
    return base.model_copy(update={name: _merged(getattr(base, name), getattr(over, name)) for name in fields})


def _merged(base: object, over: object) -> object:
    return overlay(base, over) if isinstance(base, Map) and isinstance(over, Map) else over


def cluster_policy(name: str, settings: ClusterSettings, deployment: str) -> ClusterPolicy:
    """The policy of a cluster whose own settings are already overlaid."""
    pools = settings.pools
    return ClusterPolicy(
        cluster=name,
        default=pool_policy(settings),
        pools=None if pools is None else tuple((pool.name, pool_policy(overlay(settings, pool))) for pool in pools),
        observe_every=settings.observe_every,
        deployment=deployment,
        location=Location(settings.region or "", settings.account_role or ""),
        parameters=settings.watch_parameters,
    )


def pool_policy(settings: PoolSettings) -> PoolPolicy:
    return PoolPolicy(
        mode=Mode(settings.mode),
        windows=tuple(_window(window) for window in settings.windows),
        blackouts=tuple(_blackout(span) for span in settings.blackouts),
        open=OpenPolicy(**dict(settings.open)),
        guards=_guards(settings.guards),
        ami=ImagePolicy(**dict(settings.ami)),
        respect=RespectPolicy(**dict(settings.respect)),
    )


def _window(window: Window) -> MaintenanceWindow:
    return MaintenanceWindow(**dict(window))


def _blackout(span: BlackoutSpan) -> Blackout:
    return Blackout(name=span.name, start=span.start, end=span.end, owner=span.owner, reason=span.reason)


def _guards(guards: Guards) -> GuardPolicy:
    return GuardPolicy(
        alarms=None if guards.alarms is None else tuple(_alarm(alarm, guards) for alarm in guards.alarms),
        calendars=guards.calendars,
        flapping_transitions=guards.flapping.transitions,
        flapping_within=guards.flapping.within,
        bake=guards.bake,
    )


def _alarm(alarm: Alarm, guards: Guards) -> AlarmGuard:
    """An alarm that says nothing of its own is taken as its guards say."""
    return AlarmGuard(
        name=alarm.name,
        insufficient_data=InsufficientData(alarm.insufficient_data or guards.insufficient_data),
        region=alarm.region,
        account_role=alarm.account_role,
    )
