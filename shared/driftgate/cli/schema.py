"""`driftgate schema`: the JSON schema of driftgate.yaml, for editors."""

from __future__ import annotations

import json

import typer

from driftgate.cli.exit_codes import ExitCode
from driftgate.config.schema import json_schema


def schema() -> int:
    """Print the JSON schema of driftgate.yaml, so that an editor completes and checks it."""
    typer.echo(json.dumps(json_schema(), indent=2))
    return ExitCode.OK
