"""What a roll on one generation came to, and what its CRDs let through: the cells of `docs/compatibility.md`."""

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from tests.e2e import build
from tests.e2e.generations.page import BETWEEN
from tests.e2e.generations.showing import Showing
from tests.e2e.generations.world import Generation, program
from tests.e2e.harness.api import Object
from tests.e2e.rolls import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolled:
    """One opening: what driftgate said, what the ledger keeps, and what the onlooker saw."""

    node: str
    state: str
    taken: int
    sign: str
    closed_by: str
    showed: tuple[str, ...]
    to_sign_s: float
    to_shut_s: float
    is_replaced: bool
    is_restored: bool


def rolled(generation: Generation, showing: Showing, pools: Sequence[str]) -> list[Rolled]:
    """Rolls one node of each pool, one pool after the other, and looks at each roll from all sides at the end."""
    before = {pool: generation.rolling.budgets(pool) for pool in pools}
    results = {pool: generation.roll(pool) for pool in pools}
    showing.watch_on()
    return [seen_of(generation, showing, pool, results[pool], before[pool]) for pool in pools]


def seen_of(generation: Generation, showing: Showing, pool: str, result: Result, before: str) -> Rolled:
    assert result.code == 0, result.told
    (opening,) = showing.openings(pool)
    record, node = generation.rolling.rolls(pool)[-1], result.shown["node"]
    first_at = showing.first_sign_at(node)
    assert opening.closed_at is not None
    return Rolled(
        node=node,
        state=result.shown["state"],
        taken=len(showing.left(pool)),
        sign=record.sign,
        closed_by="its worker" if record.closed_by == record.holder else record.closed_by,
        showed=tuple(showing.of(node)),
        to_sign_s=(first_at - opening.at).total_seconds(),
        to_shut_s=(opening.closed_at - first_at).total_seconds(),
        is_replaced=result.shown["replacement"] is not None,
        is_restored=generation.rolling.budgets(pool) == before,
    )


def as_cells(rolls: Sequence[Rolled]) -> str:
    """The openings of a kind of node, one cell for each column of the page."""
    return BETWEEN.join(
        (
            f"{len(rolls)}: {', '.join(str(each.taken) for each in rolls)}",
            " or ".join(sorted({", ".join(each.showed) for each in rolls})),
            counted([each.sign for each in rolls]),
            between([each.to_sign_s for each in rolls], 1),
            between([each.to_shut_s for each in rolls], 2),
            counted([each.closed_by for each in rolls]),
            f"{sum(each.is_replaced for each in rolls)} of {len(rolls)}",
            f"{sum(each.is_restored for each in rolls)} of {len(rolls)}",
        )
    )


def counted(values: Sequence[str]) -> str:
    return ", ".join(f"{value} {values.count(value)} x" for value in sorted(set(values)))


def between(values: Sequence[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f} s"


def crd_differences(version: str) -> str:
    """How the NodePool's CRD of this version differs from the newest, in what matters to an opening."""
    mine, newest = crd_facts(version), crd_facts("")
    return "; ".join(mine[fact] for fact in mine if mine[fact] != newest[fact]) or "none"


def crd_facts(version: str) -> dict[str, str]:
    """What the CRD says of budgets and of those fields beside them that driftgate reads."""
    path = build.crds_path(build.PROGRAMS[program(version)].module) / "karpenter.sh_nodepools.yaml"
    versions: list[Object] = yaml.safe_load(path.read_text())["spec"]["versions"]
    v1 = next(each for each in versions if each["name"] == "v1")
    spec = v1["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    budgets = spec["disruption"]["properties"]["budgets"]
    entry = budgets["items"]["properties"]
    served = sorted(each["name"] for each in versions if each["served"])
    return {
        "served": f"serves {' and '.join(served)}",
        "doubled": "a doubled reason is refused"
        if entry["reasons"].get("x-kubernetes-list-type") == "set"
        else "a doubled reason is taken",
        "static": "has `replicas`" if "replicas" in spec else "no `replicas`",
        "entries": f"at most {budgets.get('maxItems')} entries",
        "nodes": f"nodes: {entry['nodes']['pattern']}",
        "duration": f"duration: {entry['duration']['pattern']}",
        "required": f"required in `disruption`: {', '.join(spec['disruption'].get('required', ['nothing']))}",
    }
