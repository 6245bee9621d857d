"""docs/cli.md names every command with every option that it has, and no command that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftgate.cli.exit_codes import ExitCode
from driftgate.cli.main import COMMANDS, app

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
SHARED = {"--kubeconfig", "--context", "--config", "--cluster", "--ledger", "--from", "--at", "--output"}


def section(command: str) -> str:
    title = "pause and resume" if command in ("pause", "resume") else command
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/cli.md has no section on {command}"
    return found[1]


def options(command: str) -> set[str]:
    shown = CliRunner().invoke(app, [command, "--help"]).stdout
    return set(re.findall(r"^  (?:-o, )?(--[a-z-]+)", shown, re.MULTILINE)) - {"--help"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_there(command: str):
    text = section(command)

    assert options(command) or command == "schema", "only schema has no options"
    missing = {option for option in options(command) - SHARED if f"`{option}" not in text and f" {option}" not in text}
    assert missing == set()


@pytest.mark.parametrize("option", sorted(SHARED))
def test_what_several_commands_share_is_said_once(option: str):
    assert f"`{option}" in PAGE or f"`-o`, `{option}`" in PAGE


def test_no_command_is_promised_that_is_not_there():
    promised = set(re.findall(r"(?:`|^)driftgate ([a-z-]+)", PAGE, re.MULTILINE))

    assert promised <= {*COMMANDS, "image"}


@pytest.mark.parametrize("command", ["list", "clear"])
def test_what_can_be_done_with_images_is_there(command: str):
    shown = CliRunner().invoke(app, ["image", command, "--help"]).stdout
    words = set(re.findall(r"^  (?:-o, )?(--[a-z-]+)", shown, re.MULTILINE)) - {"--help"}

    assert f"driftgate image {command}" in section("image")
    assert all(option in section("image") for option in words - SHARED)


@pytest.mark.parametrize("code", [int(code) for code in ExitCode])
def test_every_exit_code_is_explained(code: int):
    assert re.search(rf"^\| {code} \| ", PAGE, re.MULTILINE)
