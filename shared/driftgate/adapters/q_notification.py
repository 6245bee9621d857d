"""A domain event as a custom notification of Amazon Q Developer in chat applications: the form that Slack shows.

Anything else on the topic is refused there and never appears, so every length is cut to what the schema takes.
Must not send anything.

Source: aws docs, chatbot/latest/adminguide/custom-notifs (2026).
"""

from __future__ import annotations

from collections.abc import Mapping

from driftgate.domain.ledger import FLEET
from driftgate.domain.message import DomainEvent
from driftgate.domain.slack_message import readable

MAX_TITLE = 250
MAX_DESCRIPTION = 8_000
MAX_STEP = 350
# The schema names no length for these; a message as a whole may have 256 KB, and a character takes up to six bytes.
MAX_NAME = 100
MAX_FACT = 500
MAX_FACTS = 40
MAX_STEPS = 20


def notification_of(event: DomainEvent) -> dict[str, object]:
    """The notification: one thread per roll, or per pool where there is no roll."""
    where = cut(_plain("/".join(part for part in (event.cluster, event.pool) if part)), MAX_TITLE)
    content = {
        "textType": "client-markdown",
        "title": cut(_plain(title_of(event)), MAX_TITLE),
        "description": cut(_plain(event.text or event.title), MAX_DESCRIPTION) or event.kind.value,
    }
    steps = [cut(_plain(step), MAX_STEP) for step in event.next_steps[:MAX_STEPS] if step]
    metadata = {
        "threadId": cut(_plain(event.thread), MAX_TITLE) or where,
        "summary": cut(_plain(event.title), MAX_TITLE),
        "eventType": event.kind.value,
        "relatedResources": [where],
        "additionalContext": _context(event),
    }
    return {
        "version": "1.0",
        "source": "custom",
        "id": event.id,
        "content": content | ({"nextSteps": steps} if steps else {}),
        "metadata": metadata,
    }


def title_of(event: DomainEvent) -> str:
    """The title with the cluster before it, for a channel hears of many."""
    title = event.title or event.kind.value
    return title if event.cluster == FLEET else f"[{event.cluster}] {title}"


def _plain(text: str) -> str:
    """The text without the signs of which Slack makes links and mentions: names come from clusters and people."""
    return readable(text).replace("<", "‹").replace(">", "›")


def cut(text: str, length: int) -> str:
    """The text, ending in … where it had to be shortened."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _context(event: DomainEvent) -> dict[str, str]:
    """The facts that a person can read at a glance: texts and numbers. Objects are for the event bus."""
    named = {"cluster": event.cluster, "pool": event.pool, "code": event.code, **_shown(event.facts)}
    shown = list(named.items())[:MAX_FACTS]
    return {cut(_plain(key), MAX_NAME): cut(_plain(value), MAX_FACT) for key, value in shown if value}


def _shown(facts: Mapping[str, object]) -> dict[str, str]:
    shown: dict[str, str] = {}
    for key, value in facts.items():
        if isinstance(value, str | int | float):
            shown[key] = str(value)
        elif isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
            shown[key] = ", ".join(value)
    return shown
