"""A CloudFormation template as values. What is in it and not understood here is refused, never skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SECTIONS = frozenset(
    {
        "AWSTemplateFormatVersion",
        "Description",
        "Metadata",
        "Parameters",
        "Rules",
        "Mappings",
        "Conditions",
        "Resources",
        "Outputs",
    }
)
PARTS = frozenset(
    {
        "Type",
        "Properties",
        "Condition",
        "DependsOn",
        "DeletionPolicy",
        "UpdateReplacePolicy",
        "Metadata",
    }
)


class TemplateError(Exception):
    """The template says something that cannot be done on this machine, and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource as written. `condition` "" : it is always there."""

    logical_id: str
    type: str
    properties: Mapping[str, Any]
    condition: str = ""
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The parts that matter when a stack is made. Of a parameter its default counts; None: it has none."""

    resources: Mapping[str, Resource]
    parameters: Mapping[str, str | None] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    mappings: Mapping[str, Any] = field(default_factory=dict)


def template_from_object(found: Mapping[str, Any]) -> Template:
    """The template. Raises TemplateError."""
    _refuse_unknown("the template", set(found) - SECTIONS)
    return Template(
        resources={name: _resource(name, entry) for name, entry in found["Resources"].items()},
        parameters={name: entry.get("Default") for name, entry in found.get("Parameters", {}).items()},
        conditions=found.get("Conditions", {}),
        mappings=found.get("Mappings", {}),
    )


def _resource(name: str, entry: Mapping[str, Any]) -> Resource:
    _refuse_unknown(name, set(entry) - PARTS)
    depends_on = entry.get("DependsOn", [])
    return Resource(
        logical_id=name,
        type=entry["Type"],
        properties=entry.get("Properties", {}),
        condition=entry.get("Condition", ""),
        depends_on=(depends_on,) if isinstance(depends_on, str) else tuple(depends_on),
    )


def _refuse_unknown(where: str, unknown: set[str]) -> None:
    if unknown:
        raise TemplateError(f"{where}: {', '.join(sorted(unknown))} is not understood here")
