"""What the server says about itself: version, health, groups and resources."""

from __future__ import annotations

from driftgate.sim.kinds import KINDS, Kind
from driftgate.sim.objects import JsonDict

VERSION: JsonDict = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.3",
    "gitCommit": "simulated",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "go1.26.8",
    "compiler": "gc",
    "platform": "linux/amd64",
}


def discovery(path: str) -> JsonDict | str | None:
    """The answer for a path of discovery or health, None for any other."""
    path = path.rstrip("/")
    if path in ("/healthz", "/readyz", "/livez"):
        return "ok"
    if path == "/version":
        return VERSION
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    if path == "/apis":
        groups = [_group(group) for group in _groups()]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    for group in _groups():
        if path == f"/apis/{group}":
            return {"kind": "APIGroup", "apiVersion": "v1"} | _group(group)
    served = [kind for kind in KINDS if kind.root == path]
    return _resources(served) if served else None


def _groups() -> list[str]:
    return sorted({kind.group for kind in KINDS if kind.group})


def _group(name: str) -> JsonDict:
    version: JsonDict = {"groupVersion": f"{name}/v1", "version": "v1"}
    return {"name": name, "versions": [version], "preferredVersion": version}


def _resources(kinds: list[Kind]) -> JsonDict:
    listed: list[JsonDict] = []
    for kind in kinds:
        listed.append(_resource(kind, kind.plural, list(kind.verbs)) | {"singularName": kind.kind.lower()})
        if kind.has_status:
            listed.append(_resource(kind, f"{kind.plural}/status", ["get", "patch", "update"]))
    head: JsonDict = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": kinds[0].api_version}
    return head | {"resources": listed}


def _resource(kind: Kind, name: str, verbs: list[str]) -> JsonDict:
    return {"name": name, "singularName": "", "namespaced": kind.namespaced, "kind": kind.kind, "verbs": verbs}
