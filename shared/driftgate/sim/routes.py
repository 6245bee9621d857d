"""Paths of the API: which resource, which namespace, which object."""

from __future__ import annotations

from dataclasses import dataclass

from driftgate.sim.kinds import KINDS, Kind
from driftgate.sim.store import key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a path names. Empty parts are not named."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> str:
        return key_of(self.name, self.namespace)

    @property
    def resource(self) -> str:
        """`nodepools/status`, as rules and messages name it."""
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural


def route(path: str) -> Route | None:
    """The resource of the path, None where nothing is served."""
    for kind in KINDS:
        if path.startswith(f"{kind.root}/"):
            found = _within(kind, path[len(kind.root) + 1 :].strip("/").split("/"))
            if found is not None:
                return found
    return None


def _within(kind: Kind, parts: list[str]) -> Route | None:
    namespace = ""
    if kind.namespaced and len(parts) > 2 and parts[0] == "namespaces":
        namespace, parts = parts[1], parts[2:]
    if parts[0] != kind.plural or len(parts) > 3 or (kind.namespaced and not namespace and len(parts) > 1):
        return None
    name = parts[1] if len(parts) > 1 else ""
    subresource = parts[2] if len(parts) > 2 else ""
    if subresource not in ("", "status") or (subresource and not kind.has_status):
        return None
    return Route(kind=kind, namespace=namespace, name=name, subresource=subresource)
