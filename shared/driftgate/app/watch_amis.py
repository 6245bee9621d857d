"""Mirrors the image parameters in use: a value that changed is written to a parameter of our own.

AWS raises no events for its public parameters in a customer's account, but it does for ours; that event is the hint
that sets everything else going. An equal value is never written again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from driftgate.app.pipeline import Pipeline
from driftgate.app.tell import Teller
from driftgate.contract import seen_prefix
from driftgate.domain.message import DomainEvent, EventKind


@dataclass(slots=True)
class PollReport:
    """What was polled and what changed: name to (before, now); before is None at first sight."""

    polled: int = 0
    changed: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def to_object(self) -> dict[str, object]:
        changed = {name: {"before": was, "now": now} for name, (was, now) in self.changed.items()}
        return {"polled": self.polled, "changed": changed, "missing": self.missing, "problems": self.problems}


def watch_amis(pipeline: Pipeline, deployment: str, region: str) -> PollReport:
    """Every public parameter that a cluster's images follow is mirrored.

    Raises AwsUnavailableError, AwsForbiddenError: nothing was lost, the next poll sees the same change.
    """
    names = sorted({name for state in pipeline.ledger.load_fleet().values() for name in state.parameters})
    public = [name for name in names if name.startswith("/aws/service/")]
    if not public:
        return PollReport()
    mirror = {name: mirror_name(deployment, region, name) for name in public}
    offered = {parameter.name: parameter.value for parameter in pipeline.parameters.read(public)}
    seen = {parameter.name: parameter.value for parameter in pipeline.parameters.read(list(mirror.values()))}
    report = PollReport(polled=len(public), missing=[name for name in public if name not in offered])
    for name, value in offered.items():
        was = seen.get(mirror[name])
        if was != value:
            pipeline.parameters.write(mirror[name], value, overwrite=was is not None)
            report.changed[name] = (was, value)
    _tell(pipeline, report)
    return report


def mirror_name(deployment: str, region: str, name: str) -> str:
    """The own parameter that mirrors a public one of a region; own names may not begin with `aws`."""
    return f"{seen_prefix(deployment)}{region}/{name.removeprefix('/aws/service/')}"


def _tell(pipeline: Pipeline, report: PollReport) -> None:
    teller = Teller(pipeline.publisher)
    teller.tell(
        DomainEvent(
            kind=EventKind.IMAGE_CHANGED,
            at=pipeline.clock.now(),
            cluster="*",
            title="A new node image is offered",
            text=f"{name} now names {now}; it named {was}.",
            thread=name,
            next_steps=("Nodes that use it will drift as Karpenter sees it, which can take up to 24 hours.",),
        )
        for name, (was, now) in report.changed.items()
        if was is not None
    )
    report.problems += teller.failures
