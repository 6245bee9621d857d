"""Options that several commands share, each said once."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from driftgate.domain.errors import InvalidInputError
from driftgate.domain.jsonvalue import instant


class Output(StrEnum):
    """How an answer is written."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"


Kubeconfig = Annotated[
    str | None, typer.Option("--kubeconfig", help="Kubeconfig file. Default: KUBECONFIG, else ~/.kube/config.")
]
Context = Annotated[str | None, typer.Option("--context", help="Context in it. Default: the current one.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="driftgate.yaml. Default: ./driftgate.yaml.")]
ClusterName = Annotated[str | None, typer.Option("--cluster", help="Which cluster of the config file.")]
FromFile = Annotated[
    str | None, typer.Option("--from", help="A snapshot file to read instead of a cluster; - for standard input.")
]
At = Annotated[str | None, typer.Option("--at", help="Judge as of this time, such as 2026-10-17T02:10:00Z.")]
LedgerSpec = Annotated[
    str | None,
    typer.Option("--ledger", help="file:PATH or dynamodb:TABLE. Default: a file of this user and cluster."),
]
OutputFormat = Annotated[Output, typer.Option("-o", "--output", help="How to write the answer.")]


FIRST_YEAR, LAST_YEAR = 1970, 2200
"""Windows and schedules are looked up some years to both sides."""


def parse_at(text: str | None) -> datetime | None:
    """The time of `--at`. Raises InvalidInputError."""
    if text is None:
        return None
    at = instant(text)
    if at is None:
        raise InvalidInputError(
            f"{text!r} is not a time with a zone", place="--at", remedy="Write it like 2026-10-17T02:10:00Z."
        )
    if not FIRST_YEAR <= at.year <= LAST_YEAR:
        raise InvalidInputError(
            f"the year of {text} is out of reach", place="--at", remedy=f"Give one from {FIRST_YEAR} to {LAST_YEAR}."
        )
    return at.astimezone(UTC)
