"""A YAML or JSON stream as documents, each with the line where it begins.

Times stay text, so that quoted and bare ones are the same; a key given twice is refused, because one of the two
would be lost silently. Knows nothing of what the documents mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from driftgate.domain.errors import InvalidInputError

_SEPARATOR = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_BLANK = " \t\r\n"
"""What YAML takes for blank: other white space may be somebody's text."""

_COMMENT = re.compile(r"^\s*(#.*)?$")
_Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Document:
    """One document; `place` names file, document and first line (both count from 1)."""

    place: str
    value: object


def read_documents(text: str, source: str) -> tuple[Document, ...]:
    """Every document that is not empty.

    Raises:
        InvalidInputError: one is neither YAML nor JSON, or gives a key twice; with its line.
    """
    found = []
    for number, (line, part) in enumerate(_parts(text), start=1):
        place = f"{source}, document {number} (line {line})"
        value = _read(part, line, source)
        if value is not None:
            found.append(Document(place, value))
    return tuple(found)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Text between separators with its first line, leaving out what holds nothing but comments.

    A separator at the start of a line ends a document wherever it stands, in quotes too (YAML 1.2, section 9.1).
    """
    starts = [0, *(found.end() for found in _SEPARATOR.finditer(text))]
    ends = [*(found.start() for found in _SEPARATOR.finditer(text)), len(text)]
    line, counted = 1, 0
    for start, end in zip(starts, ends, strict=True):
        part = text[start:end]
        if all(_COMMENT.match(row) for row in part.splitlines()):
            continue
        first = start + len(part) - len(part.lstrip(_BLANK))
        line += text.count("\n", counted, first)
        counted = first
        yield line, part.strip(_BLANK)


def _read(part: str, line: int, source: str) -> object:
    if part.startswith(("{", "[")):
        try:
            return json.loads(part, object_pairs_hook=_object)
        except json.JSONDecodeError:
            pass  # a flow mapping of YAML also begins so
        except _RepeatedKeyError as error:
            raise _repeated(error.key, f"{source}, line {line}") from error
        except (ValueError, RecursionError) as error:
            raise _unreadable(str(error), f"{source}, line {line}") from error
    return _read_yaml(part, line, source)


def _read_yaml(part: str, line: int, source: str) -> object:
    try:
        return yaml.load(part, Loader=_Loader)
    except _RepeatedKeyError as error:
        raise _repeated(error.key, f"{source}, line {line + error.line}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{source}, line {line + mark.line}" if mark is not None else source
        raise _unreadable(str(error.problem or error.context), place) from error
    except yaml.YAMLError as error:
        raise _unreadable(str(error).splitlines()[0], f"{source}, line {line}") from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise _unreadable(str(error), f"{source}, line {line}") from error


def _unreadable(problem: str, place: str) -> InvalidInputError:
    return InvalidInputError(
        f"this is neither YAML nor JSON: {problem}", place=place, remedy="Correct it, or write the snapshot again."
    )


class _RepeatedKeyError(Exception):
    def __init__(self, key: str, line: int = 0) -> None:
        super().__init__(key)
        self.key = key
        self.line = line


def _repeated(key: str, place: str) -> InvalidInputError:
    return InvalidInputError(f"{key} is given twice", place=place, remedy="Keep one of the two.")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return entries


class _Loader(_Base):  # type: ignore[misc, valid-type]
    """The safe loader, with times left as text and repeated keys refused."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the attribute that PyYAML looks up
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen and key.value != "<<":
                raise _RepeatedKeyError(str(key.value), key.start_mark.line)
            seen.add(key.value if isinstance(key.value, str) else id(key))
        constructed: dict[object, object] = super().construct_mapping(node, deep=deep)
        return constructed
