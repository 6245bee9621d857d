"""What came of a roll, for people and for machines, and as an exit code."""

from __future__ import annotations

import typer

from driftgate.app.roll_once import RollResult
from driftgate.cli.answers import is_for_machines, write
from driftgate.cli.exit_codes import ExitCode, of_holds
from driftgate.cli.options import Output
from driftgate.cli.plan_table import hold_line
from driftgate.domain.plan import Hold
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState

_ENDED_BADLY = (RollState.FAILED, RollState.SUSPECT)
_WHAT_NEXT = {
    RollState.IN_FLIGHT: "Karpenter is draining it; its gate is shut.",
    RollState.SETTLING: "It is gone, and its replacement is on the way.",
    RollState.BAKING: "Its replacement is Ready and bakes: the next node of this pool waits for that.",
    RollState.DONE: "The roll is done.",
    RollState.CLOSED_UNUSED: "Karpenter took no node while the gate was open, and it is shut again.",
    RollState.FAILED: "The roll failed: `driftgate plan` says what to do next.",
    RollState.SUSPECT: "The new image is suspect and goes no further: `driftgate image list` shows it.",
}


def show_result(result: RollResult, output: Output) -> None:
    """One object on standard output, or sentences."""
    if is_for_machines(output):
        write(result.to_object(), output, on_one_line=True)
    elif result.roll is None:
        _show_held(result)
    else:
        _show_roll(result, result.roll)


def exit_code(result: RollResult) -> ExitCode:
    """REFUSED where the roll failed, or its gate could not be opened or put back as it was."""
    if result.roll is not None:
        is_good = result.roll.state not in _ENDED_BADLY and result.roll.baseline_restored
        return ExitCode.OK if is_good else ExitCode.REFUSED
    return of_holds(result.reasons)


def _show_held(result: RollResult) -> None:
    typer.echo(f"{result.pool} was not opened.")
    for hold in result.reasons or (_nothing(result),):
        typer.echo(f"  {hold_line(hold)}")


def _show_roll(result: RollResult, roll: Roll) -> None:
    node = f"{roll.node}: " if roll.node else ""
    typer.echo(f"{result.pool}: {node}{_sentence(roll)}")
    shown = result.to_object()
    for key in ("roll", "state", "node", "replacement", "openedAt", "signAt", "closedAt", "secondsOpenAfterSign"):
        typer.echo(f"  {key:<21} {shown[key] if shown[key] is not None else '-'}")
    typer.echo(f"  {'baselineRestored':<21} {'yes' if shown['baselineRestored'] else 'no'}")


def _sentence(roll: Roll) -> str:
    if _was_never_opened(roll):
        return "The gate was not opened: the write was refused, and the budgets are as they were."
    return _WHAT_NEXT.get(roll.state, f"The roll is {roll.state}.")


def _was_never_opened(roll: Roll) -> bool:
    return roll.state is RollState.CLOSED_UNUSED and roll.opened_at is None


def _nothing(result: RollResult) -> Hold:
    problems = "; ".join(result.problems)
    text = problems or "There is nothing to roll: no node of the pool waits behind a shut gate."
    return Hold(code=ReasonCode.NOTHING_ELIGIBLE, message=text, needs_person=False)
