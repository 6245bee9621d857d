"""What a rule's target gets: the event, a part of it, or a text with parts of it.

Source: aws docs, eventbridge/latest/userguide/eb-transform-target-input (2026).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from infra.local.template.document import TemplateError

_HOLE = re.compile(r"<([A-Za-z0-9_.-]+)>")
_NOT_THERE = object()


def input_of(target: Mapping[str, Any], event: Mapping[str, Any]) -> Any:
    """The payload, as the JSON that the target receives. Raises TemplateError for a path that is not understood."""
    if "Input" in target:
        return json.loads(target["Input"])
    if "InputPath" in target:
        return at_path(event, target["InputPath"])
    if "InputTransformer" in target:
        return _transformed(target["InputTransformer"], event)
    return event


def at_path(event: Any, path: str) -> Any:
    """What stands at `$.detail.name`; None where nothing does."""
    if path != "$" and not re.fullmatch(r"\$(\.[A-Za-z0-9_-]+)+", path):
        raise TemplateError(f"the path {path} is not understood here")
    found = event
    for name in path.split(".")[1:]:
        found = found.get(name, _NOT_THERE) if isinstance(found, Mapping) else _NOT_THERE
        if found is _NOT_THERE:
            return None
    return found


def _transformed(transformer: Mapping[str, Any], event: Mapping[str, Any]) -> Any:
    values = {name: at_path(event, path) for name, path in transformer.get("InputPathsMap", {}).items()}
    values |= {"aws.events.event.json": event, "aws.events.event": event}

    def filled(hole: re.Match[str]) -> str:
        value = values.get(hole.group(1))
        is_quoted = _is_within_quotes(hole.string, hole.start())
        text = value if isinstance(value, str) else json.dumps(value)
        return json.dumps(text)[1:-1] if is_quoted else json.dumps(value)

    text = _HOLE.sub(filled, transformer["InputTemplate"])
    try:
        return json.loads(text)
    except ValueError as error:
        raise TemplateError(f"the input template does not give JSON: {text}") from error


def _is_within_quotes(text: str, position: int) -> bool:
    """Whether an odd number of quotes stands before it."""
    before = text[:position].replace("\\\\", "").replace('\\"', "")
    return before.count('"') % 2 == 1
