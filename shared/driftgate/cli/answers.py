"""How a command's answer is written: one object for machines, a table or sentences for people."""

from __future__ import annotations

import json

import typer
import yaml

from driftgate.cli.options import Output


def is_for_machines(output: Output) -> bool:
    """Whether the answer is one object on standard output, and nothing else."""
    return output in (Output.JSON, Output.YAML)


def write(answer: object, output: Output, *, on_one_line: bool = False) -> None:
    """The object on standard output, as JSON or YAML."""
    if output is Output.YAML:
        typer.echo(yaml.safe_dump(answer, sort_keys=False, allow_unicode=True), nl=False)
    else:
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=None if on_one_line else 2))


def note(text: str) -> None:
    """A word to the person, on standard error: it never mixes with the answer."""
    typer.echo(f"driftgate: {text}", err=True)


def sentence(*parts: str) -> str:
    """The parts that say something, with a space between."""
    return " ".join(part for part in parts if part)
