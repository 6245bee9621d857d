"""What a change set would do, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

REPLACED = {
    "AWS::DynamoDB::GlobalTable": "The ledger is replaced: what was rolled, stopped and judged stays in the old table, "
    "unseen. Stop here, and look why.",
    "AWS::SQS::Queue": "A queue is replaced: what waits in the old one is lost. Looks come again with the heartbeat.",
    "AWS::IAM::Role": "A role is replaced: EKS access entries that name it stop working, and must be made anew.",
}
_WARNING = "! "
_MARKS = {"Add": "+", "Modify": "~", "Remove": "-", "Import": "+", "Dynamic": "?"}
_REPLACEMENT = {"True": "is replaced", "Conditional": "may be replaced"}

Change = Mapping[str, Any]


def as_lines(changes: Iterable[Change]) -> list[str]:
    """One line per resource, sorted by kind of change and by type; what a replacement means comes last."""
    found = [change["ResourceChange"] for change in changes if change.get("Type") == "Resource"]
    found.sort(key=lambda each: (list(_MARKS).index(each["Action"]), each["ResourceType"], each["LogicalResourceId"]))
    return [*map(_line, found), *dict.fromkeys(_warnings(found))]


def is_harmless(lines: Iterable[str]) -> bool:
    """Whether nothing among them would be lost."""
    return not any(line.startswith(_WARNING) for line in lines)


def _line(change: Change) -> str:
    replacement = _REPLACEMENT.get(change.get("Replacement", ""), "")
    name = f"{_MARKS[change['Action']]} {change['ResourceType']} {change['LogicalResourceId']}"
    return f"{name} ({replacement})" if replacement else name


def _warnings(changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        if change.get("Replacement") == "True" and change["ResourceType"] in REPLACED:
            yield f"{_WARNING}{REPLACED[change['ResourceType']]}"
