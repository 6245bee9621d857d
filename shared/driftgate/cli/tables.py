"""Tables: coloured where a person looks, plain columns where a pipe reads, Markdown where it is asked for.

The last column holds text. On a narrow terminal it goes under its row, so that the columns stay readable.
"""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from driftgate.cli.options import Output

Row = Sequence[str]

ROOM_FOR_TEXT = 48
"""Columns that the last one needs beside the others; with less it goes under its row."""

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
    console = Console(highlight=False)
    if output is Output.MARKDOWN:
        typer.echo(_markdown(header, rows))
    elif not console.is_terminal:
        typer.echo(_plain(header, rows))
    elif console.width - sum(width + 2 for width in _widths(header, rows)[:-1]) >= ROOM_FOR_TEXT:
        console.print(_table(header, rows))
    else:
        _show_narrow(console, header, rows)


def _table(header: Row, rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in header[:-1]:
        table.add_column(title, no_wrap=True)
    table.add_column(header[-1])
    for row in rows:
        table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
    return table


def _show_narrow(console: Console, header: Row, rows: Sequence[Row]) -> None:
    """The columns but the last, each row with its text under it."""
    widths = _widths(header, rows)[:-1]
    console.print(_cells(header[:-1], widths, "bold"), no_wrap=True, overflow="ellipsis")
    for row in rows:
        console.print(_cells(row[:-1], widths), no_wrap=True, overflow="ellipsis")
        console.print(Padding(Text(row[-1], style="dim"), (0, 0, 0, 2), expand=False))


def _cells(row: Row, widths: Sequence[int], style: str = "") -> Text:
    cells = (
        Text(cell.ljust(width), style=style or _COLOURS.get(cell, "")) for cell, width in zip(row, widths, strict=True)
    )
    return Text("  ").join(cells)


def _widths(header: Row, rows: Sequence[Row]) -> list[int]:
    return [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]


def _plain(header: Row, rows: Sequence[Row]) -> str:
    widths = _widths(header, rows)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (header, *rows)]
    return "\n".join(line.rstrip() for line in lines)


def _markdown(header: Row, rows: Sequence[Row]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
