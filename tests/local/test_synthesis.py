"""The template and the code of a driftgate.yaml: made once, and again when what they follow from changes."""

from __future__ import annotations

import pytest

from infra.local import synthesis
from infra.local.synthesis import SynthesisError, staged_code, synthesized

CONFIG = "cluster: demo\nguards: {alarms: none}\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(synthesis, "CACHE", tmp_path)
    return tmp_path


def test_the_code_is_what_the_archive_would_hold_with_its_configuration_beside_it():
    folder = staged_code(CONFIG)

    assert (folder / "functions" / "evaluate_drift" / "handler.py").is_file()
    assert (folder / "driftgate.yaml").read_text() == CONFIG
    assert not (folder / "driftgate" / "cli").exists()


def test_what_was_made_is_kept_and_another_configuration_is_another_folder():
    first = staged_code(CONFIG)

    assert staged_code(CONFIG) == first
    assert staged_code(f"{CONFIG}mode: act\n") != first


def test_only_the_last_ones_stay(cache, monkeypatch):
    monkeypatch.setattr(synthesis, "KEPT", 2)

    kept = [staged_code(f"{CONFIG}# {number}\n") for number in range(3)]

    assert not kept[0].exists()
    assert kept[2].exists()


@pytest.mark.slow
def test_a_configuration_that_is_wrong_is_told_in_the_apps_words_and_leaves_nothing_behind(cache):
    with pytest.raises(SynthesisError, match=r"driftgate\.yaml"):
        synthesized("cluster: demo\nguards: {alarm: none}\n")

    assert list(cache.glob("template-*")) == []
