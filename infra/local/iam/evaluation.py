"""May this principal do this to that? IAM's own order: an explicit denial, then an allowance, else no.

Source: aws docs, IAM policy evaluation logic for requests within one account (2026); for keys, KMS key policies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from infra.local.iam.conditions import Context, holds
from infra.local.iam.patterns import matches, matches_any
from infra.local.iam.statements import Statement


class PrincipalKind(StrEnum):
    ROLE = "AWS"
    SERVICE = "Service"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who acts: a role by its ARN, or a service by its name (`events.amazonaws.com`)."""

    kind: PrincipalKind
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that has to be allowed: an action on an ARN, `*` where the action knows no resources.

    `context` holds what conditions may ask, its keys in lower case.
    """

    action: str
    resource: str
    context: Context = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`by` are the statements that allowed it; of a denial the one that said so, () where nothing allows it."""

    is_allowed: bool
    by: tuple[Statement, ...]


class Authority:
    """The policies of an account: those of its roles, by the role's ARN, and those of its resources, by theirs."""

    def __init__(
        self,
        account: str,
        roles: Mapping[str, tuple[Statement, ...]],
        resources: Mapping[str, tuple[Statement, ...]] | None = None,
    ) -> None:
        self.roles = dict(roles)
        self.resources = dict(resources or {})
        self._root = (account, f"arn:aws:iam::{account}:root")

    def decide(self, principal: Principal, need: Need) -> Decision:
        """Raises UnknownPolicyElementError where a statement cannot be evaluated."""
        said_of_resource = self.resources.get(need.resource, ())
        named = [s for s in said_of_resource if self._speaks_of(s, principal)]
        own = self.roles.get(principal.name, ()) if principal.kind is PrincipalKind.ROLE else ()
        spoken = [s for s in (*own, *named) if _concerns(s, need)]
        denying = [s for s in spoken if not s.is_allow]
        if denying:
            return Decision(is_allowed=False, by=(denying[0],))
        allowing = [s for s in spoken if s.is_allow]
        if need.resource.startswith("arn:aws:kms:"):
            allowing = self._by_key_policy(allowing, said_of_resource, need)
        return Decision(is_allowed=bool(allowing), by=tuple(allowing))

    def _by_key_policy(
        self, allowing: list[Statement], said_of_key: Iterable[Statement], need: Need
    ) -> list[Statement]:
        """A key's own policy has the last word: an identity's counts only where the key hands over to the account."""
        hands_over = any(
            s.is_allow and self._is_root(s) and _concerns(s, need) for s in said_of_key if s.principals is not None
        )
        return [s for s in allowing if hands_over or s.principals is not None]

    def _speaks_of(self, statement: Statement, principal: Principal) -> bool:
        """A statement for the account's root speaks of no role by itself: it leaves it to the role's own policy."""
        names = (statement.principals or {}).get(principal.kind, ()) + (statement.principals or {}).get("*", ())
        return principal.name in names or "*" in names or (not statement.is_allow and self._is_root(statement))

    def _is_root(self, statement: Statement) -> bool:
        return any(name in self._root for name in (statement.principals or {}).get(PrincipalKind.ROLE, ()))


def _concerns(statement: Statement, need: Need) -> bool:
    return (
        any(matches(action, need.action, ignore_case=True) for action in statement.actions)
        and matches_any(statement.resources, need.resource)
        and holds(statement, need.context)
    )
