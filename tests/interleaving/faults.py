"""The fault matrix: every outside call of a night, and everything that can become of it.

Must not judge: `run` does. `SUMMARY` is what the tests of this session saw, for the table at their end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache

from tests.interleaving.run import Played, play
from tests.interleaving.schedule import GO, Act, Call, Happening, Step
from tests.interleaving.setting import Setting
from tests.interleaving.witness import GUARD

SECONDS = 200.0
STRAIGHT = Setting(nodes=4, empty=0, cpu_m=3000, bake=timedelta(0))
"""One opening, one node, its replacement, no bake."""

NIGHTS: dict[str, tuple[Setting, tuple[Happening, ...]]] = {
    "straight": (STRAIGHT, ()),
    "alarm": (STRAIGHT, (Happening(8.2, "alarm"), Happening(90, "alarm_ok"))),
    "light": (Setting(nodes=6, empty=3, bake=timedelta(0)), ()),
}
"""In the light night nodes are gone within seconds and need no replacement: whoever sleeps loses several."""


@dataclass(slots=True)
class Recorder:
    """Lets everything happen and remembers the calls."""

    calls: list[Call] = field(default_factory=list)

    def choose(self, call: Call) -> Step:
        self.calls.append(call)
        return GO


@cache
def calls_of(night: str) -> tuple[Call, ...]:
    """Every outside call of the night, but for looks at a clock or at a quiet watch after the first of an actor."""
    setting, happenings = NIGHTS[night]
    recorder = Recorder()
    play(*happenings, setting=setting, seconds=SECONDS, source=recorder)
    kinds = ("worker", "beat", "closer", "hint")
    started = {f"{kind}-{number}" for kind in kinds for number in (1, 2, 3)} if night != "light" else {"worker-1"}
    return tuple(
        call
        for call in recorder.calls
        if call.actor in started and call.name != "now" and not (call.name == "watch" and call.nth > 2)
    )


def faults_of(call: Call) -> Iterator[tuple[str, Step]]:
    """What can become of the call, by the name of its row in the table."""
    yield "killed before", _step(call, Act.DIE_BEFORE)
    yield "killed after", _step(call, Act.DIE_AFTER)
    for number, error in enumerate(call.errors):
        yield type(error()).__name__, Step(call.actor, call.name, call.nth, Act.FAIL, error=number)
    if call.is_write:
        yield "answer lost", _step(call, Act.LOSE)
        yield "answer lost, lands 5 s later", _step(call, Act.LATE, 5.0)
        yield "answer lost, lands 100 s later", _step(call, Act.LATE, 100.0)
    yield "frozen for 100 s", _step(call, Act.WAIT, 100.0)


def _step(call: Call, act: Act, seconds: float = 0.0) -> Step:
    return Step(call.actor, call.name, call.nth, act, seconds)


@dataclass(slots=True)
class Row:
    """What the runs of one fault came to."""

    runs: int = 0
    broken: int = 0
    longest_s: float = 0.0
    most_nodes: int = 0
    told: int = 0

    def add(self, played: Played) -> None:
        self.runs += 1
        self.broken += bool(played.faults)
        self.told += any(event.kind == "Alert" for event in played.told)
        for opening in played.openings:
            shut_at = min(opening.shut_at or opening.guard_at, opening.guard_at)
            self.longest_s = max(self.longest_s, (shut_at - opening.last_write).total_seconds())
            self.most_nodes = max(self.most_nodes, len(opening.nodes))


SUMMARY: dict[str, Row] = {}


def played_with(night: str, what: str, step: Step) -> Played:
    """The night with one fault in it, entered in the table."""
    setting, happenings = NIGHTS[night]
    played = play(*happenings, step, setting=setting, seconds=SECONDS)
    SUMMARY.setdefault(what, Row()).add(played)
    return played


def table(rows: Iterable[tuple[str, Row]]) -> list[str]:
    """The summary, a line per fault. `open` is the longest time from the last write that opened to shut, in seconds."""
    lines = [f"{'fault':<32} {'runs':>5} {'broken':>6} {'open':>6} {'nodes':>5} {'told':>5}"]
    lines += [
        f"{what:<32} {row.runs:>5} {row.broken:>6} {row.longest_s:>6.1f} {row.most_nodes:>5} {row.told:>5}"
        for what, row in rows
    ]
    return [*lines, f"open: at most {GUARD.total_seconds():.0f} s; nodes: most that went in one opening; told: alerts"]
