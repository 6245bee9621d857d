"""What the API server says of this identity's rights, and what time it has."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from driftgate.adapters.kubernetes_client import KubernetesClient
from driftgate.adapters.kubernetes_resources import ACCESS_REVIEWS, NODEPOOLS, Call
from driftgate.domain.jsonvalue import child


def review_of(client: KubernetesClient, verb: str, group: str, resource: str) -> bool:
    """Whether the server would allow it. Every authenticated user of a cluster may ask this; nothing is stored."""
    name, _, subresource = resource.partition("/")
    attributes = {"verb": verb, "group": group, "resource": name, "subresource": subresource}
    question: dict[str, object] = {
        "apiVersion": ACCESS_REVIEWS.api_version,
        "kind": ACCESS_REVIEWS.kind,
        "spec": {"resourceAttributes": attributes},
    }
    answer = client.ask(Call(verb="create", resource=ACCESS_REVIEWS), question)
    return child(answer, "status").get("allowed") is True


def server_date(client: KubernetesClient) -> datetime | None:
    """The server's clock, from the header of an answer that may well be a refusal; None where it has none."""
    text = client.date(Call(verb="list", resource=NODEPOOLS))
    try:
        told = parsedate_to_datetime(text)
    except ValueError:
        return None
    return told.astimezone(UTC) if told.tzinfo else None
