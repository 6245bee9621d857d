"""Nothing in the template changes unseen."""

from __future__ import annotations

from difflib import unified_diff

from tests.infra.snapshot import KEPT, text_of


def test_the_template_is_the_one_that_a_person_has_seen(fleet):
    kept, found = KEPT.read_text(encoding="utf-8").splitlines(), text_of(fleet).splitlines()

    changes = list(unified_diff(kept, found, "seen", "now: if so meant, python -m tests.infra.snapshot", lineterm=""))

    assert changes == []
