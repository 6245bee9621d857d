"""Ledger records as JSON objects with camelCase keys: one form for file, DynamoDB, snapshot and log.

What is empty or not known is left out; reading gives the same value back (times to the millisecond).
A roll written by hand may be sparse: what follows from its other fields is filled in.
Must not know where a record is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

from driftgate.domain.budget import Budget, from_objects, to_objects
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.fields import Fields
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.ledger import (
    FLEET,
    Approval,
    CounterRecord,
    ImageVerdict,
    LeaseRecord,
    Stop,
    StopCause,
)
from driftgate.domain.roll import Roll, RollState

T = TypeVar("T")
GATE_STATES = (RollState.PLANNED, RollState.OPENING, RollState.OPENED)


def roll_to_object(roll: Roll) -> dict[str, object]:
    return known(
        id=roll.id,
        cluster=roll.cluster,
        pool=roll.pool,
        state=roll.state.value,
        stateSince=rfc3339(roll.state_since),
        windowKey=roll.window_key,
        image=roll.image,
        generation=roll.generation,
        openedAt=rfc3339(roll.opened_at),
        guardAt=rfc3339(roll.guard_at),
        revertBy=rfc3339(roll.revert_by),
        beatAt=rfc3339(roll.beat_at),
        holder=roll.holder,
        claimsAtOpen=list(roll.claims_at_open),
        signAt=rfc3339(roll.sign_at),
        sign=roll.sign,
        node=roll.node,
        claim=roll.claim,
        alsoTaken=list(roll.also_taken),
        closedAt=rfc3339(roll.closed_at),
        closedBy=roll.closed_by,
        replacement=roll.replacement,
        endedAt=rfc3339(roll.ended_at),
        trigger=roll.trigger,
    ) | {
        "baseline": to_objects(roll.baseline),
        "opened": to_objects(roll.opened),
        "count": roll.count,
        "baselineRestored": roll.baseline_restored,
        "version": roll.version,
    }


def roll_from_object(entry: object, place: str = "roll", *, strict: bool = False) -> Roll:
    """The roll; `strict` refuses unknown fields (a ledger may hold those of a newer version).

    Raises InvalidInputError with the field's place.
    """
    return read_record(_roll, entry, place, strict=strict)


def _roll(fields: Fields) -> Roll:
    pool = fields.required_text("pool")
    state, since = _state(fields)
    baseline = _baseline(fields, state)
    count = fields.integer("count")
    return Roll(
        id=fields.text("id") or f"{since:%Y%m%dT%H%M%SZ}-{pool}",
        cluster=fields.text("cluster"),
        pool=pool,
        state=state,
        state_since=since,
        window_key=fields.text("windowKey"),
        baseline=baseline,
        opened=_budgets(fields, "opened") or (),
        revert_by=fields.instant("revertBy"),
        image=fields.text("image"),
        generation=fields.integer("generation"),
        opened_at=fields.instant("openedAt"),
        guard_at=fields.instant("guardAt"),
        beat_at=fields.instant("beatAt"),
        holder=fields.text("holder"),
        claims_at_open=fields.texts("claimsAtOpen"),
        sign_at=fields.instant("signAt"),
        sign=fields.text("sign"),
        node=fields.text("node"),
        claim=fields.text("claim"),
        also_taken=fields.texts("alsoTaken"),
        closed_at=fields.instant("closedAt"),
        closed_by=fields.text("closedBy"),
        replacement=fields.text("replacement"),
        ended_at=fields.instant("endedAt"),
        trigger=fields.text("trigger"),
        count=1 if count is None else count,
        baseline_restored=fields.flag("baselineRestored", default=False),
        version=fields.count("version", 0),
    )


def _state(fields: Fields) -> tuple[RollState, datetime]:
    """The state and since when; where they are not written, what the record's own times tell."""
    opened, sign = fields.instant("openedAt"), fields.instant("signAt")
    closed, ended = fields.instant("closedAt"), fields.instant("endedAt")
    state = fields.choice("state", RollState)
    if state is None and sign is not None and ended is None:
        state = RollState.IN_FLIGHT
    if state is None and opened is not None and closed is None and ended is None:
        state = RollState.OPENED
    times = [at for at in (opened, sign, closed, ended) if at is not None]
    since = fields.instant("stateSince") or (max(times) if times else None)
    if state is None:
        remedy = "Add state, one of " + ", ".join(RollState) + "."
        raise InvalidInputError("state is missing", place=fields.place, remedy=remedy)
    if since is None:
        raise InvalidInputError("stateSince is missing", place=fields.place, remedy="Add stateSince or openedAt.")
    return state, since


def _baseline(fields: Fields, state: RollState) -> tuple[Budget, ...]:
    baseline = _budgets(fields, "baseline")
    if baseline is None and state in GATE_STATES and fields.instant("closedAt") is None:
        remedy = "Add baseline, the budgets as they were before the gate opened."
        raise InvalidInputError("baseline is missing", place=fields.place, remedy=remedy)
    return baseline or ()


def stop_to_object(stop: Stop) -> dict[str, object]:
    return known(
        cluster=stop.cluster,
        pool=stop.pool,
        cause=stop.cause.value,
        ref=stop.ref,
        at=rfc3339(stop.at),
        until=rfc3339(stop.until),
        reason=stop.reason,
    )


def stop_from_object(entry: object, place: str = "stop", *, strict: bool = False) -> Stop:
    """The stop; without a scope it covers the fleet, without a cause it is a pause.

    `scope` is `fleet` or `*`, a cluster, `cluster/pool`, or a map with cluster and pool; both may stand beside the
    other fields instead, which is how stops are written.

    Raises InvalidInputError with the field's place.
    """
    return read_record(_stop, entry, place, strict=strict)


def _stop(fields: Fields) -> Stop:
    cluster, pool = _scope(fields)
    return Stop(
        cause=fields.choice("cause", StopCause) or StopCause.PAUSE,
        ref=fields.text("ref"),
        cluster=cluster,
        pool=pool,
        at=fields.instant("at"),
        until=fields.instant("until"),
        reason=fields.text("reason"),
    )


def _scope(fields: Fields) -> tuple[str, str | None]:
    """Cluster (or the fleet) and pool that a stop covers. An empty pool is every pool."""
    cluster, pool = fields.text("cluster"), fields.text("pool")
    scope = fields.anything("scope")
    if isinstance(scope, str):
        given_cluster, _, given_pool = scope.partition("/")
    elif scope is None:
        given_cluster, given_pool = "", ""
    elif not isinstance(scope, Mapping):
        remedy = "Write fleet, a cluster, cluster/pool, or {cluster: …, pool: …}."
        raise InvalidInputError("should be a scope", place=f"{fields.place}.scope", remedy=remedy)
    else:
        inner = Fields(scope, f"{fields.place}.scope")
        given_cluster, given_pool = inner.text("cluster"), inner.text("pool")
        inner.refuse_unknown()
    cluster = given_cluster or cluster
    return FLEET if cluster in ("", "fleet") else cluster, given_pool or pool or None


def lease_to_object(lease: LeaseRecord) -> dict[str, object]:
    return known(
        cluster=lease.cluster,
        holder=lease.holder,
        acquiredAt=rfc3339(lease.acquired_at),
        expiresAt=rfc3339(lease.expires_at),
    ) | {"token": lease.token}


def lease_from_object(entry: object, place: str = "lease", *, strict: bool = False) -> LeaseRecord:
    """The lease. Raises InvalidInputError with the field's place."""
    return read_record(_lease, entry, place, strict=strict)


def _lease(fields: Fields) -> LeaseRecord:
    expires = fields.instant("expiresAt")
    if expires is None:
        raise InvalidInputError("expiresAt is missing", place=fields.place, remedy="Add expiresAt.")
    return LeaseRecord(
        cluster=fields.text("cluster"),
        holder=fields.required_text("holder"),
        token=fields.count("token", 0),
        acquired_at=fields.instant("acquiredAt") or expires,
        expires_at=expires,
    )


def counter_to_object(counter: CounterRecord) -> dict[str, object]:
    return {"windowKey": counter.window_key, "taken": counter.taken, "unused": counter.unused}


def counter_from_object(entry: object, place: str = "counter", *, strict: bool = False) -> CounterRecord:
    """The counter. Raises InvalidInputError with the field's place."""
    return read_record(_counter, entry, place, strict=strict)


def _counter(fields: Fields) -> CounterRecord:
    return CounterRecord(
        window_key=fields.required_text("windowKey"),
        taken=fields.count("taken", 0),
        unused=fields.count("unused", 0),
    )


def image_verdict_to_object(verdict: ImageVerdict) -> dict[str, object]:
    return known(
        image=verdict.image,
        verdict=verdict.verdict.value,
        at=rfc3339(verdict.at),
        pool=verdict.pool,
        reason=verdict.reason,
        by=verdict.by,
    )


def image_verdict_from_object(entry: object, place: str = "imageVerdict", *, strict: bool = False) -> ImageVerdict:
    """The verdict. Raises InvalidInputError with the field's place."""
    return read_record(_image_verdict, entry, place, strict=strict)


def _image_verdict(fields: Fields) -> ImageVerdict:
    verdict = fields.choice("verdict", Approval)
    if verdict is None:
        remedy = "Add verdict, one of " + ", ".join(Approval) + "."
        raise InvalidInputError("verdict is missing", place=fields.place, remedy=remedy)
    return ImageVerdict(
        image=fields.required_text("image"),
        verdict=verdict,
        at=fields.instant("at"),
        pool=fields.optional_text("pool"),
        reason=fields.text("reason"),
        by=fields.text("by"),
    )


def _budgets(fields: Fields, key: str) -> tuple[Budget, ...] | None:
    value = fields.anything(key)
    return None if value is None else from_objects(value, place=f"{fields.place}.{key}")


def known(**entries: object) -> dict[str, object]:
    """The entries that say something: None, "" and [] are left out."""
    return {key: value for key, value in entries.items() if value not in (None, "", [])}


def read_record(read: Callable[[Fields], T], entry: object, place: str, *, strict: bool) -> T:
    """What `read` makes of the fields; `strict` refuses those that it did not ask for."""
    fields = Fields(entry, place)
    record = read(fields)
    if strict:
        fields.refuse_unknown()
    return record
