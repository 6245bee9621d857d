"""One message, one cluster, one slice: observe now, decide now, apply; a gate that is open is watched.

The message is only a hint that a look is due. A gate that is overdue or abandoned is closed before anything is
read. Nothing here decides: it carries out what `judge` and `advance` say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from driftgate.app.close_roll import ClosingReport, close_and_record, close_persistently
from driftgate.app.follow_roll import follow
from driftgate.app.gate_turn import GateTurn
from driftgate.app.observe import observe, with_ledger
from driftgate.app.open_gate import Worker
from driftgate.app.pipeline import Pipeline
from driftgate.app.run_report import RunReport
from driftgate.app.tell import Teller
from driftgate.app.watch_gate import SLICE
from driftgate.domain import stories
from driftgate.domain.advance import Advance
from driftgate.domain.errors import DriftgateError, InvariantError, LeaseHeldError, LedgerConflictError
from driftgate.domain.image_parameters import names_in_use, unknown_aliases
from driftgate.domain.judge import Judgement, judge
from driftgate.domain.ledger import LeaseRecord, Stop
from driftgate.domain.look import next_look
from driftgate.domain.observation import Observation
from driftgate.domain.plan import ActionKind, Alert
from driftgate.domain.policy import ClusterPolicy, NowRequest
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll
from driftgate.domain.roll_clock import is_abandoned, is_overdue
from driftgate.domain.stops import is_lifted
from driftgate.ports import Cluster, ExpectStops, LedgerState, PutLook, RemoveStop, WorkMessage

LEASE = timedelta(seconds=150)
"""Longer than a slice and its closing; shorter than the queue's second delivery would like to wait."""


def reconcile(
    pipeline: Pipeline, message: WorkMessage, request: NowRequest | None = None, *, may_open: bool = True
) -> RunReport:
    """One look at one cluster. A cluster that another worker holds is left to it, but for gates that are overdue.

    `may_open` False follows and closes, and opens nothing new.
    """
    report = RunReport(cluster=message.cluster)
    policy = pipeline.policy(message.cluster)
    try:
        lease = pipeline.ledger.acquire_lease(message.cluster, pipeline.holder, pipeline.clock.now(), LEASE)
    except LeaseHeldError as error:
        report.held_by = error.holder
        close_neglected(pipeline, policy, pipeline.ledger.load(message.cluster).rolls, report)
        return report
    try:
        ClusterRun(pipeline, policy, lease, report, request).run(message, may_open=may_open)
    finally:
        _release(pipeline, lease, report)
    return report


def close_neglected(pipeline: Pipeline, policy: ClusterPolicy, rolls: Iterable[Roll], report: RunReport) -> bool:
    """Every gate that is past its time, or whose worker is gone, is shut, written down and told; whether any was.

    Raises ClusterUnavailableError after all were tried, where one could not be shut.
    """
    now, teller, closing = pipeline.clock.now(), Teller(pipeline.publisher), ClosingReport()
    due = [roll for roll in rolls if roll.may_be_open and (is_overdue(roll, now) or is_abandoned(roll, now))]
    for roll in due:
        reason = ReasonCode.OPEN_TIMEOUT if is_overdue(roll, now) else ReasonCode.ABANDONED
        close_and_record(pipeline, roll, policy.deployment, reason, teller, closing)
    report.closed += [name.partition("/")[2] for name in closing.closed]
    report.problems += [*closing.problems, *teller.failures]
    closing.raise_failures()
    return bool(due)


def _release(pipeline: Pipeline, lease: LeaseRecord, report: RunReport) -> None:
    try:
        pipeline.ledger.release_lease(lease)
    except DriftgateError as error:
        report.problems.append(f"the lease was not given back: {error}")


class ClusterRun:
    """One slice under one lease."""

    def __init__(
        self,
        pipeline: Pipeline,
        policy: ClusterPolicy,
        lease: LeaseRecord,
        report: RunReport,
        request: NowRequest | None,
    ) -> None:
        self._pipeline = pipeline
        self._policy = policy
        self._request = request
        self._report = report
        self._teller = Teller(pipeline.publisher)
        self._cluster: Cluster = pipeline.clusters.connect(policy.cluster)
        self._worker = Worker(
            cluster=self._cluster,
            ledger=pipeline.ledger,
            clock=pipeline.clock,
            name=policy.cluster,
            deployment=policy.deployment,
            holder=lease.holder,
            token=lease.token,
        )

    def run(self, message: WorkMessage, *, may_open: bool) -> None:
        """Closes, observes, decides, follows, opens at most one gate, and watches the one that is open."""
        known = self._pipeline.ledger.load(self._policy.cluster)
        if close_neglected(self._pipeline, self._policy, known.rolls, self._report):
            known = self._pipeline.ledger.load(self._policy.cluster)
        observation = observe(self._pipeline.sources(self._cluster), self._policy, known, self._pipeline.clock.now())
        judgement, known = self._decide_and_follow(observation, known)
        self._tell_verdicts(judgement, known)
        self._pipeline.ledger.commit(self._policy.cluster, self._look(observation, known))
        turn = GateTurn(self._worker, self._teller, self._report)
        roll = turn.open_or_resume(judgement, known, may_open=may_open)
        if roll is not None:
            self._go_on_or_shut(turn, roll, message)
        self._report.problems += self._teller.failures

    def _look(self, seen: Observation, known: LedgerState) -> PutLook:
        for alias in unknown_aliases(seen.node_classes):
            self._report.problems.append(
                f"{alias} is of a family that is not known here: its parameters are not polled"
            )
        return PutLook(
            at=seen.at,
            parameters=names_in_use(seen, known.parameters),
            due_at=next_look(self._policy, seen.at),
            config=self._pipeline.config_digest,
        )

    def _go_on_or_shut(self, turn: GateTurn, roll: Roll, message: WorkMessage) -> None:
        """A gate that nobody can go on with does not wait for its guard."""
        try:
            self._go_on(turn, roll, message)
        except DriftgateError as error:
            turn.shut_unattended(roll, error)
        except Exception as error:
            turn.shut_unattended(roll, InvariantError(f"{type(error).__name__}: {error}"))
            raise

    def _go_on(self, turn: GateTurn, roll: Roll, message: WorkMessage) -> None:
        """The slice is over and the gate still open: decide again; close, or hand over with a fresh guard."""
        known = self._pipeline.ledger.load(self._policy.cluster)
        seen = observe(self._pipeline.sources(self._cluster), self._policy, known, self._pipeline.clock.now())
        judgement = self._judge(seen)
        self._follow_all(judgement, known)
        standing = next((r for r, step in judgement.steps if r.id == roll.id and not step.close), None)
        if standing is not None and turn.hand_over(standing):
            slice_number = int((self._pipeline.clock.now() - (roll.opened_at or roll.state_since)) / SLICE)
            self._pipeline.queue.send(replace(message, dedup=f"{roll.id}:{slice_number}", cause="continue"))
            self._report.continues = True

    def _decide_and_follow(self, seen: Observation, known: LedgerState) -> tuple[Judgement, LedgerState]:
        """Judges, carries out every roll's step (closings first), and judges again where that changed anything."""
        judgement = self._judge(seen)
        moved = (
            self._follow_all(judgement, known) | self._close_leftovers(judgement, known) | self._lift_stops(seen, known)
        )
        if moved:
            known = self._pipeline.ledger.load(self._policy.cluster)
            judgement = self._judge(replace(with_ledger(seen, known), nodepools=self._cluster.list_nodepools()))
        self._report.plan = judgement.plan
        return judgement, known

    def _judge(self, seen: Observation) -> Judgement:
        return judge(seen, self._policy, request=self._request)

    def _follow_all(self, judgement: Judgement, known: LedgerState) -> bool:
        steps = sorted(judgement.steps, key=lambda pair: not pair[1].close)
        moved = [self._follow(roll, step, known) for roll, step in steps]
        return any(moved)

    def _follow(self, roll: Roll, step: Advance, known: LedgerState) -> bool:
        self._report.saw(roll)
        try:
            return follow(self._worker, roll, step, known, self._teller, self._report) != roll
        except LedgerConflictError as error:
            self._report.problems.append(f"{roll.id}: {error}")
            return True

    def _close_leftovers(self, judgement: Judgement, known: LedgerState) -> bool:
        """Gates of ours that stand without a roll in the ledger."""
        rolls = {roll.pool for roll, _ in judgement.steps}
        left = [p for p in judgement.plan.pools if p.action.kind is ActionKind.CLOSE and p.name not in rolls]
        for plan in left:
            try:
                close_persistently(self._cluster, self._pipeline.clock, plan.name, None, self._policy.deployment)
                self._report.closed.append(plan.name)
            finally:
                for alert in plan.alerts:
                    self._tell_alert(known, plan.name, alert)
        return bool(left)

    def _lift_stops(self, seen: Observation, known: LedgerState) -> bool:
        """Takes away the stops that wait for nothing more, unless one was written since: it may be the same again."""
        if not self._lifted(seen, known):
            return False
        fresh = self._pipeline.ledger.load(self._policy.cluster)
        removed = [RemoveStop(stop) for stop in self._lifted(seen, fresh)]
        try:
            self._pipeline.ledger.commit(self._policy.cluster, ExpectStops(fresh.stops_revision), *removed)
        except LedgerConflictError as error:
            self._report.problems.append(f"no stop was lifted: {error}")
        return True

    def _lifted(self, seen: Observation, known: LedgerState) -> list[Stop]:
        current = with_ledger(seen, known)
        return [stop for stop in known.stops if stop.cluster == self._policy.cluster and is_lifted(stop, current)]

    def _tell_verdicts(self, judgement: Judgement, known: LedgerState) -> None:
        for plan in judgement.plan.pools:
            event = stories.of_verdict(self._policy.cluster, plan, self._pipeline.clock.now())
            fingerprint = stories.fingerprint(plan, judgement.plan.at)
            if event is not None:
                self._teller.tell_once(
                    self._pipeline.ledger, known, self._pipeline.clock, f"verdict/{plan.name}", fingerprint, event
                )
            for alert in plan.alerts:
                self._tell_alert(known, plan.name, alert)

    def _tell_alert(self, known: LedgerState, pool: str, alert: Alert) -> None:
        self._teller.tell_alert(self._pipeline.ledger, known, self._pipeline.clock, (pool, ""), alert)
