"""One turn with an open gate: open it or go on with it, watch, and shut it unless the slice is simply over.

Nothing slow happens between the opening and the watch, nor between the sign and the closing: people are told
before the one and after the other.
"""

from __future__ import annotations

from dataclasses import replace

from driftgate.app.close_roll import store_closed
from driftgate.app.follow_roll import follow, record, shut
from driftgate.app.open_gate import Opening, OpeningResult, Worker, open_gate
from driftgate.app.run_report import RunReport
from driftgate.app.tell import Teller
from driftgate.app.watch_gate import GateWatch, Watched, WatchEnd, signs_among
from driftgate.domain import stories
from driftgate.domain.advance import Advance, neglect, recounted, taken, to_closed, to_unopened
from driftgate.domain.errors import DriftgateError, LedgerConflictError
from driftgate.domain.guard import GUARD_LEAD
from driftgate.domain.judge import Judgement
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.plan import ActionKind
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.ports import LedgerState, PoolMembers

_REASONS = {
    WatchEnd.REVERT_BY: ReasonCode.OPEN_TIMEOUT,
    WatchEnd.GUARD: ReasonCode.OPEN_TIMEOUT,
    WatchEnd.BLIND: ReasonCode.UNKNOWN,
    WatchEnd.OVERTAKEN: ReasonCode.STOPPED,
}


class GateTurn:
    """What one worker does with one gate in one slice."""

    def __init__(self, worker: Worker, teller: Teller, report: RunReport) -> None:
        self._worker = worker
        self._teller = teller
        self._report = report
        self._known = LedgerState(cluster=worker.name)

    def open_or_resume(self, judgement: Judgement, known: LedgerState, *, may_open: bool) -> Roll | None:
        """The roll whose gate is still open after this slice; None where none is."""
        standing = next((r for r, step in judgement.steps if r.state is RollState.OPENED and not step.close), None)
        self._known = known
        if standing is not None:
            return self._resume(standing)
        plan = next((p for p in judgement.plan.pools if p.action.kind is ActionKind.OPEN), None)
        may_open = may_open and not judgement.is_unsettled
        if not may_open or plan is None or plan.action.roll is None:
            return None
        planned = plan.action.roll
        self._teller.tell([stories.of_opening(planned, plan, self._worker.clock.now())])
        opening = open_gate(self._worker, judgement.nodepool(plan.name), planned, known)
        self._report.saw(opening.roll)
        if opening.result is not OpeningResult.OPENED or opening.pool is None or opening.members is None:
            self._give_up(opening)
            return None
        self._report.opened.append(plan.name)
        return self._end(self._watched(opening.pool, opening.roll, opening.members))

    def hand_over(self, roll: Roll) -> bool:
        """Whether the gate may stay open for the next slice: its guard is at least 30 s ahead, moved on if need be."""
        if roll.guard_at is not None and roll.guard_at - self._worker.clock.now() >= GUARD_LEAD:
            return True
        ended = GateWatch(self._worker, self._worker.cluster.get_nodepool(roll.pool), roll).renew()
        return ended is None or self._end(ended) is not None

    def shut_unattended(self, roll: Roll, why: DriftgateError) -> None:
        """The gate is shut because nobody can go on with it: what is needed to watch it does not answer.

        Raises ClusterUnavailableError where it could not be shut: its guard does that.
        """
        self._report.problems.append(f"{roll.pool}: {why}")
        self._shut(roll, to_closed(roll, ReasonCode.UNKNOWN, self._worker.clock.now()))

    def _resume(self, roll: Roll) -> Roll | None:
        try:
            members, pool = self._worker.cluster.read_pool(roll.pool), self._worker.cluster.get_nodepool(roll.pool)
        except DriftgateError as error:
            self.shut_unattended(roll, error)
            return None
        return self._end(self._watched(pool, roll, members))

    def _watched(self, pool: NodePoolSnapshot, roll: Roll, members: PoolMembers) -> Watched:
        """One slice of watching. Whatever breaks it, a bug of ours included, the gate is shut before it is heard of."""
        try:
            return GateWatch(self._worker, pool, roll).run(members)
        except Exception:
            self._shut(roll, to_closed(roll, ReasonCode.UNKNOWN, self._worker.clock.now()))
            raise

    def _end(self, watched: Watched) -> Roll | None:
        """The roll while its gate may stay open; else the gate is shut first of all."""
        if watched.end is WatchEnd.SLICE_OVER:
            return watched.roll
        now = self._worker.clock.now()
        if watched.signs:
            self._shut(watched.roll, taken(watched.roll, watched.signs, now))
        else:
            self._shut(watched.roll, to_closed(watched.roll, _REASONS[watched.end], now))
        if watched.cause:
            self._report.problems.append(f"{watched.roll.pool}: {watched.end}: {watched.cause}")
        return None

    def _give_up(self, opening: Opening) -> None:
        """Nothing was opened, or nobody knows: then it is closed."""
        if opening.error is not None:
            self._report.problems.append(f"{opening.roll.pool}: {opening.result}: {opening.error}")
        now = self._worker.clock.now()
        match opening.result:
            case OpeningResult.REFUSED:
                self._step(opening.roll, to_unopened(opening.roll, now))
            case OpeningResult.UNSURE:
                self._shut(opening.roll, to_closed(opening.roll, ReasonCode.UNKNOWN, now))
            case OpeningResult.OVERTAKEN | OpeningResult.OPENED:
                pass

    def _shut(self, roll: Roll, step: Advance) -> None:
        """Shuts the gate and writes it down; where somebody wrote the record meanwhile, that one is closed too."""
        worker = self._worker
        done = self._counted(roll, shut(worker, step, self._known, self._teller, self._report))
        try:
            record(worker, roll, done, self._known, self._teller, self._report)
        except LedgerConflictError:
            now, restored = worker.clock.now(), done.roll.baseline_restored
            stored = store_closed(worker.ledger, worker.name, roll, now, worker.holder, is_restored=restored)
            self._report.saw(stored)

    def _counted(self, roll: Roll, done: Advance) -> Advance:
        """The step with all that went by the time the gate was shut, and with word of a worker that had slept."""
        now = self._worker.clock.now()
        _, neglected = neglect(roll, now)
        try:
            signs = signs_among(self._worker.cluster.read_pool(roll.pool), roll.claims_at_open)
        except DriftgateError as error:
            self._report.problems.append(f"{roll.pool}: what went is counted at the next look: {error}")
            signs = ()
        counted = recounted(done, signs, now)
        return replace(counted, alerts=neglected + counted.alerts)

    def _step(self, roll: Roll, step: Advance) -> None:
        try:
            known = self._worker.ledger.load(self._worker.name)
            follow(self._worker, roll, step, known, self._teller, self._report)
        except DriftgateError as error:
            self._report.problems.append(f"{roll.id}: {error}")
