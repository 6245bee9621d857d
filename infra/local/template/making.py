"""What a creator gets: one resource with its properties resolved, and the services to create it with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from infra.local.cloud.server import ACCOUNT, REGION, CloudServer
from infra.local.template.document import TemplateError
from infra.local.template.intrinsics import Physical

Tags = list[dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """`properties` are resolved: plain values alone."""

    cloud: CloudServer
    stack: str
    logical_id: str
    type: str
    properties: Mapping[str, Any]

    def client(self, service: str) -> Any:
        return self.cloud.client(service)

    def name(self, given: str | None, longest: int, suffix: str = "") -> str:
        """The name that was given, else one as CloudFormation makes them: stack, logical id and a digest."""
        if given is not None:
            return given
        digest = hashlib.sha256(f"{self.stack}/{self.logical_id}".encode()).hexdigest()[:12].upper()
        room = longest - len(suffix) - len(digest) - 1
        return f"{f'{self.stack}-{self.logical_id}'[:room]}-{digest}{suffix}"

    def only(self, *known: str) -> Mapping[str, Any]:
        """The properties, of which there are none but these. Raises TemplateError."""
        unknown = sorted(set(self.properties) - set(known))
        if unknown:
            raise TemplateError(f"{self.logical_id} ({self.type}): {', '.join(unknown)} is not understood here")
        return self.properties

    def without(self, *names: str) -> dict[str, Any]:
        """The properties but these."""
        return {key: value for key, value in self.properties.items() if key not in names}


Creator = Callable[[Making], Physical]


def arn(service: str, rest: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{rest}"


def as_json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def as_text(value: Any) -> str:
    """A property as an attribute of SQS and SNS: text, truths in small letters, structures as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, Mapping | list) else str(value)


def tags_as_map(tags: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in tags}
