"""Every budget list that a test of `tests/cases` is written with, found in the tests themselves."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from driftgate.domain.budget import Budget, from_objects

_LIST = re.compile(r"\[\{\"?nodes.*\}\]")
CASES = Path(__file__).resolve().parents[1] / "cases"


def case_budgets() -> dict[str, tuple[Budget, ...]]:
    """The lists by their text, sorted by it."""
    texts = {text for path in CASES.glob("*.py") for text in _texts(path)}
    return {text: from_objects(yaml.safe_load(text)) for text in sorted(texts)}


def _texts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _LIST.fullmatch(node.value):
            yield node.value
