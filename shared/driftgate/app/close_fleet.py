"""Before a deployment goes: nothing opens any more, and every gate that stands open is shut.

No cluster is reached from here: each placement's closer shuts its own, and the ledger says when it is done. What would
be left otherwise is an opened list in a NodePool, shut by its guard for a year and by nobody afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from driftgate.app.pipeline import Pipeline
from driftgate.domain.errors import DriftgateError
from driftgate.domain.ledger import FLEET, Stop, StopCause
from driftgate.domain.roll import Roll
from driftgate.ports import CloseRequest, PutStop, StackRequest

BY = "the removal of the stack"
REASON = "The deployment is being removed. If it stays after all: driftgate resume --fleet"
LOOK_AGAIN_S = 5.0


@dataclass(slots=True)
class FleetReport:
    """Rolls whose gate was asked to be shut, those whose gate may still be open, and what went wrong with asking."""

    asked: list[str] = field(default_factory=list)
    left_open: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def problem(self) -> str:
        """Why the stack must not go yet, and what a person can do; "" where it may."""
        if not self.left_open:
            return ""
        return (
            f"Still open: {', '.join(self.left_open)}. {' '.join(self.problems)} Shut them: driftgate close --pool "
            "POOL --ledger dynamodb:TABLE. Then delete the stack again; where a cluster is no more, with "
            "--retain-resources and this resource's name."
        )

    def to_object(self) -> dict[str, object]:
        return {"asked": self.asked, "leftOpen": self.left_open, "problems": self.problems}


def close_for_removal(pipeline: Pipeline, request: StackRequest, patience: timedelta) -> FleetReport:
    """What CloudFormation asks for is done: before the stack goes, the fleet is closed; else there is nothing to do."""
    return close_fleet(pipeline, patience) if request.kind == "Delete" else FleetReport()


def close_fleet(pipeline: Pipeline, patience: timedelta) -> FleetReport:
    """Nothing opens until a person resumes the fleet; gates that may still be open after all patience are named.

    Raises LedgerUnavailableError, LedgerCorruptError, AnswerLostError: what stands open is not known then.
    """
    began = pipeline.clock.now()
    stop = Stop(cause=StopCause.PAUSE, ref=BY, cluster=FLEET, at=began, reason=REASON)
    pipeline.ledger.commit(FLEET, PutStop(stop))
    report = FleetReport()
    while left := _open_rolls(pipeline):
        for roll in left:
            if roll.id not in report.asked:
                _ask(pipeline, roll, report)
        if pipeline.clock.now() - began >= patience:
            report.left_open = [roll.id for roll in left]
            break
        pipeline.clock.sleep(LOOK_AGAIN_S)
    return report


def _open_rolls(pipeline: Pipeline) -> list[Roll]:
    return [roll for state in pipeline.ledger.load_fleet().values() for roll in state.rolls if roll.may_be_open]


def _ask(pipeline: Pipeline, roll: Roll, report: FleetReport) -> None:
    report.asked.append(roll.id)
    try:
        pipeline.closer.invoke(CloseRequest(cluster=roll.cluster, cause=StopCause.PAUSE, ref=BY, pool=roll.pool))
    except DriftgateError as error:
        report.problems.append(f"{roll.id}: {error}")
