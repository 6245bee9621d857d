"""What the CRDs of Karpenter fill in, drop and refuse, in the real server's words.

Only the parts of a NodePool that concern disruption are held to their schema; a NodeClaim's spec is immutable.
Source: karpenter v1.14.1, karpenter.sh_nodepools.yaml; answers recorded from kube-apiserver v1.36.3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from driftgate.domain.jsonvalue import child, items, mapping
from driftgate.sim.jsonpatch import same
from driftgate.sim.kinds import NODECLAIMS, NODEPOOLS, Kind
from driftgate.sim.objects import JsonDict, name_of, section
from driftgate.sim.status import invalid

REASONS = ("Underutilized", "Empty", "Drifted")
POLICIES = ("WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced")
BUDGET_FIELDS = ("nodes", "reasons", "schedule", "duration")
DISRUPTION_FIELDS = ("budgets", "consolidateAfter", "consolidationPolicy")
MAX_ITEMS = 50
_PATTERNS = {
    "nodes": r"^((100|[0-9]{1,2})%|[0-9]+)$",
    "schedule": r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$",
    "duration": r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$",
    "consolidateAfter": r"^(([0-9]+(s|m|h))+|Never)$",
}
_PLACE = "spec.disruption"
_BLOCKING = {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooMany", "FieldValueTypeInvalid"}
_NOT_CHECKED = (
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


def admit(kind: Kind, before: JsonDict | None, after: JsonDict) -> list[str]:
    """Prunes and fills in `after`, in place; gives the names of the fields that were dropped.

    Raises ApiError 422 with every cause where it is not valid.
    """
    if kind is NODECLAIMS and before is not None and not same(before.get("spec"), after.get("spec")):
        raise invalid(kind, name_of(after), [_cause("Invalid", "spec", "Invalid value: spec is immutable")])
    if kind is not NODEPOOLS:
        return []
    dropped = _prune(after)
    _fill_in(after)
    causes = list(_disruption_causes(child(after, "spec", "disruption")))
    if any(cause["reason"] in _BLOCKING for cause in causes):
        causes.append(_cause("Invalid", "<nil>", _NOT_CHECKED))
    elif not causes:
        causes = list(_pairing_causes(child(after, "spec", "disruption").get("budgets")))
    if causes:
        raise invalid(kind, name_of(after), causes)
    return dropped


def _prune(pool: JsonDict) -> list[str]:
    disruption = mapping(pool.get("spec")).get("disruption")
    if not isinstance(disruption, dict):
        return []
    dropped = [f"{_PLACE}.{key}" for key in disruption if key not in DISRUPTION_FIELDS]
    for key in [key for key in disruption if key not in DISRUPTION_FIELDS]:
        del disruption[key]
    for index, budget in enumerate(items(disruption.get("budgets"))):
        if isinstance(budget, dict):
            for key in [key for key in budget if key not in BUDGET_FIELDS]:
                del budget[key]
                dropped.append(f"{_PLACE}.budgets[{index}].{key}")
    return dropped


def _fill_in(pool: JsonDict) -> None:
    """Null and absent are the same for a field that has a default."""
    spec = section(pool, "spec")
    if spec.get("disruption") is None:
        spec["disruption"] = {"consolidateAfter": "0s"}
    disruption = spec["disruption"]
    if not isinstance(disruption, dict):
        return
    if disruption.get("budgets") is None:
        disruption["budgets"] = [{}]
    if disruption.get("consolidationPolicy") is None:
        disruption["consolidationPolicy"] = "WhenEmptyOrUnderutilized"
    for budget in items(disruption["budgets"]):
        if isinstance(budget, dict) and budget.get("nodes") is None:
            budget["nodes"] = "10%"
    template = mapping(mapping(spec.get("template")).get("spec"))
    if isinstance(template, dict):
        template.setdefault("expireAfter", "720h")


def _disruption_causes(disruption: object) -> Iterator[JsonDict]:
    entry = mapping(disruption)
    yield from _budgets_causes(entry.get("budgets"))
    if "consolidateAfter" not in entry:
        yield _cause("Required", f"{_PLACE}.consolidateAfter", "Required value")
    else:
        yield from _string_causes(f"{_PLACE}.consolidateAfter", "consolidateAfter", entry["consolidateAfter"])
    policy = entry.get("consolidationPolicy")
    if policy not in POLICIES:
        yield _unsupported(f"{_PLACE}.consolidationPolicy", policy, POLICIES)


def _budgets_causes(budgets: object) -> Iterator[JsonDict]:
    place = f"{_PLACE}.budgets"
    if not isinstance(budgets, list):
        yield _wrong_type(place, "array", budgets)
        return
    if len(budgets) > MAX_ITEMS:
        yield _too_many(place, len(budgets))
    for index, budget in enumerate(budgets):
        yield from _budget_causes(f"{place}[{index}]", budget)


def _budget_causes(place: str, budget: object) -> Iterator[JsonDict]:
    if not isinstance(budget, dict):
        yield _wrong_type(place, "object", budget)
        return
    for key in ("duration", "nodes", "reasons", "schedule"):
        if key not in budget:
            continue
        if key == "reasons":
            yield from _reasons_causes(f"{place}.reasons", budget[key])
        else:
            yield from _string_causes(f"{place}.{key}", key, budget[key])


def _reasons_causes(place: str, reasons: object) -> Iterator[JsonDict]:
    if not isinstance(reasons, list):
        yield _wrong_type(place, "array", reasons)
        return
    if len(reasons) > MAX_ITEMS:
        yield _too_many(place, len(reasons))
    for index, reason in enumerate(reasons):
        if reason not in REASONS:
            yield _unsupported(f"{place}[{index}]", reason, REASONS)
        elif reason in reasons[:index]:
            yield _cause("Duplicate", f"{place}[{index}]", f'Duplicate value: "{reason}"')


def _string_causes(place: str, key: str, value: object) -> Iterator[JsonDict]:
    if not isinstance(value, str):
        yield _wrong_type(place, "string", value)
    elif not re.search(_PATTERNS[key], value):
        shown = json.dumps(value, ensure_ascii=False)
        message = f"Invalid value: {shown}: {place} in body should match '{_PATTERNS[key]}'"
        yield _cause("Invalid", place, message)


def _pairing_causes(budgets: object) -> Iterator[JsonDict]:
    if any(("schedule" in mapping(entry)) != ("duration" in mapping(entry)) for entry in items(budgets)):
        message = "Invalid value: 'schedule' must be set with 'duration'"
        yield _cause("Invalid", f"{_PLACE}.budgets", message)


def _cause(reason: str, place: str, message: str) -> JsonDict:
    return {"reason": f"FieldValue{reason}", "message": message, "field": place}


def _wrong_type(place: str, wanted: str, value: object) -> JsonDict:
    found = _TYPES.get(type(value), "object")
    message = f'Invalid value: "{found}": {place} in body must be of type {wanted}: "{found}"'
    return _cause("TypeInvalid", place, message)


_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    type(None): "null",
}


def _unsupported(place: str, value: object, supported: tuple[str, ...]) -> JsonDict:
    allowed = ", ".join(f'"{entry}"' for entry in supported)
    message = f"Unsupported value: {json.dumps(value)}: supported values: {allowed}"
    return _cause("NotSupported", place, message)


def _too_many(place: str, found: int) -> JsonDict:
    return _cause("TooMany", place, f"Too many: {found}: must have at most {MAX_ITEMS} items")
