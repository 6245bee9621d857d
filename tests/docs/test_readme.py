"""What the pages tell people to type, to open and to write is there and works."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from driftgate.cli.main import COMMANDS
from driftgate.config.load import load_config
from driftgate.domain.roll import RollState
from tests.cli.desk import new_cluster

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NODEPOOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: app}
spec: {disruption: {budgets: [{nodes: "0", reasons: [Drifted]}, {nodes: "20%"}]}}
"""
SYNONYMS = ("unlock", "restore the budget", "reset the budget", "undo the", "freeze window", "change window")


def blocks(page: str, *languages: str) -> list[str]:
    return [text for language, text in BLOCK.findall(page) if language in languages]


def commands(page: str) -> list[str]:
    lines = [line.strip() for block in blocks(page, "", "bash", "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("driftgate ")]


def anchor(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return kept.strip().replace(" ", "-")


@pytest.fixture
def shell(new_desk, monkeypatch):
    """The README's reader: two contexts, a manifest, the docs folder beside."""
    desk = new_desk(new_cluster())
    kubeconfig = (desk.home / "kubeconfig").read_text()
    contexts = "{name: sim, context: {cluster: sim, user: driftgate}}"
    staging = "{name: staging, context: {cluster: sim, user: driftgate}}"
    (desk.home / "kubeconfig").write_text(kubeconfig.replace(contexts, f"{contexts}, {staging}"))
    shutil.copytree(ROOT / "docs", desk.home / "docs")
    desk.write("nodepool.yaml", NODEPOOL)
    return desk


def typed(desk, line: str):
    """Runs a line as a shell would: comments end it, `>` writes a file; nobody is there to be asked."""
    words = shlex.split(line, comments=True)[1:]
    into = words.index(">") if ">" in words else len(words)
    asked = ("--yes",) if words[0] == "roll" else ()
    ran = desk.run(*words[:into], *asked)
    if into < len(words):
        desk.write(words[into + 1], ran.out)
    return ran


def test_every_command_of_the_readme_works_in_its_order(shell):
    ran = {line: typed(shell, line) for line in commands(README)}

    assert len(ran) >= 10
    assert {line: run.err for line, run in ran.items() if run.code not in (0, 1)} == {}
    rolled = [run.code for line, run in ran.items() if line.startswith("driftgate roll")]
    assert rolled == [0, 0]
    assert shell.sim.witness.nodes() == ["a0"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_that_a_page_names_exists(page):
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z0-9-]+)", text))
    named |= set(re.findall(r"^make (?:-s )?([a-z0-9-]+)", "\n".join(blocks(text, "", "bash", "sh")), re.MULTILINE))

    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_somewhere(page):
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, fragment = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (page.parent / path) if path else page
        if not target.exists():
            broken.append(link)
        elif fragment and target.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            broken += [link] if fragment not in map(anchor, headings) else []

    assert broken == []


def test_nobody_is_told_to_run_a_command_that_is_not_there():
    sources = [*PAGES, *(ROOT / "shared/driftgate").rglob("*.py")]
    told = re.compile(r"`driftgate ([a-z][a-z-]*)(?: ([a-z]+))?")
    named = {found.groups() for path in sources for found in told.finditer(path.read_text(encoding="utf-8"))}

    internal = {"simulate"}  # the simulated cluster's own docstring names what it will serve
    assert {command for command, _ in named} - internal <= {*COMMANDS, "image"}
    assert {word for command, word in named if command == "image"} <= {"list", "clear"}


def test_every_word_of_the_glossary_is_used_outside_it():
    table = README.partition("## Words")[2].partition("\n## ")[0]
    words = [word.strip() for row in re.findall(r"^\| ([a-z, ]+) \|", table, re.MULTILINE) for word in row.split(",")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "shared/driftgate/domain").glob("*.py"))

    assert len(words) >= 12
    assert [word for word in words if word != "word" and not re.search(rf"\b{word}", code, re.IGNORECASE)] == []


def test_states_that_the_readme_names_are_those_of_a_roll():
    row = next(line for line in README.splitlines() if line.startswith("| roll |"))

    assert set(re.findall(r"`(\w+)`", row)) <= set(RollState)


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_one_thing_has_one_name(page):
    """CONTRIBUTING.md alone may name the words that are not used."""
    text = page.read_text(encoding="utf-8").lower()

    assert [word for word in SYNONYMS if word in text] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs/configuration.md"], ids=lambda page: page.name)
def test_every_example_of_driftgate_yaml_loads(page):
    examples = blocks(page.read_text(encoding="utf-8"), "yaml")
    assert examples

    for example in examples:
        whole = example if re.search(r"^clusters?:", example, re.MULTILINE) else f"cluster: demo\n{example}"
        assert load_config(whole, page.name).cluster_names()


def test_the_example_file_loads():
    example = ROOT / "docs/driftgate.example.yaml"

    assert load_config(example.read_text(encoding="utf-8"), example.name).cluster_names()
