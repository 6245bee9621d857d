"""What happens to each outside call of each actor: a short list of steps that can be printed, kept and played again.

A call that no step names simply happens. Every interleaving of calls comes from steps that make somebody wait.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from driftgate.domain.errors import DriftgateError


class Act(StrEnum):
    """What becomes of one call."""

    GO = "go"
    WAIT = "wait"
    """The actor is frozen for so many seconds before the call, and then goes on as if nothing had been."""
    DIE_BEFORE = "die_before"
    DIE_AFTER = "die_after"
    """The effect stays, the actor is gone."""
    LOSE = "lose"
    """The effect happens and the answer is lost."""
    LATE = "late"
    """The answer is lost now, and the effect happens so many seconds later."""
    FAIL = "fail"
    """Nothing happens but the error."""


@dataclass(frozen=True, slots=True)
class Step:
    """The `nth` call of that name by that actor (from 1) meets this. `error` is the place in the call's errors."""

    actor: str
    call: str
    nth: int
    act: Act
    seconds: float = 0.0
    error: int = 0

    def __str__(self) -> str:
        more = f", {self.seconds:g}" if self.seconds else ""
        more += f", error={self.error}" if self.error else ""
        return f'Step("{self.actor}", "{self.call}", {self.nth}, Act.{self.act.name}{more})'


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that the world or a person does, so many seconds after the start."""

    at_s: float
    what: str

    def __str__(self) -> str:
        return f'Happening({self.at_s:g}, "{self.what}")'


@dataclass(frozen=True, slots=True)
class Call:
    """One outside call. `lost` is what a caller sees when the answer is lost; None: it cannot be."""

    actor: str
    name: str
    nth: int
    lost: type[DriftgateError] | None = None
    errors: tuple[Callable[[], DriftgateError], ...] = ()
    is_write: bool = False


GO = Step("", "", 0, Act.GO)


class Source(Protocol):
    """Says what becomes of a call."""

    def choose(self, call: Call) -> Step: ...


@dataclass(slots=True)
class Script:
    """Plays given steps."""

    steps: Iterable[Step] = ()
    _by_call: dict[tuple[str, str, int], Step] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_call = {(step.actor, step.call, step.nth): step for step in self.steps}

    def choose(self, call: Call) -> Step:
        return self._by_call.get((call.actor, call.name, call.nth), GO)


PAUSES = (0.3, 1.5, 6.0, 20.0, 45.0, 75.0, 95.0, 130.0, 200.0, 400.0)
_CHANCES = {"watch": 0.004, "now": 0.01, "commit": 0.10, "patch_nodepool": 0.25}


@dataclass(slots=True)
class Chance:
    """Chooses by a seed, at most `most` steps, and writes down what it chose."""

    seed: int
    most: int = 3
    only_short_waits: bool = False
    taken: list[Step] = field(default_factory=list)
    _random: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def choose(self, call: Call) -> Step:
        chance = _CHANCES.get(call.name, 0.03)
        if len(self.taken) >= self.most or self._random.random() >= chance:
            return GO
        step = self._step(call)
        self.taken.append(step)
        return step

    def _step(self, call: Call) -> Step:
        wait = Step(call.actor, call.name, call.nth, Act.WAIT, self._random.choice(PAUSES))
        if self.only_short_waits:
            return replace(wait, seconds=self._random.choice(PAUSES[:2]))
        acts = [Act.WAIT, Act.WAIT, Act.DIE_BEFORE, Act.DIE_AFTER]
        acts += [Act.FAIL] if call.errors else []
        acts += [Act.LOSE] if call.lost is not None else []
        acts += [Act.LATE, Act.LATE] if call.lost is not None and call.is_write else []
        act = self._random.choice(acts)
        if call.name == "now" or act is Act.WAIT:
            return wait
        seconds = self._random.choice(PAUSES) if act is Act.LATE else 0.0
        error = self._random.randrange(len(call.errors)) if act is Act.FAIL else 0
        return Step(call.actor, call.name, call.nth, act, seconds, error)
