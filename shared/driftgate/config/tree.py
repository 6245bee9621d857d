"""driftgate.yaml as plain values, each with its place in the file.

Reads YAML as version 1.2 has it: only `true` and `false` are booleans (`off` and `no` are words), `10:30` and
`2026-11-20` are text, and a key that stands twice is a fault, not a silent last word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from driftgate.config.syntax import syntax_problem
from driftgate.domain.errors import Problem

Path = tuple[str | int, ...]
_MOST_VALUES = 50_000
_NO_VALUE = "Write one, or take the key out; if a comma ended the text before it, put that whole text in quotes."
_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Maps are dicts, lists are tuples. `values` and `keys` hold the place of each, by path."""

    source: str
    value: object = None
    problems: tuple[Problem, ...] = ()
    values: Mapping[Path, str] = field(default_factory=dict)
    keys: Mapping[Path, str] = field(default_factory=dict)

    @property
    def is_readable(self) -> bool:
        """Whether the text is YAML with anything in it; `problems` says why not."""
        return bool(self.values)

    def problem(self, path: Path, message: str, remedy: str, *, at_key: bool = False) -> Problem:
        """A problem with the place of the value (or of its key) at that path, or of the nearest map around it."""
        place = self.keys.get(path) if at_key else None
        around = (self.values.get(path[:length]) for length in range(len(path), -1, -1))
        place = place or next(filter(None, around), self.source)
        return Problem(place=place, path=spelled(path), message=message, remedy=remedy)


def spelled(path: Path) -> str:
    """The path as people write it: `windows[0].cron`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def read_tree(text: str, source: str) -> Tree:
    """The one document in the text; faults of its YAML are `problems` of the tree."""
    reader = _Reader(source)
    try:
        node = yaml.compose(text, Loader=_Yaml12)
        if node is None:
            return Tree(source=source, problems=(_nothing(source, "is empty"),))
        value = reader.read(node, ())
    except yaml.YAMLError as error:
        return Tree(source=source, problems=(syntax_problem(error, text, source),))
    except RecursionError:
        return Tree(source=source, problems=(_nothing(source, "is nested without end"),))
    return Tree(source=source, value=value, problems=tuple(reader.problems), values=reader.values, keys=reader.keys)


def _nothing(source: str, message: str) -> Problem:
    return Problem(place=source, path="", message=message, remedy="See docs/configuration.md for an example.")


class _Yaml12(yaml.SafeLoader):
    """Resolves plain scalars as YAML 1.2's core schema does; octal, hexadecimal and huge numbers stay text."""


_Yaml12.yaml_implicit_resolvers = {}
for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(0|[1-9][0-9]{0,8})", list("-+0123456789")),
    ("float", r"[-+]?[0-9]{1,9}\.[0-9]{1,9}", list("-+0123456789")),
):
    _Yaml12.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_pattern})\Z"), _first)


class _Reader:
    """Walks the nodes once, noting places and collecting problems."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._read = 0
        self.problems: list[Problem] = []
        self.values: dict[Path, str] = {}
        self.keys: dict[Path, str] = {}

    def read(self, node: yaml.Node, path: Path) -> object:
        self._read += 1
        if self._read > _MOST_VALUES:
            raise yaml.MarkedYAMLError(problem="has too many values (aliases count too)", problem_mark=node.start_mark)
        self.values[path] = self._place(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.read(item, (*path, index)) for index, item in enumerate(node.value))
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = _text(key_node) if isinstance(key_node, yaml.ScalarNode) else "?"
            where = (*path, key)
            if key in found:
                remedy = f"Keep one of them; the first is at {self.keys[where]}."
                self._problem(key_node, where, "stands twice", remedy)
                continue
            self.keys[where] = self._place(key_node)
            found[key] = self.read(value_node, where)
        return found

    def _scalar(self, node: yaml.Node, path: Path) -> object:
        text = _text(node)
        match str(node.tag).removeprefix(_TAG):
            case "str":
                return text
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "null":
                self._problem(node, path, "has no value", _NO_VALUE)
            case _:
                self._problem(node, path, f"has the tag {node.tag}, which means nothing here", "Take the tag out.")
        return None

    def _problem(self, node: yaml.Node, path: Path, message: str, remedy: str) -> None:
        self.problems.append(Problem(place=self._place(node), path=spelled(path), message=message, remedy=remedy))

    def _place(self, node: yaml.Node) -> str:
        return f"{self._source}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def _text(node: yaml.Node) -> str:
    """The scalar's text; two escapes that make one character, as JSON writes them, are joined."""
    return str(node.value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
