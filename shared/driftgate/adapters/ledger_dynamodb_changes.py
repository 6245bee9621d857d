"""A commit as the actions of one DynamoDB transaction: what is written, and on which conditions.

A transaction may touch an item only once, so what concerns one item (the stops of a scope and the revision expected
of them) becomes one action. Must not call AWS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, assert_never

from driftgate.adapters.ledger_book import counts_of
from driftgate.adapters.ledger_document import look_to_object, told_to_object
from driftgate.adapters.ledger_dynamodb_items import (
    FLEET_PARTITION,
    SCHEMA_VERSION,
    STOP_PREFIX,
    Item,
    as_json,
    expires_after_end,
    expires_unused,
    item,
    key,
    partition_of,
)
from driftgate.adapters.ledger_rules import last_word
from driftgate.domain.errors import InvariantError
from driftgate.domain.ledger import FLEET, CounterRecord, ImageVerdict
from driftgate.domain.records import counter_to_object, image_verdict_to_object, roll_to_object, stop_to_object
from driftgate.domain.roll import Roll
from driftgate.ports import (
    ExpectLease,
    ExpectStops,
    LedgerChange,
    PutCounter,
    PutImageVerdict,
    PutLook,
    PutRoll,
    PutStop,
    PutTold,
    RemoveStop,
    Told,
)

MAX_ACTIONS = 100
ABSENT = {"ConditionExpression": "attribute_not_exists(pk)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action of a transaction. `expects` says in words what its condition is about."""

    kind: str
    request: dict[str, Any] = field(repr=False)
    expects: str = ""


def actions_of(cluster: str, changes: Iterable[LedgerChange], now: datetime) -> list[Action]:
    """The transaction of a commit, table names left out.

    Raises InvariantError for two conditional changes of one record, and for more than DynamoDB takes at once.
    """
    changes = last_word(changes)
    actions = [action for change in changes for action in _actions(cluster, change, now)] + _stop_actions(
        cluster, changes
    )
    if len(actions) > MAX_ACTIONS:
        raise InvariantError(f"a commit of {len(actions)} writes is more than DynamoDB takes ({MAX_ACTIONS})")
    return actions


def _actions(cluster: str, change: LedgerChange, now: datetime) -> list[Action]:
    match change:
        case PutRoll(roll):
            return _roll_actions(cluster, roll)
        case PutCounter(counter, expected):
            return [_counter_action(cluster, counter, expected, now)]
        case ExpectLease(holder, token):
            return [_lease_check(cluster, holder, token)]
        case PutImageVerdict(verdict):
            return [_verdict_action(cluster, verdict)]
        case PutLook():
            return [_put(item(key(FLEET_PARTITION, "look", cluster), "look", cluster, look_to_object(change)))]
        case PutTold(told):
            return [_told_action(cluster, told)]
        case PutStop() | RemoveStop() | ExpectStops():
            return []
    assert_never(change)


def _put(content: Item, condition: dict[str, Any] | None = None, expects: str = "") -> Action:
    return Action(kind="Put", request={"Item": content} | (condition or {}), expects=expects)


def equal(**wanted: Item) -> dict[str, Any]:
    """The condition that the stored attributes have these values."""
    return {
        "ConditionExpression": " AND ".join(f"#{name} = :{name}" for name in wanted),
        "ExpressionAttributeNames": {f"#{name}": name for name in wanted},
        "ExpressionAttributeValues": {f":{name}": value for name, value in wanted.items()},
    }


def _number(value: int) -> Item:
    return {"N": str(value)}


def _roll_actions(cluster: str, roll: Roll) -> list[Action]:
    """The roll itself, and the heartbeat's copy of it: there while the roll is unfinished."""
    stored = replace(roll, version=roll.version + 1)
    condition = equal(version=_number(roll.version)) if roll.version else ABSENT
    attributes = {"version": _number(stored.version)}
    if stored.is_finished:
        attributes["ttl"] = expires_after_end(stored.ended_at or stored.state_since)
    content = item(key(partition_of(cluster), "roll", roll.id), "roll", cluster, roll_to_object(stored), **attributes)
    at = key(FLEET_PARTITION, "roll", cluster, roll.id)
    copy = Action(kind="Delete", request={"Key": at}) if stored.is_finished else _put(content | at)
    return [_put(content, condition, f"roll {roll.id} at version {roll.version}"), copy]


def _counter_action(cluster: str, counter: CounterRecord, expected: CounterRecord | None, now: datetime) -> Action:
    content = item(
        key(partition_of(cluster), "counter", counter.window_key),
        "counter",
        cluster,
        counter_to_object(counter),
        taken=_number(counter.taken),
        unused=_number(counter.unused),
        ttl=expires_unused(now),
    )
    expects = f"counter {counter.window_key} as {expected}"
    if expected is None:
        return _put(content, ABSENT, expects)
    return _put(content, equal(taken=_number(expected.taken), unused=_number(expected.unused)), expects)


def _lease_check(cluster: str, holder: str, token: int) -> Action:
    condition = equal(holder={"S": holder}, token=_number(token))
    at = {"Key": key(FLEET_PARTITION, "lease", cluster)}
    return Action(kind="ConditionCheck", request=at | condition, expects=f"lease of {cluster} with {holder}, {token}")


def _verdict_action(cluster: str, verdict: ImageVerdict) -> Action:
    pool = () if verdict.pool is None else (verdict.pool,)
    at = key(partition_of(cluster), "verdict", verdict.image, *pool)
    return _put(item(at, "verdict", cluster, image_verdict_to_object(verdict)))


def _told_action(cluster: str, told: Told) -> Action:
    at = key(partition_of(cluster), "told", told.key)
    return _put(item(at, "told", cluster, told_to_object(told), ttl=expires_unused(told.at)))


def _stop_actions(cluster: str, changes: Sequence[LedgerChange]) -> list[Action]:
    """One action per scope whose stops change or are expected to stand unchanged."""
    changed: dict[str, list[PutStop | RemoveStop]] = {}
    expected: dict[str, int] = {}
    for change in changes:
        if isinstance(change, PutStop | RemoveStop):
            changed.setdefault(change.stop.cluster, []).append(change)
        if isinstance(change, ExpectStops):
            fleet, own = counts_of(change.revision)
            expected |= {FLEET: fleet} if cluster == FLEET else {FLEET: fleet, cluster: own}
    return [
        _stop_action(scope, changed.get(scope, []), expected.get(scope))
        for scope in dict.fromkeys([*changed, *expected])
    ]


def _stop_action(scope: str, changes: Sequence[PutStop | RemoveStop], expected: int | None) -> Action:
    request: dict[str, Any] = {"Key": key(FLEET_PARTITION, "stops", scope)}
    if changes:
        request |= _stop_update(scope, changes)
    if expected:
        request["ConditionExpression"] = "#rev = :expected"
        request["ExpressionAttributeNames"] = request.get("ExpressionAttributeNames", {}) | {"#rev": "rev"}
        values = request.get("ExpressionAttributeValues", {})
        request["ExpressionAttributeValues"] = values | {":expected": _number(expected)}
    elif expected == 0:
        request |= ABSENT
    kind = "Update" if changes else "ConditionCheck"
    return Action(kind=kind, request=request, expects=f"stops of {scope} at revision {expected}")


def _stop_update(scope: str, changes: Sequence[PutStop | RemoveStop]) -> dict[str, Any]:
    """Every stop is an attribute of its scope's item; whatever happens to one counts the revision up."""
    names = {"#v": "v", "#kind": "kind", "#cluster": "cluster", "#rev": "rev"}
    values = {":v": _number(SCHEMA_VERSION), ":kind": {"S": "stops"}, ":cluster": {"S": scope}, ":one": _number(1)}
    sets, removes = ["#v = :v", "#kind = :kind", "#cluster = :cluster"], []
    for index, change in enumerate(changes):
        names[f"#s{index}"] = STOP_PREFIX + change.stop.key
        if isinstance(change, PutStop):
            values[f":s{index}"] = {"S": as_json(stop_to_object(change.stop))}
            sets.append(f"#s{index} = :s{index}")
        else:
            removes.append(f"#s{index}")
    remove = f" REMOVE {', '.join(removes)}" if removes else ""
    return {
        "UpdateExpression": f"SET {', '.join(sets)}{remove} ADD #rev :one",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }
