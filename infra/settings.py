"""What the stack must know of driftgate.yaml: names, placements, and what of AWS the clusters refer to. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from driftgate.config import Config
from driftgate.config.deployment import Deployment, Placement
from driftgate.contract import DEFAULT_PLACEMENT
from driftgate.domain.errors import InvalidInputError

T = TypeVar("T")
MOST_ENTRIES = 200
"""Access entries, of the 500 resources that a stack may have. Source: aws docs, cloudformation-limits (2026)."""
LEDGER_OUTPUT = "LedgerTableName"
"""The stack's output that says what to write after `--ledger dynamodb:`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EksCluster:
    """A cluster as AWS knows it. `role` None: it is in the account of the deployment."""

    name: str
    region: str | None
    role: str | None
    placement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementSettings:
    """From where a part of the clusters is reached. `vpc` None: from outside of VPCs."""

    name: str
    clusters: tuple[EksCluster, ...]
    vpc: Placement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSettings:
    """Everything that the template follows from, but the code of the functions.

    `alarms` are the names of the guards' alarms in this account, `foreign_alarms` those of others, which are read
    through `alarm_roles`. `parameters` are names and regions of SSM parameters of this account. `regions` are those
    that are named; the stack's own is not. Every list is in the order of the file, without repetitions.
    """

    deployment: Deployment
    placements: tuple[PlacementSettings, ...]
    clusters: tuple[EksCluster, ...]
    alarms: tuple[str, ...]
    foreign_alarms: tuple[str, ...]
    alarm_roles: tuple[str, ...]
    calendars: tuple[str, ...]
    parameters: tuple[tuple[str, str | None], ...]
    regions: tuple[str, ...]

    @property
    def prefix(self) -> str:
        """What names in AWS begin with."""
        name = self.deployment.name
        return name if name.startswith("driftgate") else f"driftgate-{name}"

    @property
    def alarm_accounts(self) -> tuple[str, ...]:
        return _unique(role.split(":")[4] for role in self.alarm_roles)

    @classmethod
    def of(cls, config: Config) -> StackSettings:
        """Raises InvalidInputError where one stack cannot hold what the file asks for."""
        clusters = tuple(_cluster(config, name) for name in config.cluster_names())
        if config.deployment.access_entries == "create":
            _count_entries(config, clusters)
        policies = [pool for name in config.cluster_names() for pool in config.cluster(name).policies()]
        guards = [guard for pool in policies for guard in pool.guards.alarms or ()]
        named = [*(cluster.region for cluster in clusters), *(guard.region for guard in guards)]
        return cls(
            deployment=config.deployment,
            placements=tuple(_placements(config.deployment, clusters)),
            clusters=clusters,
            alarms=_unique(guard.name for guard in guards if guard.account_role is None),
            foreign_alarms=_unique(guard.name for guard in guards if guard.account_role is not None),
            alarm_roles=_unique(guard.account_role for guard in guards if guard.account_role is not None),
            calendars=_unique(name for pool in policies for name in pool.guards.calendars),
            parameters=_unique(_parameters(config)),
            regions=_unique(region for region in named if region is not None),
        )


def _count_entries(config: Config, clusters: Iterable[EksCluster]) -> None:
    wanted = 2 * sum(cluster.role is None for cluster in clusters)
    if wanted > MOST_ENTRIES:
        raise InvalidInputError(
            f"asks for {wanted} access entries, and one stack takes {MOST_ENTRIES}",
            place=config.source,
            remedy="Write deployment: {access_entries: print}, and make them by the commands that are printed.",
        )


def worker_role(settings: StackSettings, placement: str) -> str:
    """The name of the role that opens and closes gates from there. It is fixed: access entries name it."""
    return f"{settings.prefix}-worker-{placement}"


def closer_role(settings: StackSettings, placement: str) -> str:
    """The name of the role that only closes them."""
    return f"{settings.prefix}-closer-{placement}"


def _cluster(config: Config, name: str) -> EksCluster:
    setup = config.settings_of(name)
    return EksCluster(
        name=name, region=setup.region, role=setup.account_role, placement=setup.placement or DEFAULT_PLACEMENT
    )


def _placements(deployment: Deployment, clusters: Iterable[EksCluster]) -> Iterable[PlacementSettings]:
    """Those that any cluster is in: an idle one costs its queue's polling and closes nothing."""
    found: dict[str, list[EksCluster]] = defaultdict(list)
    for cluster in clusters:
        found[cluster.placement].append(cluster)
    vpcs: dict[str, Placement | None] = {DEFAULT_PLACEMENT: None} | {vpc.name: vpc for vpc in deployment.placements}
    for name, vpc in vpcs.items():
        if name in found:
            yield PlacementSettings(name=name, clusters=tuple(found[name]), vpc=vpc)


def _parameters(config: Config) -> Iterable[tuple[str, str | None]]:
    """What the settings add to the public parameters, but what is read through another account's role."""
    for settings in config.clusters.values():
        if settings.account_role is None:
            yield from ((parameter, settings.region) for parameter in settings.watch_parameters)


def _unique(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(found))
