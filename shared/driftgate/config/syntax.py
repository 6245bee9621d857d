"""Faults of YAML itself, told with their place and what usually mends them."""

from __future__ import annotations

import yaml

from driftgate.domain.errors import Problem

_QUOTED = 'Put the value in quotes, such as cron: "0 2 * * sat": here it begins with a sign that means something else.'
_SIGNS = frozenset("@`*&%!|>")


def syntax_problem(error: yaml.YAMLError, text: str, source: str) -> Problem:
    """The parser's complaint, at the place where what it complains of begins."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return Problem(place=source, path="", message=f"is not YAML: {error}", remedy="Save it as UTF-8 text.")
    mark = error.problem_mark
    begin = error.context_mark if _sign(text, error.context_mark) in _SIGNS else mark
    place = f"{source}:{mark.line + 1}:{mark.column + 1}"
    sign = _sign(text, begin)
    return Problem(place=place, path="", message=f"is not YAML: {error.problem}", remedy=_remedy(error, sign))


def _sign(text: str, mark: yaml.Mark | None) -> str:
    return text[mark.index : mark.index + 1] if mark is not None else ""


def _remedy(error: yaml.MarkedYAMLError, sign: str) -> str:
    problem = error.problem or ""
    if sign == "\t":
        return "Indent with spaces, not tabs."
    if sign in _SIGNS:
        return _QUOTED
    if "mapping values are not allowed" in problem:
        return "Put the value in quotes if it contains a colon; else check the indentation."
    if "expected a single document" in str(error.context):
        return "Keep one document: take out the line with ---."
    return "Check indentation, quotes and brackets here and in the line before."
