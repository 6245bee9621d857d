"""The command `driftgate`: parses, calls one function per command, and turns errors into exit codes.

Nobody ever sees a traceback for something that a person can put right.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated

import typer

from driftgate import __version__
from driftgate.cli import close, lint, manifests, pause, plan, report, roll, snapshot, status
from driftgate.cli.exit_codes import ExitCode, exit_code_of
from driftgate.domain.errors import DriftgateError

app = typer.Typer(
    name="driftgate",
    help="Opens a Karpenter disruption budget for exactly one node, inside your window, and puts it back.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def command(function: Callable[..., int]) -> Callable[..., None]:
    """The function as a command: its answer, or what became of it, is the exit code."""

    @functools.wraps(function)
    def run(*args: object, **options: object) -> None:
        try:
            code: int = function(*args, **options)
        except (KeyboardInterrupt, typer.Abort):
            typer.echo("Stopped.", err=True)
            code = ExitCode.INTERRUPTED
        except DriftgateError as error:
            typer.echo(f"driftgate: {error}", err=True)
            code = exit_code_of(error)
        raise typer.Exit(int(code))

    return run


COMMANDS: dict[str, Callable[..., int]] = {
    "report": report.report,
    "plan": plan.plan,
    "snapshot": snapshot.snapshot,
    "lint": lint.lint,
    "roll": roll.roll,
    "close": close.close,
    "status": status.status,
    "pause": pause.pause,
    "resume": pause.resume,
    "cluster-manifests": manifests.cluster_manifests,
}
for name, function in COMMANDS.items():
    app.command(name)(command(function))


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    """Opens a Karpenter disruption budget for exactly one node, inside your window, and puts it back."""
    if version:
        typer.echo(f"driftgate {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Runs the command; leaves the process with its exit code."""
    app(arguments)
