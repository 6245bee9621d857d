"""`metadata.managedFields`: who wrote which field last, as the API server keeps it for updates and patches.

Lists are taken as atomic (budgets are), but for finalizers, which the server tracks one by one.
Source: sigs.k8s.io/structured-merge-diff; entries recorded from kube-apiserver v1.36.3.
"""

from __future__ import annotations

from datetime import datetime

from driftgate.domain.jsonvalue import items, mapping
from driftgate.sim.kinds import Kind
from driftgate.sim.objects import JsonDict, k8s_time, section

Path = tuple[str, ...]
Leaves = dict[Path, object]

_OWN = frozenset({"apiVersion", "kind"})
_APART = _OWN | {"metadata", "status"}
_OWN_METADATA = frozenset(
    {
        "name",
        "namespace",
        "generateName",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
    }
)
_MAP = "."


def track_new(kind: Kind, obj: JsonDict, manager: str, status_manager: str, at: datetime) -> None:
    """Writes the managedFields of a new object: all is the manager's, the status somebody else's or its own."""
    written = k8s_time(at)
    entries = [_entry(kind, manager, "", _all_fields(obj), written)]
    if "status" in obj:
        status: JsonDict = {"f:status": _below("", obj["status"])}
        entries.append(_entry(kind, status_manager, "status", status, written))
    entries.sort(key=lambda entry: str(entry["manager"]))
    section(obj, "metadata")["managedFields"] = [entry for entry in entries if entry["fieldsV1"]]


def track(kind: Kind, before: JsonDict, after: JsonDict, manager: str, subresource: str, at: datetime) -> None:
    """Writes `after`'s managedFields: what changed belongs to the manager from now on, what left to nobody."""
    old, new = _leaves(before), _leaves(after)
    changed = {path for path, value in new.items() if path not in old or old[path] != value}
    gone = old.keys() - new.keys()
    if not changed and not gone:
        return
    entries = [_without(mapping(entry), changed | gone) for entry in items(_managed(before))]
    mine = _entry_of(entries, kind, manager, subresource)
    if changed:
        _merge(section(mine, "fieldsV1"), changed)
        mine["time"] = k8s_time(at)
    kept = [entry for entry in [e for e in entries if e is not mine] + [mine] if entry["fieldsV1"]]
    kept.sort(key=lambda entry: (str(entry["time"]), str(entry["manager"])))
    section(after, "metadata")["managedFields"] = kept


def _managed(obj: JsonDict) -> object:
    return mapping(obj.get("metadata")).get("managedFields")


def _entry_of(entries: list[JsonDict], kind: Kind, manager: str, subresource: str) -> JsonDict:
    for entry in entries:
        if entry["manager"] == manager and entry.get("subresource", "") == subresource:
            return entry
    return _entry(kind, manager, subresource, {}, "")


def _entry(kind: Kind, manager: str, subresource: str, fields: JsonDict, at: str) -> JsonDict:
    entry: JsonDict = {"apiVersion": kind.api_version, "fieldsType": "FieldsV1", "fieldsV1": fields}
    entry |= {"manager": manager, "operation": "Update", "time": at}
    return entry | ({"subresource": subresource} if subresource else {})


def _all_fields(obj: JsonDict) -> JsonDict:
    """Every field of a new object but its status, as one owner's."""
    shown: JsonDict = {}
    metadata = {f"f:{k}": _below(k, v) for k, v in mapping(obj.get("metadata")).items() if k not in _OWN_METADATA}
    if metadata:
        shown["f:metadata"] = metadata
    shown |= {f"f:{k}": _below(k, v) for k, v in obj.items() if k not in _APART}
    return shown


def _below(name: str, value: object) -> JsonDict:
    shown: JsonDict = {}
    if name == "finalizers":
        shown[_MAP] = {}
        shown |= {f'v:"{entry}"': {} for entry in items(value)}
    elif isinstance(value, dict):
        shown[_MAP] = {}
        for key, entry in value.items():
            shown[f"f:{key}"] = _below("", entry)
    return shown


def _leaves(obj: JsonDict) -> Leaves:
    found: Leaves = {}
    for key, value in obj.items():
        if key == "metadata":
            for name, entry in mapping(value).items():
                if name not in _OWN_METADATA:
                    _collect((key, name), entry, found)
        elif key not in _OWN:
            _collect((key,), value, found)
    return found


def _collect(path: Path, value: object, found: Leaves) -> None:
    if isinstance(value, dict):
        found[(*path, _MAP)] = None
        for key, entry in value.items():
            _collect((*path, key), entry, found)
    elif path == ("metadata", "finalizers"):
        found[(*path, _MAP)] = None
        found.update({(*path, f'v:"{entry}"'): None for entry in items(value)})
    else:
        found[path] = value


def _names(path: Path) -> list[str]:
    return [part if part == _MAP or part.startswith("v:") else f"f:{part}" for part in path]


def _merge(fields: JsonDict, paths: set[Path]) -> None:
    for path in sorted(paths):
        section(fields, *_names(path))


def _without(entry: object, paths: set[Path]) -> JsonDict:
    kept = dict(mapping(entry))
    kept["fieldsV1"] = _pruned(kept.get("fieldsV1"), {tuple(_names(path)) for path in paths}, ())
    return kept


def _pruned(fields: object, paths: set[Path], at: Path) -> JsonDict:
    kept: JsonDict = {}
    for key, below in mapping(fields).items():
        if not below and (*at, key) in paths:
            continue
        left = _pruned(below, paths, (*at, key))
        if left or not below:
            kept[key] = left
    return kept
