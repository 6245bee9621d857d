"""Condition blocks. An operator or a key that is not known here is refused: guessing would allow or deny by accident.

Source: aws docs, IAM JSON policy elements: Condition operators (2026).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from infra.local.iam.patterns import matches, matches_arn
from infra.local.iam.statements import Statement, UnknownPolicyElementError

Context = Mapping[str, tuple[str, ...]]
Test = Callable[[str, str], bool]

KEYS = frozenset(
    {
        "aws:principalarn",
        "aws:requestedregion",
        "aws:resourceaccount",
        "aws:securetransport",
        "aws:sourceaccount",
        "aws:sourcearn",
        "cloudwatch:namespace",
        "dynamodb:leadingkeys",
        "events:detail-type",
        "events:source",
        "kms:viaservice",
        "ssm:overwrite",
    }
)
"""What calls are told about themselves here; a call that has no such thing lacks the key, as in AWS."""

_POSITIVE: dict[str, Test] = {
    "StringEquals": lambda wanted, found: wanted == found,
    "StringEqualsIgnoreCase": lambda wanted, found: wanted.lower() == found.lower(),
    "StringLike": matches,
    "ArnEquals": matches_arn,
    "ArnLike": matches_arn,
    "Bool": lambda wanted, found: wanted.lower() == found.lower(),
}
_NEGATIVE: dict[str, Test] = {
    "StringNotEquals": _POSITIVE["StringEquals"],
    "StringNotEqualsIgnoreCase": _POSITIVE["StringEqualsIgnoreCase"],
    "StringNotLike": matches,
    "ArnNotEquals": matches_arn,
    "ArnNotLike": matches_arn,
}


def holds(statement: Statement, context: Context) -> bool:
    """Whether every condition of the statement holds. Keys of `context` are in lower case.

    Raises UnknownPolicyElementError.
    """
    return all(
        _holds(operator, key.lower(), wanted, context, statement.origin)
        for operator, keys in statement.conditions.items()
        for key, wanted in keys.items()
    )


def _holds(operator: str, key: str, wanted: tuple[str, ...], context: Context, origin: str) -> bool:
    if key not in KEYS:
        raise UnknownPolicyElementError(f"{origin}: the condition key {key} is not known here")
    found = context.get(key)
    if operator == "Null":
        return (found is None) == (wanted == ("true",))
    quantifier, _, rest = operator.rpartition(":")
    name = rest.removesuffix("IfExists")
    if name not in _POSITIVE and name not in _NEGATIVE:
        raise UnknownPolicyElementError(f"{origin}: the condition operator {operator} is not known here")
    if found is None:
        return rest.endswith("IfExists") or name in _NEGATIVE or quantifier == "ForAllValues"
    each = [_fits(name, wanted, value) for value in found]
    return any(each) if quantifier == "ForAnyValue" else all(each)


def _fits(name: str, wanted: tuple[str, ...], found: str) -> bool:
    if name in _NEGATIVE:
        return not any(_NEGATIVE[name](each, found) for each in wanted)
    return any(_POSITIVE[name](each, found) for each in wanted)
