"""The stack is removed in the middle of an opening: the gate is shut first, and nothing opens any more."""

from __future__ import annotations

import pytest

from tests.infra.template_night import AT_ONCE_S, stage, template

pytestmark = pytest.mark.slow


def test_a_gate_that_stands_open_is_shut_before_the_stack_goes():
    with stage(template()) as on:
        on.at_opening[1] = on.router.remove
        on.router.start()
        on.time.advance(200)

        (opening,) = on.openings
        assert opening.closed_at is not None
        assert (opening.closed_at - opening.opened_at).total_seconds() <= AT_ONCE_S
        assert [str(reply) for reply in on.router.custom.replies] == [
            f"{reply.resource} answered SUCCESS to {kind}: Done."
            for reply, kind in zip(on.router.custom.replies, ("Create", "Delete"), strict=True)
        ]
        assert on.router.troubles() == []
