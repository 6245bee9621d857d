"""What a command's exit code means: the first that applies, in this order. People script against them."""

from __future__ import annotations

from enum import IntEnum

from driftgate.domain.errors import (
    ClusterForbiddenError,
    DriftgateError,
    InvalidInputError,
    LeaseHeldError,
    NodePoolNotFoundError,
    PatchRejectedError,
)
from driftgate.domain.plan import ClusterPlan, PoolPlan


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
    codes = {of_pool(pool) for pool in plan.pools}
    return next((code for code in (ExitCode.UNKNOWN, ExitCode.NEEDS_PERSON) if code in codes), ExitCode.OK)


def of_pool(pool: PoolPlan) -> ExitCode:
    """As `of_plan`, for one pool."""
    if pool.is_unknown:
        return ExitCode.UNKNOWN
    return ExitCode.NEEDS_PERSON if pool.needs_person else ExitCode.OK


def exit_code_of(error: DriftgateError) -> ExitCode:
    """USAGE for what a person typed or wrote, REFUSED for a write that was refused, UNKNOWN for the rest.

    A cluster that another worker holds refuses ours.
    """
    match error:
        case InvalidInputError() | NodePoolNotFoundError():
            return ExitCode.USAGE
        case PatchRejectedError() | LeaseHeldError() | ClusterForbiddenError(verb="patch"):
            return ExitCode.REFUSED
        case _:
            return ExitCode.UNKNOWN
