"""Custom resources: CloudFormation asks a function as the stack is made and before it goes, and waits for answers.

Source: aws docs, AWSCloudFormation/latest/UserGuide/crpg-ref-requests and crpg-ref-responses (2026).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from infra.local.cloud.server import CloudServer
from infra.local.template.loading import Deployed, Stack
from infra.local.template.making import arn

Accept = Callable[[str, object], None]
CUSTOM = "Custom::"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a custom resource answered to a request of this kind (Create, Delete)."""

    resource: str
    kind: str
    status: str
    reason: str

    @property
    def is_refusal(self) -> bool:
        return self.status != "SUCCESS"

    def __str__(self) -> str:
        return f"{self.resource} answered {self.status} to {self.kind}: {self.reason}"


class CustomResources:
    """Those of a stack. `replies` come when the functions have run; `accept` hands an event to a function."""

    def __init__(self, stack: Stack, cloud: CloudServer, accept: Accept) -> None:
        self._stack = stack
        self._found = [found for found in stack.resources.values() if found.type.startswith(CUSTOM)]
        self._cloud = cloud
        self._accept = accept
        self.replies: list[Reply] = []

    def ask(self, kind: str) -> None:
        """Every one of them; the answer is awaited at an address that takes it once."""
        for found in self._found:
            request = str(uuid.uuid4())
            path = f"/cloudformation-answer/{request}"
            self._cloud.front.awaited[path] = self._take(found, kind)
            self._accept(found.properties["ServiceToken"], self._request(found, kind, request, path))

    def _take(self, found: Deployed, kind: str) -> Callable[[bytes], None]:
        def take(body: bytes) -> None:
            said: Mapping[str, Any] = json.loads(body)
            reply = Reply(resource=found.logical_id, kind=kind, status=said["Status"], reason=said["Reason"])
            self.replies.append(reply)

        return take

    def _request(self, found: Deployed, kind: str, request: str, path: str) -> dict[str, object]:
        asked: dict[str, object] = {
            "RequestType": kind,
            "ServiceToken": found.properties["ServiceToken"],
            "ResponseURL": f"{self._cloud.url}{path}",
            "StackId": arn("cloudformation", f"stack/{self._stack.name}/local"),
            "RequestId": request,
            "LogicalResourceId": found.logical_id,
            "ResourceType": found.type,
            "ResourceProperties": dict(found.properties),
        }
        return asked if kind == "Create" else asked | {"PhysicalResourceId": found.physical.ref}
