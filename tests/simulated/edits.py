"""What people do to a list of budgets, whoever's entries stand in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from driftgate.sim.objects import JsonDict


def shut_at(at: datetime) -> JsonDict:
    """A blackout of the owner's that begins at that minute."""
    return {"nodes": "0", "reasons": ["Drifted"], "schedule": f"{at.minute} {at.hour} * * *", "duration": "10m"}


Edit = Callable[[list[JsonDict], datetime], list[JsonDict]]


def adds(entry: JsonDict) -> Edit:
    return lambda budgets, _: [*budgets, entry]


EDITS: tuple[Edit, ...] = (
    adds({"nodes": "1", "reasons": ["Empty"]}),
    adds({"nodes": "5", "reasons": ["Drifted"]}),
    adds({"nodes": "0", "schedule": "0 0 * * 7", "duration": "1h"}),
    lambda budgets, at: [shut_at(at + timedelta(minutes=2)), *budgets],
    lambda _, __: [{"nodes": "0"}],
    lambda budgets, _: [entry | {"nodes": "1"} for entry in budgets],
    lambda budgets, _: budgets[1:] or budgets,
    lambda budgets, _: list(reversed(budgets)),
)
"""As people do it: they believe that a permission adds, mistype, freeze, open by hand, remove, reorder."""
