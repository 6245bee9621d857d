"""Tables: coloured where a person looks, plain columns where a pipe reads, Markdown where it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table

from driftgate.cli.options import Output

Row = Sequence[str]

_COLOURS = {
    "TRAPPED": "bold red",
    "INVALID": "bold red",
    "UNKNOWN": "bold magenta",
    "UNGATED": "yellow",
    "FROZEN": "cyan",
    "OPEN": "yellow",
    "CLEAN": "green",
}


def show(header: Row, rows: Sequence[Row], output: Output) -> None:
    """The table on standard output."""
    console = Console()
    if output is Output.MARKDOWN:
        typer.echo(_markdown(header, rows))
    elif console.is_terminal:
        console.print(_table(header, rows))
    else:
        typer.echo(_plain(header, rows))


def _table(header: Row, rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in header:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(f"[{_COLOURS[cell]}]{cell}[/]" if cell in _COLOURS else _escaped(cell) for cell in row))
    return table


def _escaped(cell: str) -> str:
    return cell.replace("[", r"\[")


def _plain(header: Row, rows: Sequence[Row]) -> str:
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (header, *rows)]
    return "\n".join(line.rstrip() for line in lines)


def _markdown(header: Row, rows: Sequence[Row]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
