"""Creates a template's resources in their order, and gives what was made.

A type that is not known is refused by its name: what is not created here must stand in `NOTHING_TO_CREATE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from infra.local.cloud.server import ACCOUNT, REGION, CloudServer
from infra.local.template import events, functions, messages, outside, security, storing
from infra.local.template.document import Resource, Template, TemplateError
from infra.local.template.intrinsics import Physical, Resolver, references
from infra.local.template.making import Creator, Making

CREATORS: Mapping[str, Creator] = {
    **messages.CREATORS,
    **events.CREATORS,
    **security.CREATORS,
    **storing.CREATORS,
    **functions.CREATORS,
    **outside.CREATORS,
}

NOTHING_TO_CREATE = frozenset({"AWS::CDK::Metadata"})
"""Types that say nothing to any service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """A resource as it was created: its properties with everything resolved."""

    logical_id: str
    type: str
    properties: Mapping[str, Any]
    physical: Physical

    @property
    def arn(self) -> str:
        return self.physical.attributes["Arn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Everything that was created, by logical id."""

    name: str
    resources: Mapping[str, Deployed]

    def of_type(self, *types: str) -> tuple[Deployed, ...]:
        return tuple(found for found in self.resources.values() if found.type in types)

    def by_ref(self, type_: str, ref: str) -> Deployed:
        """The resource of this type whose `Ref` (or ARN) this is. Raises TemplateError."""
        for found in self.of_type(type_):
            if ref in (found.physical.ref, found.physical.attributes.get("Arn")):
                return found
        raise TemplateError(f"{ref} is no {type_} of this template")


def load(template: Template, cloud: CloudServer, stack: str, parameters: Mapping[str, str] | None = None) -> Stack:
    """The stack, with everything in it created. Raises TemplateError, and what a service refuses."""
    resolver = Resolver(template, _pseudo(stack), parameters or {})
    wanted = {
        name: resource
        for name, resource in template.resources.items()
        if resource.type not in NOTHING_TO_CREATE and (not resource.condition or resolver.holds(resource.condition))
    }
    made: dict[str, Deployed] = {}
    for resource in _in_order(wanted):
        made[resource.logical_id] = _deployed(resource, resolver, cloud, stack)
    return Stack(name=stack, resources=made)


def _pseudo(stack: str) -> dict[str, str]:
    return {
        "AWS::AccountId": ACCOUNT,
        "AWS::Partition": "aws",
        "AWS::Region": REGION,
        "AWS::StackName": stack,
        "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{stack}/local",
        "AWS::URLSuffix": "amazonaws.com",
    }


def _in_order(wanted: Mapping[str, Resource]) -> Iterator[Resource]:
    graph = {name: set(_needed(resource)) & set(wanted) for name, resource in wanted.items()}
    try:
        yield from (wanted[name] for name in TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise TemplateError(f"resources refer to each other in a circle: {' → '.join(error.args[1])}") from error


def _needed(resource: Resource) -> Iterable[str]:
    yield from resource.depends_on
    yield from references(resource.properties)


def _deployed(resource: Resource, resolver: Resolver, cloud: CloudServer, stack: str) -> Deployed:
    creator = outside.custom if resource.type.startswith("Custom::") else CREATORS.get(resource.type)
    if creator is None:
        raise TemplateError(f"{resource.logical_id}: the type {resource.type} is not known to the loader")
    try:
        properties = resolver.value(resource.properties)
    except TemplateError as error:
        raise TemplateError(f"{resource.logical_id}: {error}") from error
    physical = creator(
        Making(cloud=cloud, stack=stack, logical_id=resource.logical_id, type=resource.type, properties=properties)
    )
    resolver.made[resource.logical_id] = physical
    return Deployed(logical_id=resource.logical_id, type=resource.type, properties=properties, physical=physical)
