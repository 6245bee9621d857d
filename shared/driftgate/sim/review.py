"""SelfSubjectAccessReview: a user asks what it may do."""

from __future__ import annotations

from driftgate.domain.jsonvalue import child, strings
from driftgate.sim.access import User, Wish
from driftgate.sim.kinds import ACCESS_REVIEWS
from driftgate.sim.objects import JsonDict


def review(given: JsonDict, user: User) -> JsonDict:
    """The review with its status; nothing is stored."""
    asked = strings(child(given, "spec", "resourceAttributes"))
    subresource = asked.get("subresource", "")
    resource = asked.get("resource", "")
    wish = Wish(
        verb=asked.get("verb", ""),
        group=asked.get("group", ""),
        resource=f"{resource}/{subresource}" if subresource else resource,
        name=asked.get("name", ""),
        namespace=asked.get("namespace", ""),
    )
    body: JsonDict = {"kind": ACCESS_REVIEWS.kind, "apiVersion": ACCESS_REVIEWS.api_version, "metadata": {}}
    return body | {"spec": given.get("spec"), "status": {"allowed": user.may(wish)}}
