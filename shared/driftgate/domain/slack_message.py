"""A notice as a Slack message: blocks for who opens it, plain text for notifications and screen readers.

Every length is kept within what Slack takes, for a message that is too long is not shown at all. Names and texts come
from clusters and people, so `&`, `<` and `>` are escaped: nothing in them can mention a channel or become a link.

Source: docs.slack.dev, reference/block-kit/blocks and messaging/formatting-message-text (2026). That a message of more
than about 13,200 characters over all blocks is refused is known from experience only (slackapi/bolt-js#2509).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from driftgate.domain.notice import Notice

MAX_HEADER = 150
MAX_SECTION = 3_000
MAX_FIELDS = 10

# Our own, far within Slack's. What all blocks come to is counted in bytes of JSON: never less than characters.
ROOM = 12_000
FORM = 1_000
SUMMARY = 3_000
FACT = 200
FOOTNOTE = 300
# A piece of this length fits a section, however much escaping adds.
PIECE = 500
# What a message without any text shows.
NOBODY = "driftgate"

Block = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """What is posted. `is_broadcast`: a reply that the whole channel sees."""

    text: str
    blocks: tuple[Block, ...] = ()
    is_broadcast: bool = False


def slack_message(notice: Notice) -> SlackMessage:
    """Title, text, what happens next, facts at a glance, and where it belongs."""
    head, tail = _header(notice), [*_facts(notice), *_footnote(notice)]
    body = _body(notice, ROOM - FORM - _size([head, *tail]))
    summary = escaped(cut(f"{notice.title}\n{notice.text}", SUMMARY)).strip()
    return SlackMessage(text=summary or NOBODY, blocks=(head, *body, *tail), is_broadcast=notice.is_urgent)


def _header(notice: Notice) -> Block:
    title = cut(" ".join(notice.title.split()) or notice.kind or NOBODY, MAX_HEADER)
    return {"type": "header", "text": {"type": "plain_text", "text": readable(title), "emoji": False}}


def _body(notice: Notice, room: int) -> Iterator[Block]:
    """The text, then the next steps. A long text leaves as much room to the steps as they need, up to half of it."""
    steps = cut("\n".join(f"• {step}" for step in notice.next_steps if step), room // 2, weight)
    text = cut(notice.text, room - weight(steps), weight)
    yield from (_section(page) for part in (text, steps) for page in _pages(part))


def _pages(text: str) -> Iterator[str]:
    """The text in sections, broken at the end of a line where that is possible."""
    page = ""
    for line in readable(text).strip().splitlines(keepends=True):
        for start in range(0, len(line), PIECE):
            piece = escaped(line[start : start + PIECE])
            if units(page) + units(piece) > MAX_SECTION:
                yield page
                page = ""
            page += piece
    if page:
        yield page


def _facts(notice: Notice) -> list[Block]:
    facts = [f"*{escaped(name)}*\n{escaped(cut(value, FACT, weight))}" for name, value in notice.facts.items() if value]
    return [{"type": "section", "fields": [_mrkdwn(fact) for fact in facts[:MAX_FIELDS]]}] if facts else []


def _footnote(notice: Notice) -> list[Block]:
    about = " · ".join(part for part in (notice.where, notice.kind, notice.code, notice.thread) if part)
    return [{"type": "context", "elements": [_mrkdwn(escaped(cut(about, FOOTNOTE, weight)))]}] if about else []


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text)}


def _mrkdwn(text: str) -> Block:
    """`verbatim`: Slack makes no links and mentions of its own."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


# --- lengths ---------------------------------------------------------------------------------------


def units(text: str) -> int:
    """The length as JavaScript counts it: never less than characters."""
    return len(text.encode("utf-16-le", "replace")) // 2


def weight(text: str) -> int:
    """Bytes of the text as it is sent."""
    return len(json.dumps(escaped(text), ensure_ascii=False).encode()) - 2


def _size(blocks: Iterable[Block]) -> int:
    return len(json.dumps(list(blocks), ensure_ascii=False).encode())


def cut(text: str, length: int, measure: Callable[[str], int] = units) -> str:
    """The text, ending in … where it had to be shortened to this length."""
    if measure(text) <= length:
        return text
    kept, left = [], length - measure("…")
    for character in text:
        left -= measure(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def escaped(text: str) -> str:
    """The text as mrkdwn that shows it."""
    return readable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def readable(text: str) -> str:
    """The text without what cannot be shown, such as control characters and half surrogates."""
    return "".join(character if character.isprintable() or character == "\n" else " " for character in text)
