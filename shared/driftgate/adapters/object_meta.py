"""The parts that every Kubernetes object shares, read with little memory.

Thousands of Nodes and Pods repeat the same labels and condition texts: strings are interned, and equal small
maps become one. Must not judge anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from sys import intern

from driftgate.domain.conditions import Condition
from driftgate.domain.jsonvalue import child, instant, items, mapping, strings, text

JUDGED_ANNOTATIONS = ("karpenter.sh/do-not-", "karpenter.sh/nodeclaim-termination-timestamp", "driftgate.dev/")


def name_of(raw: object) -> str:
    return word(child(raw, "metadata").get("name"))


def namespace_of(raw: object) -> str:
    return word(child(raw, "metadata").get("namespace"))


def uid_of(raw: object) -> str:
    return text(child(raw, "metadata").get("uid")) or ""


def created_at(raw: object) -> datetime | None:
    return instant(child(raw, "metadata").get("creationTimestamp"))


def deleted_at(raw: object) -> datetime | None:
    return instant(child(raw, "metadata").get("deletionTimestamp"))


def labels_of(raw: object) -> Mapping[str, str]:
    """The labels; equal sets of labels are one object, so treat it as read-only."""
    return shared_strings(child(raw, "metadata").get("labels"))


def judged_annotations(raw: object) -> Mapping[str, str]:
    """The annotations that Karpenter or driftgate act on; others can be large and are dropped."""
    found = strings(child(raw, "metadata").get("annotations"))
    return shared_strings({key: value for key, value in found.items() if key.startswith(JUDGED_ANNOTATIONS)})


def owners_of(raw: object) -> list[tuple[str, str, bool]]:
    """Kind, name and whether it is the controller, for each owner."""
    references = map(mapping, items(child(raw, "metadata").get("ownerReferences")))
    return [(word(ref.get("kind")), word(ref.get("name")), ref.get("controller") is True) for ref in references]


def conditions_of(raw: object) -> dict[str, Condition]:
    """The status conditions by type; the last of a type counts."""
    found = map(mapping, items(child(raw, "status").get("conditions")))
    return {word(entry.get("type")): _condition(entry) for entry in found if text(entry.get("type"))}


def condition_of(raw: object, kind: str) -> Condition | None:
    """One status condition, without reading the others."""
    for entry in map(mapping, items(child(raw, "status").get("conditions"))):
        if entry.get("type") == kind:
            return _condition(entry)
    return None


def _condition(entry: Mapping[str, object]) -> Condition:
    since = entry.get("lastTransitionTime")
    return _shared_condition(
        word(entry.get("status")),
        word(entry.get("reason")),
        word(entry.get("message")),
        since if isinstance(since, str | datetime) else "",
    )


@lru_cache(maxsize=4096)
def _shared_condition(status: str, reason: str, message: str, since: str | datetime) -> Condition:
    return Condition(status=status, reason=reason, message=message, since=instant(since))


def word(value: object) -> str:
    """The text, interned; "" where it is none."""
    return intern(value) if type(value) is str else (text(value) or "")


def shared_strings(value: object) -> Mapping[str, str]:
    """The string entries of a map, as one object per content."""
    return _shared_map(
        tuple((word(key), word(entry)) for key, entry in mapping(value).items() if isinstance(entry, str))
    )


@lru_cache(maxsize=8192)
def _shared_map(entries: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return dict(entries)


def quantities(value: object) -> Mapping[str, str]:
    """A resource map with every quantity as text: a hand-written file may say `nodes: 3`."""
    found = {key: str(entry) for key, entry in mapping(value).items() if _is_quantity(entry)}
    return shared_strings(found)


def number_or_percent(value: object) -> str | None:
    """An IntOrString as text, None where it is absent."""
    return str(value) if _is_quantity(value) else None


def _is_quantity(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
