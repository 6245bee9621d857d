"""What was asked of IAM while something ran, and which permissions nobody used."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from infra.local.iam.evaluation import Decision, Need, Principal
from infra.local.iam.patterns import matches
from infra.local.iam.statements import Statement


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Permission:
    """One action that a role's policy allows on one pattern of resources."""

    role: str
    action: str
    resource: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Somebody was not allowed something, and why."""

    principal: Principal
    need: Need
    why: str

    def __str__(self) -> str:
        return f"{self.principal.name} may not {self.need.action} on {self.need.resource}: {self.why}"


class Record:
    """Fills as calls are judged; safe to use from several threads. `asked` has every need once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.refusals: list[Refusal] = []
        self.used: set[Permission] = set()
        self.asked: list[tuple[Principal, Need]] = []

    def note(self, principal: Principal, need: Need, decision: Decision) -> None:
        with self._lock:
            if (principal, need) not in self.asked:
                self.asked.append((principal, need))
            if not decision.is_allowed:
                self.refusals.append(Refusal(principal=principal, need=need, why=reason_of(decision)))
            for statement in decision.by if decision.is_allowed else ():
                self.used.update(_permissions(principal.name, statement, need))

    def unused(self, roles: Mapping[str, tuple[Statement, ...]]) -> tuple[Permission, ...]:
        """What these roles are allowed and nobody asked for, in order."""
        allowed = {
            permission
            for role, statements in roles.items()
            for statement in statements
            if statement.is_allow
            for permission in _permissions(role, statement, None)
        }
        return tuple(sorted(allowed - self.used))


def reason_of(decision: Decision) -> str:
    """In AWS's words: an explicit denial, or nothing that allows it."""
    return f"an explicit deny in {decision.by[0].origin}" if decision.by else "no policy allows it"


def _permissions(role: str, statement: Statement, need: Need | None) -> set[Permission]:
    """The pairs of a statement that fit the need; all of them without one."""
    return {
        Permission(role=role, action=action, resource=resource)
        for action in statement.actions
        for resource in statement.resources
        if need is None or (matches(action, need.action, ignore_case=True) and matches(resource, need.resource))
    }
