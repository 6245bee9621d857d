"""Policy documents as values. What is written in one and not understood here is refused, never skipped.

Source: aws docs, IAM JSON policy elements reference (2026).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

KNOWN = frozenset({"Sid", "Effect", "Action", "Resource", "Principal", "Condition"})


class UnknownPolicyElementError(Exception):
    """A policy says something that is not evaluated on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement. `origin` is the resource of the template that it stands in.

    `principals` maps a kind (AWS, Service, or `*` for everybody) to names; None: an identity's policy, which has none.
    `conditions` maps an operator to keys and their values.
    """

    origin: str
    is_allow: bool
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    sid: str = ""
    principals: Mapping[str, tuple[str, ...]] | None = None
    conditions: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def statements_of(document: Mapping[str, Any], origin: str) -> tuple[Statement, ...]:
    """Every statement of a policy document. Raises UnknownPolicyElementError."""
    found: Any = document.get("Statement")
    entries = found if isinstance(found, list) else [found]
    return tuple(_statement(entry, origin) for entry in entries)


def _statement(entry: Mapping[str, Any], origin: str) -> Statement:
    unknown = sorted(set(entry) - KNOWN)
    if unknown:
        raise UnknownPolicyElementError(f"{origin}: {', '.join(unknown)} in a statement is not evaluated here")
    if entry.get("Effect") not in ("Allow", "Deny"):
        raise UnknownPolicyElementError(f"{origin}: Effect should be Allow or Deny, not {entry.get('Effect')!r}")
    return Statement(
        origin=origin,
        is_allow=entry["Effect"] == "Allow",
        actions=_texts(entry.get("Action"), origin),
        resources=_texts(entry.get("Resource", "*"), origin),
        sid=str(entry.get("Sid", "")),
        principals=_principals(entry["Principal"], origin) if "Principal" in entry else None,
        conditions={
            operator: {key: _texts(values, origin) for key, values in keys.items()}
            for operator, keys in entry.get("Condition", {}).items()
        },
    )


def _principals(found: Any, origin: str) -> dict[str, tuple[str, ...]]:
    if found == "*":
        return {"*": ("*",)}
    return {kind: _texts(names, origin) for kind, names in found.items()}


def _texts(found: Any, origin: str) -> tuple[str, ...]:
    return tuple(_each(found, origin))


def _each(found: Any, origin: str) -> Iterator[str]:
    for value in found if isinstance(found, list) else [found]:
        if isinstance(value, bool):
            yield "true" if value else "false"
        elif isinstance(value, str | int):
            yield _plain(str(value), origin)
        else:
            raise UnknownPolicyElementError(f"{origin}: {value!r} is no text")


def _plain(text: str, origin: str) -> str:
    if "${" in text:
        raise UnknownPolicyElementError(f"{origin}: the policy variable in {text!r} is not evaluated here")
    return text
