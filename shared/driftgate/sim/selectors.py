"""Label and field selectors, as list and watch take them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from driftgate.domain.jsonvalue import child
from driftgate.sim.kinds import PODS, Kind
from driftgate.sim.objects import JsonDict
from driftgate.sim.status import bad_request
from driftgate.sim.store import Stored

Matches = Callable[[Stored], bool]
LabelTest = Callable[[Mapping[str, str]], bool]

_SET = re.compile(r"^\s*(?P<key>[\w./-]+)\s+(?P<op>in|notin)\s*\((?P<values>[^)]*)\)\s*$")
_EQUAL = re.compile(r"^\s*(?P<key>[\w./-]+)\s*(?P<op>==|=|!=)\s*(?P<value>[\w./-]*)\s*$")
_EXISTS = re.compile(r"^\s*(?P<op>!?)\s*(?P<key>[\w./-]+)\s*$")
_COMMA = re.compile(r",(?![^(]*\))")


def selector(kind: Kind, labels: str, fields: str) -> Matches | None:
    """Whether an object is selected; None where everything is. Raises ApiError 400 for a broken selector."""
    tests = [_label_test(part) for part in _COMMA.split(labels) if part.strip()]
    wanted = [_field_test(kind, part) for part in fields.split(",") if part.strip()]
    if not tests and not wanted:
        return None
    return lambda stored: all(test(stored.labels) for test in tests) and all(test(stored.obj) for test in wanted)


def _label_test(part: str) -> LabelTest:
    if match := _SET.match(part):
        key, values = match["key"], {value.strip() for value in match["values"].split(",")}
        if match["op"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _EQUAL.match(part):
        key, value = match["key"], match["value"]
        if match["op"] == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _EXISTS.match(part):
        key, wanted = match["key"], not match["op"]
        return lambda labels: (key in labels) == wanted
    found = next(iter(re.findall(r"[=!()<>]+", part)), part.strip())
    raise bad_request(f"found '{found}', expected: !, identifier, or 'end of string'")


def _field_test(kind: Kind, part: str) -> Callable[[JsonDict], bool]:
    path, op, value = re.split(r"(==|!=|=)", part, maxsplit=1) if "=" in part else (part, "=", "")
    keys = path.strip().split(".")
    if path.strip() not in _supported(kind):
        raise bad_request(f"field label not supported: {path.strip()}")
    return lambda obj: (str(child(obj, *keys[:-1]).get(keys[-1], "")) == value) == (op != "!=")


def _supported(kind: Kind) -> set[str]:
    common = {"metadata.name"} | ({"metadata.namespace"} if kind.namespaced or kind.custom else set())
    return common | ({"spec.nodeName", "status.phase"} if kind is PODS else set())
