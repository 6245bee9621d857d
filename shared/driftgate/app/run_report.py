"""What one run did: logged as one object, shown by the command line, asserted by tests."""

from __future__ import annotations

from dataclasses import dataclass, field

from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.plan import ClusterPlan
from driftgate.domain.roll import Roll


@dataclass(slots=True)
class RunReport:
    """Filled in while the run goes on, so that a run that dies half-way still says what it did."""

    cluster: str
    held_by: str = ""
    plan: ClusterPlan | None = None
    rolls: list[Roll] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    continues: bool = False
    problems: list[str] = field(default_factory=list)

    def saw(self, roll: Roll) -> None:
        """Keeps the latest record of each roll that the run touched."""
        self.rolls = [known for known in self.rolls if known.id != roll.id] + [roll]

    def to_object(self) -> dict[str, object]:
        return {
            "cluster": self.cluster,
            "heldBy": self.held_by or None,
            "verdicts": {} if self.plan is None else {pool.name: str(pool.verdict) for pool in self.plan.pools},
            "actions": {} if self.plan is None else {pool.name: str(pool.action.kind) for pool in self.plan.pools},
            "rolls": [
                {"id": r.id, "state": str(r.state), "node": r.node or None, "closedAt": rfc3339(r.closed_at)}
                for r in self.rolls
            ],
            "opened": self.opened,
            "closed": self.closed,
            "continues": self.continues,
            "problems": self.problems,
        }
