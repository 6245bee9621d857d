"""What a measurement gives: one figure with its goal, and the table of all of them.

A goal that was missed is said, never an error: on a machine that others load, wall time says little.
"""

from __future__ import annotations

import json
import math
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEADER = ("", "FIGURE", "GOAL", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number. `key` is its name for scripts, `at_most` the goal (None: there is none)."""

    key: str
    what: str
    value: float
    unit: str = "ms"
    at_most: float | None = None

    @property
    def is_met(self) -> bool | None:
        return None if self.at_most is None else self.value <= self.at_most

    def to_object(self) -> dict[str, object]:
        return {
            "key": self.key,
            "what": self.what,
            "value": round(self.value, 3),
            "unit": self.unit,
            "atMost": self.at_most,
            "met": self.is_met,
        }


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest of the values that at least that share of them does not exceed."""
    found = sorted(values)
    return found[max(0, math.ceil(len(found) * percent / 100) - 1)]


def median(values: Iterable[float]) -> float:
    return percentile(values, 50)


def as_json(figures: Sequence[Figure], *, quick: bool) -> str:
    """One line with one object."""
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "load": round(os.getloadavg()[0], 1)}
    return json.dumps({"quick": quick, "machine": machine, "figures": [figure.to_object() for figure in figures]})


def as_table(figures: Sequence[Figure]) -> str:
    """Columns for people."""
    rows = [HEADER, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    return "\n".join(_line(row, widths) for row in rows)


def note(text: str) -> None:
    """Says what is being measured, on standard error."""
    print(f"driftgate bench: {text}", file=sys.stderr, flush=True)


def _row(figure: Figure) -> tuple[str, ...]:
    goal = "" if figure.at_most is None else f"≤ {_number(figure.at_most)} {figure.unit}".rstrip()
    verdict = {None: "", True: "met", False: "MISSED"}[figure.is_met]
    return figure.what, f"{_number(figure.value)} {figure.unit}".rstrip(), goal, verdict


def _number(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    what, value, goal, verdict = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"{what}  {value.strip():>{widths[1]}}  {goal}  {verdict}".rstrip()
