"""The command `driftgate`: parses, calls one function per command, and turns errors into exit codes.

Nobody ever sees a traceback for something that a person can put right.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated

import typer

from driftgate import __version__
from driftgate.cli import close, doctor, image, lint, manifests, pause, plan, report, roll, schema, snapshot, status
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


COMMANDS: dict[str, tuple[Callable[..., int], str]] = {
    "report": (report.report, "Show every pool: what it is, how far behind, and why."),
    "plan": (plan.plan, "Say what would be done now, and every reason why."),
    "snapshot": (snapshot.snapshot, "Write the whole situation as one file."),
    "lint": (lint.lint, "Check the disruption budgets of NodePools in files."),
    "roll": (roll.roll, "Roll exactly one node of a pool."),
    "close": (close.close, "Shut the gate of a pool now; its budgets come back."),
    "status": (status.status, "Show rolls, stops, and who works on the cluster."),
    "pause": (pause.pause, "Open nothing from now on; shut what stands open."),
    "resume": (pause.resume, "Lift a pause."),
    "doctor": (doctor.doctor, "Check what driftgate needs and does not have."),
    "cluster-manifests": (manifests.cluster_manifests, "Print the rights that driftgate needs in a cluster."),
    "schema": (schema.schema, "Print the JSON schema of driftgate.yaml."),
}
for name, (function, short_help) in COMMANDS.items():
    app.command(name, short_help=short_help)(command(function))

images = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
images.command("list", short_help="List what is said of images.")(command(image.image_list))
images.command("clear", short_help="Lift what is said against an image.")(command(image.image_clear))
app.add_typer(images, name="image", help="See and lift what is said against node images.")


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    """Opens a Karpenter disruption budget for exactly one node, inside your window, and puts it back."""
    if version:
        typer.echo(f"driftgate {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Runs the command; leaves the process with its exit code."""
    app(arguments, prog_name="driftgate")
