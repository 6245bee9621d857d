"""The shape of driftgate.yaml: what may stand where, and what stands there when nothing is said.

Only the shape and each value by itself; what overrides what is `resolve`. The defaults are the domain's own.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, model_validator

from driftgate.config.deployment import Deployment
from driftgate.config.map import Map
from driftgate.config.refusal import refusal
from driftgate.config.scalars import (
    ClusterName,
    Cron,
    Duration,
    Label,
    Moment,
    ParameterName,
    PerWindow,
    PoolName,
    PositiveDuration,
    Region,
    RoleArn,
    Text,
    Zone,
)
from driftgate.domain.fields import shown
from driftgate.domain.policy import ClusterPolicy, GuardPolicy, ImagePolicy, OpenPolicy, RespectPolicy
from driftgate.domain.zone import first_instant, last_instant, load_zone

_OPEN, _GUARDS, _AMI, _RESPECT = OpenPolicy(), GuardPolicy(), ImagePolicy(), RespectPolicy()
_CLUSTER = ClusterPolicy(cluster="")
_DAY = timedelta(days=1)
Tolerance = Literal["hold", "allow"]


def _named(value: object) -> object:
    """A bare name stands for a map with that name and nothing else."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict):
        return value
    remedy = "Put a name that YAML takes for something else in quotes."
    raise refusal(f"should be a name, or a map with a name, not {shown(value)}", remedy)


def _alarms(value: object) -> object:
    """`none` is an empty list on purpose; an empty list says no more than no list at all."""
    if value == "none":
        return ()
    if not isinstance(value, tuple):
        remedy = f"Write [{value}], or none." if isinstance(value, str) else "Write alarm names in [], or none."
        raise refusal(f"should be a list of alarms, or none, not {shown(value)}", remedy)
    if "none" in value:
        raise refusal("has none in a list, where it would be an alarm's name", "Write none without the brackets.")
    return value or None


class Window(Map):
    """When gates may open."""

    name: Label = Field(examples=["sat"])
    timezone: Zone = Field(examples=["Europe/Berlin"])
    cron: Cron = Field(examples=['"0 2 * * sat"'])
    duration: PositiveDuration = Field(examples=["3h"])


class BlackoutSpan(Map):
    """When nothing may open. Dates include the last day; `to` left out means until this is taken out."""

    name: Label = Field(examples=["sale"])
    owner: str = ""
    reason: str = ""
    begin: Moment = Field(alias="from", examples=["2026-11-20"])
    to: Moment | None = None
    timezone: Zone | None = Field(default=None, examples=["Europe/Berlin"])

    @model_validator(mode="after")
    def _has_a_zone_and_an_order(self) -> BlackoutSpan:
        if self.timezone is None and not (_is_instant(self.begin) and _is_instant(self.to)):
            raise refusal("has local times but no timezone", "Add timezone: Europe/Berlin, or the zone that is meant.")
        if self.end is not None and self.end <= self.start:
            raise refusal("ends before it begins", "Write the earlier one as from, the later one as to.")
        return self

    @property
    def start(self) -> datetime:
        """The first instant of the day or minute that `from` names."""
        begin = self.begin
        if not isinstance(begin, datetime):
            begin = datetime.combine(begin, time())
        return begin.astimezone(UTC) if begin.tzinfo else first_instant(begin, self._zone)

    @property
    def end(self) -> datetime | None:
        """After the last day that `to` names; of a wall-clock time that comes twice, the second."""
        if self.to is None:
            return None
        if not isinstance(self.to, datetime):
            return first_instant(datetime.combine(self.to + _DAY, time()), self._zone)
        return self.to.astimezone(UTC) if self.to.tzinfo else last_instant(self.to, self._zone)

    @property
    def _zone(self) -> ZoneInfo:
        return load_zone(self.timezone or "UTC")


class Open(Map):
    """How often and how long a gate opens."""

    per_window: PerWindow = _OPEN.per_window
    open_timeout: PositiveDuration = _OPEN.open_timeout
    pause_between: Duration = _OPEN.pause_between
    expected_roll: Duration = _OPEN.expected_roll
    settle_timeout: PositiveDuration = _OPEN.settle_timeout
    allow_single_node_pool: bool = _OPEN.allow_single_node_pool


class Alarm(Map):
    """A CloudWatch alarm that must be OK."""

    name: Text
    insufficient_data: Tolerance | None = None
    region: Region | None = None
    account_role: RoleArn | None = None


class Flapping(Map):
    """How many changes within how long make an alarm restless."""

    transitions: int = Field(default=_GUARDS.flapping_transitions, ge=1)
    within: PositiveDuration = _GUARDS.flapping_within


class Guards(Map):
    """What must agree before a gate opens, and how long an image must prove itself."""

    alarms: Annotated[
        tuple[Annotated[Alarm, BeforeValidator(_named)], ...] | None,
        BeforeValidator(_alarms, json_schema_input_type=list[str | Alarm] | Literal["none"]),
    ] = None
    insufficient_data: Tolerance = "hold"
    calendars: tuple[Text, ...] = _GUARDS.calendars
    flapping: Flapping = Flapping()
    bake: Duration = _GUARDS.bake


class Ami(Map):
    """Which images may be rolled out; `deny` holds ids and name globs."""

    min_age: Duration = _AMI.min_age
    deny: tuple[Text, ...] = _AMI.deny


class Respect(Map):
    """What the owner's own settings in the cluster count for."""

    freeze: bool = _RESPECT.freeze
    do_not_disrupt: bool = _RESPECT.do_not_disrupt


class Notify(Map):
    """How people are told."""

    sns: bool = True


class PoolSettings(Map):
    """What can be set at every level: at the top, for a cluster, for a pool."""

    mode: Literal["observe", "act"] = "observe"
    windows: tuple[Window, ...] = ()
    blackouts: tuple[BlackoutSpan, ...] = ()
    open: Open = Open()
    guards: Guards = Guards()
    ami: Ami = Ami()
    respect: Respect = Respect()


class Pool(PoolSettings):
    """One NodePool with what it overrides."""

    name: PoolName = Field(examples=["app"])


class ClusterSettings(PoolSettings):
    """What can be set at the top and for a cluster. `pools` left out means every NodePool."""

    region: Region | None = None
    account_role: RoleArn | None = None
    placement: Label | None = None
    pools: (
        Annotated[
            tuple[Annotated[Pool, BeforeValidator(_named, json_schema_input_type=str | Pool)], ...],
            Field(json_schema_extra={"minItems": 1}),
        ]
        | None
    ) = None
    watch_parameters: tuple[ParameterName, ...] = _CLUSTER.parameters
    observe_every: PositiveDuration = _CLUSTER.observe_every
    notify: Notify = Notify()


class Cluster(ClusterSettings):
    """One cluster with what it overrides."""

    name: ClusterName = Field(examples=["demo"])


class Document(ClusterSettings):
    """The whole file: one `cluster` by name, or `clusters`, and the deployment that looks after them."""

    deployment: Deployment = Deployment()
    cluster: ClusterName | None = None
    clusters: (
        Annotated[
            tuple[Annotated[Cluster, BeforeValidator(_named, json_schema_input_type=str | Cluster)], ...],
            Field(json_schema_extra={"minItems": 1}),
        ]
        | None
    ) = None


def _is_instant(moment: date | None) -> bool:
    return moment is None or (isinstance(moment, datetime) and moment.tzinfo is not None)
