"""Watches an open gate for one slice: the first sign, or the reason why watching ended.

It writes only to keep the opening alive: a beat every 15 seconds, and a later guard while one fits. It never closes;
whoever called does that, at once, whatever the answer is, unless the answer is that the slice is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from driftgate.app.open_gate import Worker
from driftgate.domain.errors import DriftgateError, LedgerConflictError
from driftgate.domain.guard import needs_renewal
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.nodes import NodeClaimSnapshot, NodeSnapshot
from driftgate.domain.opening_plan import renew_patch, renewed
from driftgate.domain.roll import Roll
from driftgate.domain.signs import Sign, find_signs, nodes_of_claims
from driftgate.ports import ClaimChanged, NodeChanged, PoolChange, PoolMembers, Quiet, Relisted

SLICE = timedelta(seconds=60)
BEAT_EVERY = timedelta(seconds=15)


class WatchEnd(StrEnum):
    """Why watching ended."""

    SIGN = "sign"
    SLICE_OVER = "slice_over"
    REVERT_BY = "revert_by"
    GUARD = "guard"
    """The guard could not be renewed: close."""
    OVERTAKEN = "overtaken"
    """Somebody else wrote this roll's record: a closer was here."""
    BLIND = "blind"
    """The cluster could not be watched: close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The end of a slice. `roll` and `pool` are as last written by this worker."""

    end: WatchEnd
    roll: Roll
    pool: NodePoolSnapshot
    signs: tuple[Sign, ...] = ()
    cause: str = ""


class _Members:
    """The pool's claims and nodes, kept up to date from changes."""

    def __init__(self, members: PoolMembers) -> None:
        self.claims: dict[str, NodeClaimSnapshot] = {claim.name: claim for claim in members.claims}
        self.nodes: dict[str, NodeSnapshot] = {node.name: node for node in members.nodes}
        self._last_nodes: dict[str, str] = {claim.name: claim.node_name for claim in members.claims}

    def take(self, change: PoolChange) -> None:
        match change:
            case ClaimChanged(claim=claim, deleted=deleted):
                self._last_nodes[claim.name] = claim.node_name or self._last_nodes.get(claim.name, "")
                self.claims.pop(claim.name, None) if deleted else self.claims.update({claim.name: claim})
            case NodeChanged(node=node, deleted=deleted):
                self.nodes.pop(node.name, None) if deleted else self.nodes.update({node.name: node})
            case Relisted(claims=claims, nodes=nodes):
                self.claims = {claim.name: claim for claim in claims}
                self.nodes = {node.name: node for node in nodes}
            case Quiet():
                pass

    def signs(self, at_open: tuple[str, ...]) -> tuple[Sign, ...]:
        """The signs so far; one that is gone is named by the node it last had."""
        found = find_signs(at_open, self.claims, nodes_of_claims(self.claims.values(), self.nodes.values()))
        return tuple(replace(s, node=s.node or self._last_nodes.get(s.claim, "")) for s in found)


def signs_among(members: PoolMembers, at_open: tuple[str, ...]) -> tuple[Sign, ...]:
    """The signs that claims as read show, among those that were there at the opening."""
    return _Members(members).signs(at_open)


class GateWatch:
    """One slice of watching one open gate."""

    def __init__(self, worker: Worker, pool: NodePoolSnapshot, roll: Roll) -> None:
        self._worker = worker
        self._pool = pool
        self._roll = roll

    def run(self, members: PoolMembers) -> Watched:
        """Until the first sign, the end of the slice, or trouble. Closing is the caller's, and is urgent."""
        start = self._worker.clock.now()
        until = min(start + SLICE, self._roll.revert_by or start)
        seen = _Members(members)
        if signs := seen.signs(self._roll.claims_at_open):
            return self._end(WatchEnd.SIGN, signs)
        try:
            return self._watch(seen, self._worker.cluster.watch_pool(self._pool.name, members, until - start), until)
        except DriftgateError as error:
            return self._end(WatchEnd.BLIND, cause=str(error))

    def _watch(self, seen: _Members, changes: Iterator[PoolChange], until: datetime) -> Watched:
        try:
            for change in changes:
                seen.take(change)
                ended = self._look(seen, change, until)
                if ended is not None:
                    return ended
        finally:
            close = getattr(changes, "close", None)
            if close is not None:
                close()
        return self._over()

    def _look(self, seen: _Members, change: PoolChange, until: datetime) -> Watched | None:
        if not isinstance(change, Quiet) and (signs := seen.signs(self._roll.claims_at_open)):
            return self._end(WatchEnd.SIGN, signs)
        now = self._worker.clock.now()
        if now >= until:
            return self._over()
        return self._keep_alive(now)

    def _over(self) -> Watched:
        now = self._worker.clock.now()
        past = self._roll.revert_by is not None and now >= self._roll.revert_by
        return self._end(WatchEnd.REVERT_BY if past else WatchEnd.SLICE_OVER)

    def _keep_alive(self, now: datetime) -> Watched | None:
        """Beats and renews where due; an answer only where watching must end."""
        if self._roll.guard_at is not None and needs_renewal(self._roll.guard_at, now):
            return self.renew()
        if self._roll.beat_at is None or now - self._roll.beat_at >= BEAT_EVERY:
            return self._store(replace(self._roll, beat_at=now, holder=self._worker.holder))
        return None

    def renew(self) -> Watched | None:
        """Moves the guard on: claims read directly first, then the ledger, then the patch. None: it was moved.

        Whatever speaks against it, an edit of the list included, ends the watch.
        """
        try:
            members = self._worker.cluster.read_pool(self._pool.name)
            if signs := signs_among(members, self._roll.claims_at_open):
                return self._end(WatchEnd.SIGN, signs)
            return self._move_guard()
        except DriftgateError as error:
            return self._end(WatchEnd.GUARD, cause=str(error))

    def _move_guard(self) -> Watched | None:
        now, old_guard = self._worker.clock.now(), self._roll.guard_at
        later = renewed(self._roll, now)
        if later is None or old_guard is None:
            return self._end(WatchEnd.GUARD, cause="no later guard fits before the gate must be shut")
        ended = self._store(replace(later, beat_at=now, holder=self._worker.holder))
        if ended is not None:
            return ended
        patch = renew_patch(self._pool, self._roll, self._worker.deployment)
        self._pool = self._worker.cluster.patch_nodepool(self._pool.name, patch)
        if self._worker.clock.now() >= old_guard:
            return self._end(WatchEnd.GUARD, cause="the renewal landed after the guard's minute")
        return self._store(replace(self._roll, generation=self._pool.generation))

    def _store(self, roll: Roll) -> Watched | None:
        try:
            self._roll = self._worker.store(roll)
        except LedgerConflictError as error:
            return self._end(WatchEnd.OVERTAKEN, cause=str(error))
        except DriftgateError as error:
            return self._end(WatchEnd.BLIND, cause=str(error))
        return None

    def _end(self, end: WatchEnd, signs: tuple[Sign, ...] = (), cause: str = "") -> Watched:
        return Watched(end=end, roll=self._roll, pool=self._pool, signs=signs, cause=cause)
