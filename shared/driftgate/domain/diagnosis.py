"""What `driftgate doctor` finds: one small result per check, and what each reading means. Must not read anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from driftgate.domain.endpoints import Endpoint
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.karpenter_version import gives_disruption_reason, parse_version, skips_empty_nodes
from driftgate.domain.observation import AlarmObservation, CalendarObservation
from driftgate.domain.rights import RIGHTS, Right, rules

CLOCK_TOLERANCE = timedelta(seconds=10)
"""A guard is written 30 s ahead at the least, by our clock, and Karpenter obeys it by its own."""

MANIFESTS = "`driftgate cluster-manifests | kubectl apply -f -`"


class Outcome(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    """Worth knowing; driftgate works all the same."""
    WRONG = "wrong"
    """A person must change something."""
    UNREADABLE = "unreadable"
    """driftgate needs to know this and cannot read it."""
    REFUSED = "refused"
    """driftgate could not open or close a gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at. `remedy` says what to do, "" where nothing is to be done."""

    name: str
    outcome: Outcome
    message: str
    remedy: str = ""

    def to_object(self) -> dict[str, object]:
        return {"name": self.name, "outcome": str(self.outcome), "message": self.message, "remedy": self.remedy}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Every check, in the order in which they were made, and the rights that are missing.

    `endpoints` are those that the VPC of the cluster's placement needs; () where it is reached from outside of VPCs.
    """

    cluster: str
    at: datetime
    checks: tuple[Check, ...]
    missing: tuple[Right, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()

    @property
    def outcomes(self) -> frozenset[Outcome]:
        return frozenset(check.outcome for check in self.checks)

    def to_object(self) -> dict[str, object]:
        return {
            "cluster": self.cluster,
            "at": rfc3339(self.at),
            "checks": [check.to_object() for check in self.checks],
            "missingRights": [{"right": str(right), "why": right.why} for right in self.missing],
            "missingRules": rules(self.missing),
            "endpoints": [endpoint.to_object() for endpoint in self.endpoints],
        }


def rights_check(missing: Sequence[Right]) -> Check:
    """Whether every right is there; without `patch` no gate can be opened or closed."""
    if not missing:
        return Check(name="rights", outcome=Outcome.OK, message=f"All {len(RIGHTS)} rights are there.")
    return Check(
        name="rights",
        outcome=Outcome.REFUSED if any(right.verb == "patch" for right in missing) else Outcome.UNREADABLE,
        message=f"{len(missing)} of {len(RIGHTS)} rights are missing: {', '.join(map(str, missing))}.",
        remedy=f"Give the missing rules to the group of this identity; {MANIFESTS} gives all of them.",
    )


def clock_check(server: datetime | None, now: datetime) -> Check:
    """Whether this clock agrees with the API server's, whose time is told in whole seconds."""
    if server is None:
        message = "The API server did not tell its time, so the clocks could not be compared."
        return Check(name="clock", outcome=Outcome.WARNING, message=message)
    seconds = round((now - server).total_seconds())
    if abs(now - server) <= CLOCK_TOLERANCE:
        return Check(name="clock", outcome=Outcome.OK, message="This clock agrees with the API server's.")
    direction = "ahead of" if seconds > 0 else "behind"
    return Check(
        name="clock",
        outcome=Outcome.WRONG,
        message=f"This machine's clock is {abs(seconds)} s {direction} the API server's. "
        "The guard that ends an opening is dated by this clock and obeyed by the cluster's.",
        remedy="Set the clock, for instance by NTP.",
    )


def karpenter_check(version: str | None, nodepools: int) -> Check:
    """What this version of Karpenter means; its CRDs are there."""
    pools = "1 NodePool" if nodepools == 1 else f"{nodepools} NodePools"
    parsed = parse_version(version)
    if version is None or parsed is None:
        return _karpenter(
            Outcome.WARNING,
            f"{pools}; the version of Karpenter cannot be told, and the careful case is assumed.",
            "Give the right to list deployments, or name the version in the Deployment's label "
            "app.kubernetes.io/version.",
        )
    told = f"Karpenter {version}, {pools}."
    upgrade = "Upgrade Karpenter to 1.7 or later."
    if not gives_disruption_reason(parsed):
        return _karpenter(
            Outcome.WARNING, f"{told} It shows by the taint alone, and later, which node it takes.", upgrade
        )
    if skips_empty_nodes(parsed):
        return _karpenter(Outcome.WARNING, f"{told} For drift it never takes a node without pods.", upgrade)
    return _karpenter(Outcome.OK, told, "")


def _karpenter(outcome: Outcome, message: str, remedy: str) -> Check:
    return Check(name="karpenter", outcome=outcome, message=message, remedy=remedy)


def alarms_check(alarms: Iterable[AlarmObservation]) -> Check:
    """Whether each configured alarm exists."""
    return _existence("alarms", [(alarm.name, alarm.state) for alarm in alarms], "CloudWatch", "guards.alarms")


def calendars_check(calendars: Iterable[CalendarObservation]) -> Check:
    """Whether each configured calendar exists."""
    named = [(calendar.name, calendar.state) for calendar in calendars]
    return _existence("calendars", named, "Systems Manager", "guards.calendars")


def _existence(name: str, states: Sequence[tuple[str, str]], service: str, key: str) -> Check:
    absent = [found for found, state in states if state == "MISSING"]
    if absent:
        return Check(
            name=name,
            outcome=Outcome.WRONG,
            message=f"{service} has no {', '.join(absent)}.",
            remedy=f"Correct the names under {key}, or the region.",
        )
    told = ", ".join(f"{found} {state}" for found, state in states)
    return Check(name=name, outcome=Outcome.OK, message=f"Read: {told}.")
