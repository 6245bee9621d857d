"""What was counted last, kept beside the code: `python -m tests.bench.costs` counts again and writes it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from tests.bench.costs.month import Counted
from tests.bench.costs.usage import Unit, Usage

KEPT = Path(__file__).with_name("counted.json")


def read() -> Counted:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    parts = {name: _usage(kept[name]) for name in ("heartbeat", "poll", "look", "roll")}
    return Counted(fleet_bytes=kept["fleetBytes"], **parts)


def write(counted: Counted) -> None:
    parts = {name: _amounts(found["amounts"]) for name, found in asdict(counted).items() if name != "fleet_bytes"}
    text = json.dumps({"fleetBytes": round(counted.fleet_bytes, 1), **parts}, indent=1, sort_keys=True)
    KEPT.write_text(text + "\n", encoding="utf-8")


def _usage(amounts: dict[str, float]) -> Usage:
    return Usage({Unit[name]: amount for name, amount in amounts.items()})


def _amounts(amounts: dict[Unit, float]) -> dict[str, float]:
    return {unit.name: round(amount, 1) for unit, amount in amounts.items() if amount}
