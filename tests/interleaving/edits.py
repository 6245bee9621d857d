"""What a person writes to a NodePool while driftgate is at work, by the name that a schedule gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from driftgate.domain.nodepool import ROLL_ANNOTATION
from driftgate.domain.roll_annotation import Tombstone, to_text
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.objects import JsonDict, section
from driftgate.sim.witness import budgets_of
from tests.interleaving.setting import ZERO


def edit(sim: SimCluster, kind: str, pool: str, baseline: Sequence[Mapping[str, object]]) -> None:
    """Writes at once, as `kubectl` does. Raises KeyError for a kind that nobody knows."""
    stored = sim.store.get(NODEPOOLS, pool)
    assert stored is not None
    found = budgets_of(stored.obj)
    if kind == "annotation":
        sim.writes.change(NODEPOOLS, pool, _without_annotation, "kubectl")
    elif kind == "note":
        sim.writes.change(NODEPOOLS, pool, _with_note_of_the_future, "kubectl")
    else:
        edits: dict[str, Sequence[Mapping[str, object]]] = {
            "add": (*found, {"nodes": "3", "reasons": ["Empty"]}),
            "zero": (*found, ZERO),
            "blackout": (*found, ZERO | {"schedule": "0 2 * * *", "duration": "24h"}),
            "baseline": baseline,
            "open": ({"nodes": "1", "reasons": ["Drifted"]},),
            "nothing": (),
        }
        sim.set_budgets(pool, [dict(entry) for entry in edits[kind]])


def _without_annotation(obj: JsonDict) -> None:
    section(obj, "metadata", "annotations").pop(ROLL_ANNOTATION, None)


def _with_note_of_the_future(obj: JsonDict) -> None:
    note = Tombstone(deployment="driftgate", id="20991231T000000000Z-app", window_key="app/x", count=1)
    section(obj, "metadata", "annotations")[ROLL_ANNOTATION] = to_text(note)
