"""Templates with something broken in them, each by one small change."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from infra.local.template.document import Template

Change = Callable[[dict[str, Any]], None]


def changed(template: Template, type_: str, change: Change, where: str = "") -> Template:
    """The template with the properties of every resource of this type changed; `where` is a part of its logical id.

    Raises LookupError where that changes nothing: such a test could not fail.
    """
    resources = {
        name: replace(found, properties=_changed(found.properties, change))
        if found.type == type_ and where in name
        else found
        for name, found in template.resources.items()
    }
    if resources == template.resources:
        raise LookupError(f"no {type_} {where!r} was changed")
    return replace(template, resources=resources)


def _changed(properties: Mapping[str, Any], change: Change) -> dict[str, Any]:
    copied = copy.deepcopy(dict(properties))
    change(copied)
    return copied


def without(template: Template, type_: str, where: str = "") -> Template:
    """The template without the resources of this type."""
    kept = {name: found for name, found in template.resources.items() if found.type != type_ or where not in name}
    if len(kept) == len(template.resources):
        raise LookupError(f"there is no {type_} {where!r}")
    return replace(template, resources=kept)


def without_action(action: str) -> Change:
    """Takes an action out of a role's policies."""

    def change(properties: dict[str, Any]) -> None:
        for policy in properties.get("Policies", ()):
            document = policy["PolicyDocument"]
            for statement in document["Statement"]:
                actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
                statement["Action"] = [found for found in actions if found != action]
            document["Statement"] = [statement for statement in document["Statement"] if statement["Action"]]

    return change
