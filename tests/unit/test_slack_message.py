"""Every notice fits what Slack takes, shows what people wrote as they wrote it, and pings nobody."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.message import EventKind
from driftgate.domain.notice import ALARM, Notice
from driftgate.domain.slack_message import cut, escaped, readable, slack_message, units, weight
from tests.fakes.slack_server import refusal_of, texts_of

TEXTS = st.text(max_size=60) | st.builds(lambda piece, times: piece * times, st.text(min_size=1), st.integers(1, 9_000))
NOTICES = st.builds(
    Notice,
    id=st.just("e1"),
    thread=TEXTS,
    title=TEXTS,
    text=TEXTS,
    next_steps=st.lists(TEXTS, max_size=30).map(tuple),
    kind=st.sampled_from([kind.value for kind in EventKind]) | TEXTS,
    where=TEXTS,
    code=TEXTS,
    facts=st.dictionaries(st.text(max_size=100), TEXTS, max_size=50),
)
OPENING = Notice(
    id="e1",
    thread="20261017T021000Z-app",
    title="app: the gate opens for one node",
    text="3 of 12 nodes are drifted.\nNext in line: a3.",
    next_steps=("driftgate shuts the gate.", "At the latest at 02:20."),
    kind="BudgetsOpened",
    where="demo/app",
    code="IN_FLIGHT",
    facts={"state": "opening", "node": ""},
)


@given(NOTICES)
def test_every_notice_fits_what_slack_takes(notice):
    message = slack_message(notice)

    assert refusal_of({"text": message.text, "blocks": list(message.blocks)}) == ""
    assert sum(units(text) for block in message.blocks for text in texts_of(dict(block))) <= 12_000


def test_the_largest_notice_fits_what_slack_takes():
    for character in ("&", "ü", "\x00", "\ud800", "😀", '"'):
        endless = f"{character * 9_000}\n"
        notice = Notice(
            id="e1",
            thread=endless,
            title=endless,
            text=endless,
            next_steps=(endless,) * 30,
            where=endless,
            facts={f"{character * 90}{number}": endless for number in range(40)},
        )

        message = slack_message(notice)

        assert refusal_of({"text": message.text, "blocks": list(message.blocks)}) == ""
        assert len(message.blocks) > 3


def test_a_message_says_what_what_next_at_a_glance_and_where():
    message = slack_message(OPENING)

    assert message.text == "app: the gate opens for one node\n3 of 12 nodes are drifted.\nNext in line: a3."
    assert [texts_of(dict(block)) for block in message.blocks] == [
        ["app: the gate opens for one node"],
        ["3 of 12 nodes are drifted.\nNext in line: a3."],
        ["• driftgate shuts the gate.\n• At the latest at 02:20."],
        ["*state*\nopening"],
        ["demo/app · BudgetsOpened · IN_FLIGHT · 20261017T021000Z-app"],
    ]
    assert [block["type"] for block in message.blocks] == ["header", "section", "section", "section", "context"]


def test_what_people_and_clusters_wrote_pings_nobody():
    notice = Notice(id="e1", thread="t", title="<!here>", text="<!channel> a && b", facts={"<@U1>": "<@U2>"})

    message = slack_message(notice)

    assert message.text == "&lt;!here&gt;\n&lt;!channel&gt; a &amp;&amp; b"
    mrkdwn = [text for block in message.blocks[1:] for text in texts_of(dict(block))]
    assert "<" not in "".join(mrkdwn)
    assert message.blocks[0]["text"] == {"type": "plain_text", "text": "<!here>", "emoji": False}


def test_only_what_must_be_seen_is_shown_to_the_whole_channel():
    urgent = {
        kind
        for kind in [*map(str, EventKind), ALARM]
        if Notice(id="", thread="", title="", text="", kind=kind).is_urgent
    }

    assert urgent == {"Alert", "Alarm"}
    assert slack_message(Notice(id="e1", thread="t", title="x", text="y", kind="Alert")).is_broadcast
    assert not slack_message(OPENING).is_broadcast


def test_a_long_text_leaves_room_for_what_happens_next():
    notice = Notice(id="e1", thread="t", title="x", text="long " * 4_000, next_steps=("Patch it back.",))

    texts = [text for block in slack_message(notice).blocks for text in texts_of(dict(block))]

    assert "• Patch it back." in texts
    assert sum(map(len, texts)) > 9_000
    assert any(text.endswith("…") for text in texts)


def test_long_next_steps_leave_room_for_the_text():
    notice = Notice(id="e1", thread="t", title="x", text="z" * 4_000, next_steps=("step " * 70,) * 40)

    texts = [text for block in slack_message(notice).blocks for text in texts_of(dict(block))]

    assert sum(text.count("z") for text in texts) == 4_000


def test_a_section_is_broken_between_lines():
    lines = [f"line {number:04} {'x' * 90}" for number in range(60)]
    notice = Notice(id="e1", thread="t", title="x", text="\n".join(lines))

    sections = [texts_of(dict(block))[0] for block in slack_message(notice).blocks if block["type"] == "section"]

    assert len(sections) > 1
    assert all(section.startswith("line") for section in sections)
    assert "".join(sections) == "\n".join(lines)


def test_a_message_without_anything_still_has_a_header():
    message = slack_message(Notice(id="", thread="", title="", text=""))

    assert [texts_of(dict(block)) for block in message.blocks] == [["driftgate"]]


def test_lengths_are_counted_as_strictly_as_anybody_counts_them():
    assert (units("a😀"), weight("a😀"), weight("ü"), weight("&"), weight('"')) == (3, 5, 2, 5, 2)


def test_a_cut_text_says_so_and_keeps_its_length():
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdef", 4) == "abc…"
    assert cut("ab def", 4) == "ab…"
    assert cut("&&&&", 13, weight) == "&&…"


def test_what_cannot_be_shown_becomes_a_space():
    assert readable("a\x00b\ud800c\td\ne") == "a b c d\ne"
    assert escaped("a<b>&c") == "a&lt;b&gt;&amp;c"
