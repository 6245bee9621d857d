"""The codes that people script against: each is documented, and each is given somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from driftgate.cli.reasons_page import page
from driftgate.domain import reasons
from driftgate.domain.reasons import REASONS, ReasonCode

ROOT = Path(__file__).parents[2]
PACKAGE = Path(reasons.__file__).parents[1]
MENTIONED = {
    name
    for path in PACKAGE.rglob("*.py")
    if path not in (Path(reasons.__file__), PACKAGE / "cli" / "reasons_page.py")
    for name in re.findall(r"ReasonCode\.([A-Z_]+)", path.read_text(encoding="utf-8"))
}


def test_the_page_is_what_the_table_says():
    written = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")

    assert written == page(), "Run: python -m driftgate.cli.reasons_page > docs/reasons.md"


def test_every_code_is_explained_and_nothing_else_is():
    assert set(REASONS) == set(ReasonCode)


@pytest.mark.parametrize("code", ReasonCode)
def test_every_code_is_given_somewhere(code: ReasonCode):
    assert code.name in MENTIONED


@pytest.mark.parametrize("code", ReasonCode)
def test_every_explanation_is_a_sentence_in_a_class(code: ReasonCode):
    reason = REASONS[code]

    assert reason.classes
    assert reason.meaning.endswith(".")
    assert reason.lifted_by.endswith(".")
    assert "|" not in reason.meaning + reason.lifted_by


def test_a_code_is_its_own_name():
    assert [code.value for code in ReasonCode] == [code.name for code in ReasonCode]
