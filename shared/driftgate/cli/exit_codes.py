"""What a command's exit code means: the first that applies, in this order. People script against them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from driftgate.domain.errors import (
    ClusterForbiddenError,
    DriftgateError,
    InvalidInputError,
    NodePoolNotFoundError,
    PatchRejectedError,
)
from driftgate.domain.plan import ClusterPlan, Hold
from driftgate.domain.reasons import ReasonCode


class ExitCode(IntEnum):
    """Source: docs/cli.md, section on exit codes."""

    OK = 0
    NEEDS_PERSON = 1
    USAGE = 2
    UNKNOWN = 3
    REFUSED = 4
    INTERRUPTED = 130


def of_plan(plan: ClusterPlan) -> ExitCode:
    """UNKNOWN where something needed could not be read; NEEDS_PERSON where somebody must change something."""
    if any(pool.is_unknown for pool in plan.pools):
        return ExitCode.UNKNOWN
    return ExitCode.NEEDS_PERSON if any(pool.needs_person for pool in plan.pools) else ExitCode.OK


def of_holds(holds: Iterable[Hold]) -> ExitCode:
    """What it means that one pool was not opened for these reasons."""
    listed = tuple(holds)
    if any(hold.code is ReasonCode.UNKNOWN for hold in listed):
        return ExitCode.UNKNOWN
    return ExitCode.NEEDS_PERSON if any(hold.is_for_a_person for hold in listed) else ExitCode.OK


def exit_code_of(error: DriftgateError) -> ExitCode:
    """USAGE for what a person typed or wrote, REFUSED for a write that was refused, UNKNOWN for the rest."""
    match error:
        case InvalidInputError() | NodePoolNotFoundError():
            return ExitCode.USAGE
        case PatchRejectedError() | ClusterForbiddenError(verb="patch"):
            return ExitCode.REFUSED
        case _:
            return ExitCode.UNKNOWN
