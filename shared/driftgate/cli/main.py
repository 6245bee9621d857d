"""The command `driftgate`: parses, calls one function per command, and turns errors into exit codes.

Nobody ever sees a traceback for something that a person can put right.
"""

from __future__ import annotations

import sys

import typer
from click.exceptions import ClickException

from driftgate import __version__
from driftgate.cli import close, lint, manifests, pause, plan, report, roll, snapshot, status
from driftgate.cli.exit_codes import ExitCode
from driftgate.domain.errors import (
    AwsForbiddenError,
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    DriftgateError,
    InvalidInputError,
    NodePoolNotFoundError,
    PatchRejectedError,
)

app = typer.Typer(
    name="driftgate",
    help="Opens a Karpenter disruption budget for exactly one node, inside your window, and puts it back.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("report")(report.report)
app.command("plan")(plan.plan)
app.command("snapshot")(snapshot.snapshot)
app.command("lint")(lint.lint)
app.command("roll")(roll.roll)
app.command("close")(close.close)
app.command("status")(status.status)
app.command("pause")(pause.pause)
app.command("resume")(pause.resume)
app.command("cluster-manifests")(manifests.cluster_manifests)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        typer.echo(f"driftgate {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Runs the command and leaves the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """The exit code of the command with these arguments."""
    try:
        answer = app(arguments, standalone_mode=False)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except ClickException as error:
        error.show()
        return ExitCode.USAGE
    except typer.Exit as error:
        return error.exit_code
    except (typer.Abort, DriftgateError) as error:
        return _failed(error)
    return answer if isinstance(answer, int) else ExitCode.OK


def _failed(error: Exception) -> int:
    typer.echo(f"driftgate: {error or 'stopped before anything was done'}", err=True)
    match error:
        case InvalidInputError() | NodePoolNotFoundError() | typer.Abort():
            return ExitCode.USAGE
        case PatchRejectedError():
            return ExitCode.REFUSED
        case ClusterForbiddenError(verb="patch"):
            return ExitCode.REFUSED
        case ClusterForbiddenError() | ClusterUnauthorizedError() | AwsForbiddenError():
            return ExitCode.UNKNOWN
        case _:
            return ExitCode.UNKNOWN
