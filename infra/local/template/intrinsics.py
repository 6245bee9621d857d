"""CloudFormation's functions, as far as a template of ours may use them; any other is refused by its name.

Source: aws docs, CloudFormation intrinsic function reference (2026).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from infra.local.template.document import Template, TemplateError

_HOLE = re.compile(r"\$\{(!?)([^}]+)\}")
_DYNAMIC = "{{resolve:"


class _NoValue:
    """What `AWS::NoValue` gives: the property is not there."""


NO_VALUE = _NoValue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Physical:
    """A resource that was created: what `Ref` gives, and what `Fn::GetAtt` does."""

    ref: str
    attributes: Mapping[str, str] = field(default_factory=dict)


class Resolver:
    """Puts values in the place of functions. `made` fills as resources are created."""

    def __init__(self, template: Template, pseudo: Mapping[str, str], parameters: Mapping[str, str]) -> None:
        self._template = template
        self._pseudo = pseudo
        self._parameters = parameters
        self.made: dict[str, Physical] = {}
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._attribute,
            "Fn::Join": lambda given: str(given[0]).join(map(str, self.value(given[1]))),
            "Fn::Sub": self._sub,
            "Fn::Select": lambda given: self.value(given[1])[int(self.value(given[0]))],
            "Fn::Split": lambda given: str(self.value(given[1])).split(given[0]),
            "Fn::If": lambda given: self.value(given[1] if self.holds(given[0]) else given[2]),
            "Fn::FindInMap": self._in_map,
            "Fn::Equals": lambda given: self.value(given[0]) == self.value(given[1]),
            "Fn::And": lambda given: all(map(self.value, given)),
            "Fn::Or": lambda given: any(map(self.value, given)),
            "Fn::Not": lambda given: not self.value(given[0]),
            "Condition": self.holds,
        }

    def holds(self, condition: str) -> bool:
        """Whether this condition of the template holds. Raises TemplateError."""
        if condition not in self._template.conditions:
            raise TemplateError(f"there is no condition {condition}")
        return bool(self.value(self._template.conditions[condition]))

    def value(self, found: Any) -> Any:
        """The value with everything in it resolved. Raises TemplateError."""
        function = function_in(found)
        if function is not None:
            return self._functions[function](found[function])
        if isinstance(found, Mapping):
            resolved = {key: self.value(entry) for key, entry in found.items()}
            return {key: entry for key, entry in resolved.items() if entry is not NO_VALUE}
        if isinstance(found, list):
            return [entry for entry in map(self.value, found) if entry is not NO_VALUE]
        if isinstance(found, str) and _DYNAMIC in found:
            raise TemplateError(f"the dynamic reference {found} is not resolved here")
        return found

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NO_VALUE
        if name in self._pseudo:
            return self._pseudo[name]
        if name in self._template.parameters:
            return self._parameter(name)
        return self._made(name).ref

    def _parameter(self, name: str) -> str:
        value = self._parameters.get(name, self._template.parameters[name])
        if value is None:
            raise TemplateError(f"the parameter {name} has no default: give it a value")
        return value

    def _made(self, name: str) -> Physical:
        if name not in self.made:
            raise TemplateError(f"{name} is referred to, and there is no such resource (or not yet)")
        return self.made[name]

    def _attribute(self, given: Any) -> str:
        name, attribute = given.split(".", 1) if isinstance(given, str) else given
        attributes = self._made(name).attributes
        if attribute not in attributes:
            raise TemplateError(f"{name}.{attribute} is not known here")
        return attributes[attribute]

    def _sub(self, given: Any) -> str:
        text, own = (given, {}) if isinstance(given, str) else (given[0], self.value(given[1]))

        def filled(hole: re.Match[str]) -> str:
            is_literal, name = hole.groups()
            if is_literal:
                return f"${{{name}}}"
            if name in own:
                return str(own[name])
            return str(self._attribute(name) if "." in name else self._ref(name))

        return _HOLE.sub(filled, text)

    def _in_map(self, given: Any) -> Any:
        name, first, second = map(self.value, given)
        return self._template.mappings[name][first][second]


def function_in(found: Any) -> str | None:
    """The function that this value is a call of, None for a plain value. Raises TemplateError for an unknown one."""
    if not isinstance(found, Mapping) or len(found) != 1:
        return None
    ((name, given),) = found.items()
    if name in _NAMES or (name == "Condition" and isinstance(given, str)):
        return str(name)
    if name.startswith("Fn::"):
        raise TemplateError(f"{name} is not resolved here")
    return None


_NAMES = frozenset(
    f"Fn::{name}"
    for name in ("GetAtt", "Join", "Sub", "Select", "Split", "If", "FindInMap", "Equals", "And", "Or", "Not")
) | {"Ref"}


def references(found: Any) -> Iterator[str]:
    """The names that a value refers to: resources, parameters and pseudo parameters."""
    function = function_in(found)
    if function == "Ref":
        yield found["Ref"]
    elif function == "Fn::GetAtt":
        given = found["Fn::GetAtt"]
        yield given.split(".", 1)[0] if isinstance(given, str) else given[0]
    elif function == "Fn::Sub":
        yield from _in_sub(found["Fn::Sub"])
    elif isinstance(found, Mapping):
        for entry in found.values():
            yield from references(entry)
    elif isinstance(found, list):
        for entry in found:
            yield from references(entry)


def _in_sub(given: Any) -> Iterator[str]:
    text, own = (given, {}) if isinstance(given, str) else given
    for is_literal, name in _HOLE.findall(text):
        if not is_literal and name not in own:
            yield name.split(".", 1)[0]
    yield from references(own)
