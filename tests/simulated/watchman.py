"""Watches everything that is written to a simulated cluster and says which promise it broke.

It judges by the store's own changes and by the model's account of what Karpenter took, never by what the product
says of itself. A broken promise is a line in `broken`; a test asserts that there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from driftgate.domain.allowance import allowed
from driftgate.domain.budget import Budget, DisruptionReason, from_objects
from driftgate.domain.duration import parse_duration
from driftgate.domain.gate import shuts_drifted
from driftgate.domain.marks import is_guard_mark, is_mark, is_open_mark
from driftgate.domain.nodepool import ROLL_ANNOTATION
from driftgate.domain.roll_annotation import LiveRoll, from_text
from driftgate.domain.roll_steps import NOW_KEY
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.objects import JsonDict, annotations_of
from driftgate.sim.store import Change, Stored
from driftgate.sim.witness import Disruption, budgets_of
from tests.gate_policy import refusals
from tests.simulated.comparing import everything_else, taken_away
from tests.simulated.opening import Opening, Permit, always

OURS = "driftgate"
MANY = 1000
LONGEST = timedelta(hours=8736)
SLICE = timedelta(seconds=61)
LAG = timedelta(seconds=0.5)
"""What Karpenter may take after the guard's minute: a decision on its way, made a moment before."""


class Watchman:
    """Hears every change. `permit` says what really holds; `per_window` is what the owner allows.

    `is_troubled` says whether the worker of the moment slept or had no answers before it opened.
    """

    def __init__(
        self,
        sim: SimCluster,
        permit: Permit = always,
        per_window: int | None = None,
        is_troubled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.sim = sim
        self.permit = permit
        self.per_window = per_window
        self.is_troubled = is_troubled
        self.openings: list[Opening] = []
        self.by_person: list[Disruption] = []
        self.broken: list[str] = []
        self.on_opened: Callable[[], None] = lambda: None
        self._judged = 0
        sim.store.listeners.append(self._heard)

    def standing(self, pool: str | None = None) -> list[Opening]:
        """Openings whose marks still stand."""
        return [o for o in self.openings if o.closed_at is None and pool in (None, o.pool)]

    def disturb(self) -> None:
        """Somebody of ours died, slept or got no answer: what stands open now is no longer watched as it should be."""
        for opening in self.standing():
            opening.is_disturbed = True

    def ledger_lost(self) -> None:
        """What only the ledger knew is known no more: which rolls are on their way, how often a lost pool opened."""
        self.disturb()
        for opening in self.openings:
            opening.is_forgotten = True

    def facts_changed(self) -> None:
        """Something in the world changed that may speak against what stands open, or no longer does."""
        now = self.sim.clock.now()
        for opening in self.standing():
            objected = bool(self.permit(opening.pool, now, opening.is_now).against)
            opening.objected_at = (opening.objected_at or now) if objected else None

    def histogram(self) -> Counter[int]:
        """How many openings took how many nodes."""
        self.look()
        return Counter(len(opening.taken) for opening in self.openings)

    def look(self) -> None:
        """Takes in what Karpenter did since the last look, and judges what shows only in time."""
        taken = self.sim.witness.disruptions[self._judged :]
        self._judged += len(taken)
        for disruption in taken:
            if disruption.reason == DisruptionReason.DRIFTED:
                self._attribute(disruption)
        self._judge_counts()
        self._judge_forbidden()

    # --- what is written ---------------------------------------------------------------------------

    def _heard(self, change: Change) -> None:
        if change.kind is NODEPOOLS and change.type == "DELETED":
            self._pool_gone(change.after.name, change.at)
        elif change.manager == OURS and (change.kind is not NODEPOOLS or change.before is None):
            self._say(f"driftgate wrote a {change.kind.kind}")
        elif change.kind is NODEPOOLS and change.before is not None:
            self._pool_changed(change, change.before.obj)

    def _pool_gone(self, pool: str, at: datetime) -> None:
        for opening in self.openings:
            if opening.pool == pool:
                opening.closed_at = opening.closed_at or at
                opening.is_traceless = True

    def _note_replaced(self, pool: str) -> None:
        """The note of a person's `--now` stands where the window's count stood: now only the ledger has that."""
        for opening in self.openings:
            opening.is_traceless = opening.is_traceless or opening.pool == pool

    def _pool_changed(self, change: Change, was: JsonDict) -> None:
        before, after = from_objects(list(budgets_of(was))), from_objects(list(budgets_of(change.after.obj)))
        if change.manager == OURS and everything_else(was) != everything_else(change.after.obj):
            self._say(f"driftgate changed more than budgets and its annotation in {change.after.name}")
        if before == after:
            return
        if change.manager == OURS:
            self._wrote(change, before, after)
        else:
            self._person_wrote(change, after)

    def _person_wrote(self, change: Change, after: tuple[Budget, ...]) -> None:
        for opening in self.standing(change.after.name):
            opening.is_edited = True
            opening.closed_at = None if _is_open(after) else change.at

    def _wrote(self, change: Change, before: tuple[Budget, ...], after: tuple[Budget, ...]) -> None:
        pool, was_open, is_open = change.after.name, _is_open(before), _is_open(after)
        for refusal in refusals(before, after):
            self._say(f"{pool}: the admission policy would refuse the write: {refusal}")
        if any(b.duration and parse_duration(b.duration) > LONGEST for b in after if b not in before):
            self._say(f"{pool}: an entry lasts longer than 8736h")
        if is_open and not was_open:
            self._opened(change, before)
        if is_open:
            self._judge_guard(change, after)
        else:
            self._closed(change, before, after, _note_of(change.before))

    def _opened(self, change: Change, before: tuple[Budget, ...]) -> None:
        pool, live = change.after.name, from_text(_note_of(change.after))
        if not isinstance(live, LiveRoll):
            self._say(f"{pool}: opened without a record")
            return
        self._judge_others(pool)
        if any(is_mark(budget) for budget in before):
            self._say(f"{pool}: opened over marks that stood there")
        if any(o.pool == pool and o.guard_at > change.at and not o.is_forgotten for o in self.openings):
            self._say(f"{pool}: opened again before the last opening's guard had passed")
        if _is_now(live):
            self._note_replaced(pool)
        permission = self.permit(pool, change.at, _is_now(live))
        self.openings.append(
            Opening(
                id=live.id,
                pool=pool,
                at=change.at,
                guard_at=live.guard_at,
                window=permission.window,
                is_now=_is_now(live),
                baseline=before,
                against=permission.against,
                is_disturbed=self.is_troubled(),
            )
        )
        self.on_opened()

    def _judge_guard(self, change: Change, after: tuple[Budget, ...]) -> None:
        """I4 and I1: an opening ends by itself, within 90 s, and before the permission does."""
        pool, live = change.after.name, from_text(_note_of(change.after))
        standing = self.standing(pool)
        if not isinstance(live, LiveRoll) or not standing:
            self._say(f"{pool}: a gate stands open without a record")
            return
        standing[-1].guard_at = live.guard_at
        if live.guard_at - change.at > timedelta(seconds=90):
            self._say(f"{pool}: the guard comes only after {live.guard_at - change.at}")
        if sum(map(is_guard_mark, after)) != 1 or _allows(after, live.guard_at) != 0:
            self._say(f"{pool}: the guard does not shut the gate")
        if live.guard_at > change.at and (_allows(after, change.at) or 0) > 1:
            self._say(f"{pool}: opened for more than one")
        end = self.permit(pool, change.at, _is_now(live)).end
        if end is not None and live.guard_at > max(end, change.at):
            self._say(f"{pool}: may stand open until {live.guard_at}, but the permission ends at {end}")

    def _judge_others(self, pool: str) -> None:
        """I2: at most one roll in flight in the cluster."""
        self.look()
        now = self.sim.clock.now()
        for opening in self.openings:
            if opening.closed_at is None and opening.guard_at > now:
                self._say(f"{pool}: opened while {opening.pool} stands open")
            flying = [taken for taken in opening.taken if self.sim.witness.taken(taken.claim) is taken]
            if flying and len(opening.taken) == 1 and not opening.is_forgotten:
                self._say(f"{pool}: opened while {flying[0].node} of {opening.pool} is in flight")

    def _closed(self, change: Change, before: tuple[Budget, ...], after: tuple[Budget, ...], note: str | None) -> None:
        """I3: the baseline exactly, or the person's edit with the gate shut; no mark is left."""
        pool, standing = change.after.name, self.standing(change.after.name)
        if any(is_mark(budget) for budget in after):
            self._say(f"{pool}: closed with marks left behind")
        if not any(map(is_mark, before)) and not isinstance(from_text(note), LiveRoll):
            self._say(f"{pool}: its budgets were written though nothing of ours stood there")
        for opening in standing:
            opening.closed_at = change.at
            self._judge_end(opening, before, after)

    def _judge_end(self, opening: Opening, before: tuple[Budget, ...], after: tuple[Budget, ...]) -> None:
        if not opening.is_edited and after != opening.baseline:
            self._say(f"{opening.pool}: the baseline is not back")
        if opening.is_edited and not shuts_drifted(after):
            self._say(f"{opening.pool}: closed after an edit, and the gate is not shut")
        if opening.is_edited and (lost := taken_away(opening.baseline, before, after)):
            self._say(f"{opening.pool}: closing took a person's entries {lost}")

    # --- what Karpenter did ------------------------------------------------------------------------

    def _attribute(self, disruption: Disruption) -> None:
        seen = from_objects(list(disruption.seen_budgets))
        ours = [o for o in self.openings if o.pool == disruption.pool and o.at <= disruption.at]
        if not _is_open(seen) or not ours:
            self.by_person.append(disruption)
            return
        opening = ours[-1]
        opening.taken.append(disruption)
        if disruption.at > opening.guard_at + LAG:
            self._say(f"{disruption.node} was taken {disruption.at - opening.guard_at} after the guard's minute")
        if len(opening.taken) > 1 and not opening.is_disturbed:
            nodes = [taken.node for taken in opening.taken]
            self._say(f"{opening.id} took {nodes}, though nothing disturbed it")

    def _judge_counts(self) -> None:
        if self.per_window is None:
            return
        known = [o for o in self.openings if not (o.is_forgotten and o.is_traceless)]
        took = Counter((o.pool, o.window) for o in known if o.taken and o.window is not None)
        for (pool, window), count in took.items():
            if count > self.per_window:
                self._say(f"{pool}: {count} openings took a node in the window of {window}")

    def _judge_forbidden(self) -> None:
        """I1: an opening that something spoke against. One that came out of a sleep ends within 90 s."""
        for opening in self.openings:
            stood = opening.stood_until(self.sim.clock.now()) - opening.at
            if opening.against and stood > (timedelta(seconds=90) if opening.is_disturbed else timedelta(0)):
                self._say(f"{opening.pool}: opened at {opening.at} although {', '.join(opening.against)}")
            since = opening.objected_at
            if since and not opening.is_disturbed and opening.stood_until(self.sim.clock.now()) - since > SLICE:
                self._say(f"{opening.pool}: stands open longer than a slice against an objection of {since}")

    def _say(self, what: str) -> None:
        if what not in self.broken:
            self.broken.append(what)


def _is_now(live: LiveRoll) -> bool:
    return live.window_key.startswith(NOW_KEY)


def _note_of(stored: Stored | None) -> str | None:
    return None if stored is None else annotations_of(stored.obj).get(ROLL_ANNOTATION)


def _is_open(budgets: Sequence[Budget]) -> bool:
    return any(is_open_mark(budget) for budget in budgets)


def _allows(budgets: Sequence[Budget], at: datetime) -> int | None:
    return allowed(budgets, MANY, at, DisruptionReason.DRIFTED)
