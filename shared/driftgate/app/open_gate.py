"""Opens one gate, in the order that no interleaving breaks.

Intent (on condition that no stop came since the ledger was read), claims as they are, the guard written down,
patch, and then the ledger again: a stop that came meanwhile closes at once. Whatever is not known ends closed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from driftgate.domain.errors import (
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    DriftgateError,
    LedgerConflictError,
    NodePoolChangedError,
    PatchRejectedError,
    PermanentError,
    TransientError,
)
from driftgate.domain.ledger import CounterRecord
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.opening_plan import in_state, open_patch, timed
from driftgate.domain.roll import Roll, RollState
from driftgate.domain.signs import nodes_of_claims, unsigned_claims
from driftgate.ports import (
    Clock,
    Cluster,
    ExpectLease,
    ExpectStops,
    Ledger,
    LedgerState,
    PoolMembers,
    PutCounter,
    PutRoll,
)

STATUS_WRITES = 4
"""How often a patch is made again because Karpenter wrote the status of a NodePool that we never opened before."""


class OpeningResult(StrEnum):
    """How an opening went."""

    OPENED = "opened"
    OVERTAKEN = "overtaken"
    """Somebody wrote to the ledger first: no intent was written, nothing was opened."""
    REFUSED = "refused"
    """A stop came, the NodePool changed, or the server said no: an intent stands, nothing was opened."""
    UNSURE = "unsure"
    """It may have been opened and may not: it must be closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What came of it. `roll` is the record as stored, `pool` the NodePool as the server answered."""

    result: OpeningResult
    roll: Roll
    pool: NodePoolSnapshot | None = None
    members: PoolMembers | None = None
    error: DriftgateError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Who opens, where, and with which lease."""

    cluster: Cluster
    ledger: Ledger
    clock: Clock
    name: str
    deployment: str
    holder: str
    token: int

    def lease(self) -> ExpectLease:
        return ExpectLease(self.holder, self.token)

    def store(self, roll: Roll, *conditions: ExpectStops) -> Roll:
        """The roll as stored. Raises LedgerConflictError."""
        self.ledger.commit(self.name, PutRoll(roll), self.lease(), *conditions)
        return replace(roll, version=roll.version + 1)


def open_gate(worker: Worker, pool: NodePoolSnapshot, planned: Roll, known: LedgerState) -> Opening:
    """Opens the gate of `pool` for the planned roll, or says why not. Never leaves it open unknown to the ledger.

    Raises:
        LedgerUnavailableError: before anything was opened.
    """
    stops = ExpectStops(known.stops_revision)
    try:
        intent = _reserve(worker, planned, known, stops)
    except LedgerConflictError as error:
        return Opening(result=OpeningResult.OVERTAKEN, roll=planned, error=error)
    members = worker.cluster.read_pool(pool.name)
    ready = _opening(worker, intent, members)
    if ready is None:
        return Opening(result=OpeningResult.REFUSED, roll=intent)
    try:
        opening = worker.store(ready, stops)
    except LedgerConflictError as error:
        return Opening(result=OpeningResult.REFUSED, roll=intent, error=error)
    return _patch(worker, pool, opening, members, stops)


def counter_of(key: str, known: LedgerState) -> CounterRecord | None:
    """The stored counter of a window, None where there is none yet."""
    return next((counter for counter in known.counters if counter.window_key == key), None)


def _reserve(worker: Worker, planned: Roll, known: LedgerState, stops: ExpectStops) -> Roll:
    counter = counter_of(planned.window_key, known)
    taken = CounterRecord(
        window_key=planned.window_key,
        taken=(counter.taken if counter else 0) + 1,
        unused=counter.unused if counter else 0,
    )
    intent = in_state(planned, RollState.PLANNED, worker.clock.now(), worker.holder)
    worker.ledger.commit(worker.name, PutRoll(intent), PutCounter(taken, counter), worker.lease(), stops)
    return replace(intent, version=intent.version + 1)


def _opening(worker: Worker, intent: Roll, members: PoolMembers) -> Roll | None:
    now = worker.clock.now()
    ready = timed(intent, now)
    if ready is None:
        return None
    clean = unsigned_claims(members.claims, nodes_of_claims(members.claims, members.nodes))
    return replace(in_state(ready, RollState.OPENING, now, worker.holder), claims_at_open=clean)


def _patch(worker: Worker, pool: NodePoolSnapshot, roll: Roll, members: PoolMembers, stops: ExpectStops) -> Opening:
    try:
        after = _send(worker, pool, roll)
    except (NodePoolChangedError, PatchRejectedError, ClusterForbiddenError, ClusterUnauthorizedError) as error:
        return Opening(result=OpeningResult.REFUSED, roll=roll, error=error)
    except (TransientError, PermanentError) as error:
        return Opening(result=OpeningResult.UNSURE, roll=roll, error=error)
    opened = replace(in_state(roll, RollState.OPENED, worker.clock.now(), worker.holder), generation=after.generation)
    try:
        stored = worker.store(opened, stops)
    except (TransientError, PermanentError) as error:
        return Opening(result=OpeningResult.UNSURE, roll=opened, pool=after, error=error)
    return Opening(result=OpeningResult.OPENED, roll=stored, pool=after, members=members)


def _send(worker: Worker, pool: NodePoolSnapshot, roll: Roll) -> NodePoolSnapshot:
    """The NodePool as opened. Where nothing but its status was written meanwhile, the patch is made and sent again.

    Raises NodePoolChangedError where anything that matters changed.
    """
    seen = pool
    for _ in range(STATUS_WRITES):
        try:
            return worker.cluster.patch_nodepool(seen.name, open_patch(seen, roll, worker.deployment))
        except NodePoolChangedError:
            fresh = worker.cluster.get_nodepool(seen.name)
            if not _is_same_but_for_status(seen, fresh):
                raise
            seen = fresh
    return worker.cluster.patch_nodepool(seen.name, open_patch(seen, roll, worker.deployment))


def _is_same_but_for_status(seen: NodePoolSnapshot, fresh: NodePoolSnapshot) -> bool:
    """Whether only the resourceVersion moved, which the patch tests where there is no annotation of ours yet."""
    untouched = seen.roll_annotation is None and fresh.roll_annotation is None
    return untouched and (seen.generation, seen.budgets) == (fresh.generation, fresh.budgets)
