"""Looks at everything that driftgate needs, and says what is missing. Writes nothing: patches are dry runs.

Each check stands alone, so that one that fails hides no other; only an API server that does not answer at all ends
the questions to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from driftgate.app.pipeline import Pipeline
from driftgate.domain.diagnosis import (
    MANIFESTS,
    Check,
    Diagnosis,
    Outcome,
    alarms_check,
    calendars_check,
    clock_check,
    karpenter_check,
    rights_check,
)
from driftgate.domain.errors import (
    ClusterForbiddenError,
    DriftgateError,
    NodePoolChangedError,
    PatchRejectedError,
)
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.policy import ClusterPolicy
from driftgate.domain.rights import RIGHTS, Right
from driftgate.domain.trial_patches import best_for_trial, foreign_trial, is_openable, opening_trial
from driftgate.ports import ApiServer, Cluster


def diagnose(pipeline: Pipeline, server: ApiServer, cluster: str) -> Diagnosis:
    """Every check of one cluster. `server` is the same API server as the pipeline's cluster.

    Raises:
        InvalidInputError: nobody configured the cluster.
    """
    policy, now = pipeline.policy(cluster), pipeline.clock.now()
    found = list(_of_server(server, pipeline.clock.now))
    missing: tuple[Right, ...] = ()
    if found[0].outcome is Outcome.OK:
        missing, check = _rights(server)
        found += [check, *_of_karpenter(pipeline.clusters.connect(cluster), now)]
    found += [_ledger(pipeline, cluster), *_of_aws(pipeline, policy, now)]
    return Diagnosis(cluster=cluster, at=now, checks=tuple(found), missing=missing)


def _of_server(server: ApiServer, clock: Callable[[], datetime]) -> Iterator[Check]:
    try:
        told = server.server_time()
    except DriftgateError as error:
        yield _unreadable("connection", error)
        return
    yield Check(name="connection", outcome=Outcome.OK, message="The API server answers and knows this identity.")
    yield clock_check(told, clock())


def _rights(server: ApiServer) -> tuple[tuple[Right, ...], Check]:
    try:
        missing = tuple(right for right in RIGHTS if not server.may(right.verb, right.group, right.resource))
    except DriftgateError as error:
        return (), _unreadable("rights", error)
    return missing, rights_check(missing)


def _of_karpenter(cluster: Cluster, now: datetime) -> Iterator[Check]:
    try:
        pools = cluster.list_nodepools()
        yield karpenter_check(cluster.karpenter_version(), len(pools))
    except DriftgateError as error:
        yield _unreadable("karpenter", error)
        return
    yield from _trials(cluster, pools, now)


def _trials(cluster: Cluster, pools: Sequence[NodePoolSnapshot], now: datetime) -> Iterator[Check]:
    pool = best_for_trial(pools)
    if pool is None:
        message = "There is no NodePool on which a write could be tried."
        yield Check(name="write", outcome=Outcome.WARNING, message=message)
        return
    yield _opening(cluster, pool, now)
    yield _policy(cluster, pool)


def _opening(cluster: Cluster, pool: NodePoolSnapshot, now: datetime) -> Check:
    """Whether the server would take an opening of this pool."""
    what = "an opening" if is_openable(pool) else "the budgets as they stand (none of the gates can be opened)"
    try:
        cluster.patch_nodepool(pool.name, opening_trial(pool, now), dry_run=True)
    except ClusterForbiddenError as error:
        return Check(name="write", outcome=Outcome.REFUSED, message=str(error))
    except PatchRejectedError as error:
        remedy = f"If the policy is driftgate's, bring it up to date: {MANIFESTS}. Any other must let driftgate pass."
        return Check(name="write", outcome=Outcome.REFUSED, message=str(error), remedy=remedy)
    except NodePoolChangedError:
        message = f"{pool.name} was changed by somebody else in the same moment."
        return Check(name="write", outcome=Outcome.WARNING, message=message, remedy="Run the command again.")
    except DriftgateError as error:
        return _unreadable("write", error)
    return Check(name="write", outcome=Outcome.OK, message=f"The server would take {what} of {pool.name} (dry run).")


def _policy(cluster: Cluster, pool: NodePoolSnapshot) -> Check:
    """Whether the server refuses to this identity what driftgate never does."""
    try:
        cluster.patch_nodepool(pool.name, foreign_trial(pool), dry_run=True)
    except PatchRejectedError:
        message = "The admission policy is in force: nothing but budgets can be changed."
        return Check(name="policy", outcome=Outcome.OK, message=message)
    except ClusterForbiddenError:
        message = "Whether an admission policy is in force could not be tried: every patch is refused."
        return Check(name="policy", outcome=Outcome.WARNING, message=message)
    except DriftgateError as error:
        message = f"Whether an admission policy is in force could not be tried: {error}"
        return Check(name="policy", outcome=Outcome.WARNING, message=message)
    return Check(
        name="policy",
        outcome=Outcome.WARNING,
        message="No admission policy binds this identity: the server would let it change more than budgets.",
        remedy=f"Apply it: {MANIFESTS}. It binds the deployed driftgate's group, not a person's own identity.",
    )


def _ledger(pipeline: Pipeline, cluster: str) -> Check:
    try:
        state = pipeline.ledger.load(cluster)
    except DriftgateError as error:
        return _unreadable("ledger", error)
    under_way = sum(not roll.is_finished for roll in state.rolls)
    message = f"The ledger can be read: {under_way} rolls under way, {len(state.stops)} stops."
    return Check(name="ledger", outcome=Outcome.OK, message=message)


def _of_aws(pipeline: Pipeline, policy: ClusterPolicy, now: datetime) -> Iterator[Check]:
    """The alarms and calendars that the configuration names; nothing where it names none."""
    guards = tuple({guard.name: guard for p in policy.policies() for guard in p.guards.alarms or ()}.values())
    names = tuple(sorted({name for p in policy.policies() for name in p.guards.calendars}))
    if guards:
        yield _asked("alarms", lambda: alarms_check(pipeline.alarms.read(guards, now)))
    if names:
        yield _asked("calendars", lambda: calendars_check(pipeline.calendars.read(names)))


def _asked(name: str, ask: Callable[[], Check]) -> Check:
    try:
        return ask()
    except DriftgateError as error:
        return _unreadable(name, error)


def _unreadable(name: str, error: DriftgateError) -> Check:
    return Check(name=name, outcome=Outcome.UNREADABLE, message=str(error))
