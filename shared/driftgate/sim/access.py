"""Who may do what: tokens, users and rules, as RBAC would have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from driftgate.sim.kinds import Kind
from driftgate.sim.status import ApiError, forbidden, unauthorized


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is allowed; `*` is everything. A subresource is named as `nodepools/status`."""

    groups: tuple[str, ...] = ("*",)
    resources: tuple[str, ...] = ("*",)
    verbs: tuple[str, ...] = ("*",)
    names: tuple[str, ...] = ()

    def allows(self, wish: Wish) -> bool:
        return (
            _among(wish.group, self.groups)
            and _among(wish.resource, self.resources)
            and _among(wish.verb, self.verbs)
            and (not self.names or wish.name in self.names)
        )


def _among(value: str, allowed: tuple[str, ...]) -> bool:
    return "*" in allowed or value in allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a request wants to do."""

    verb: str
    group: str
    resource: str
    name: str = ""
    namespace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody a token stands for."""

    name: str
    rules: tuple[Rule, ...]

    def may(self, wish: Wish) -> bool:
        return any(rule.allows(wish) for rule in self.rules)


READER = Rule(verbs=("get", "list", "watch"))
DRIFTGATE = (READER, Rule(groups=("karpenter.sh",), resources=("nodepools",), verbs=("patch",)))
ADMIN = (Rule(),)


class Access:
    """All tokens. Changes take effect with the next request.

    `webhook` is asked about every token that nobody was granted: it gives the user, or None.
    """

    def __init__(self) -> None:
        self._users: dict[str, User] = {}
        self.webhook: Callable[[str], User | None] = lambda _: None

    def grant(self, token: str, name: str, rules: tuple[Rule, ...]) -> None:
        """The token stands for this user, with exactly these rules, from now on."""
        self._users[token] = User(name=name, rules=rules)

    def revoke(self, token: str) -> None:
        """The token is unknown from now on (401)."""
        self._users.pop(token, None)

    def authenticate(self, authorization: str) -> User:
        """The user of an `Authorization` header. Raises ApiError 401."""
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        user = (self._users.get(token) or self.webhook(token)) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user


def authorize(user: User, kind: Kind, wish: Wish) -> None:
    """Raises ApiError 403 in the real server's words where the user may not."""
    if not user.may(wish):
        raise denial(user, kind, wish)


def denial(user: User, kind: Kind, wish: Wish) -> ApiError:
    where = f'in the namespace "{wish.namespace}"' if wish.namespace else "at the cluster scope"
    said = f'User "{user.name}" cannot {wish.verb} resource "{wish.resource}" in API group "{wish.group}" {where}'
    return forbidden(kind, wish.name, said)
