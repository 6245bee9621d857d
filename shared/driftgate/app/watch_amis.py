"""Polls the image parameters in use, in every region used, and mirrors what changed into parameters of our own.

AWS raises no events for its public parameters in a customer's account, but it does for ours; that event is the hint
that sets everything else going. Which names are in use, every full look wrote to the ledger, and the settings may name
more: no cluster is asked. Each name is asked once per region, however many clusters follow it.
"""

from __future__ import annotations

from datetime import timedelta

from driftgate.app.image_poll import ImagePoll
from driftgate.app.pipeline import Pipeline
from driftgate.app.poll_report import PollReport
from driftgate.domain.errors import DriftgateError, LeaseHeldError
from driftgate.domain.image_news import Followers
from driftgate.domain.image_parameters import bare_name, is_public
from driftgate.domain.ledger import FLEET, LeaseRecord
from driftgate.domain.location import Location
from driftgate.ports import LedgerState

LEASE = timedelta(minutes=5)
"""Longer than a poll, shorter than the time between two."""

WORK = timedelta(seconds=80)
"""After so long a poll begins nothing more: the first mirrors of a large fleet are written by several."""

Followed = dict[Location, dict[str, list[str]]]


def watch_amis(pipeline: Pipeline, deployment: str, region: str) -> PollReport:
    """One poll. Where another one is under way, it is left to that; a region that fails keeps no other from its turn.

    Raises AwsForbiddenError, Ledger…Error where nothing could be polled; what failed in a region is in the report.
    """
    report = PollReport()
    try:
        lease = pipeline.ledger.acquire_lease(FLEET, pipeline.holder, pipeline.clock.now(), LEASE)
    except LeaseHeldError as error:
        report.held_by = error.holder
        return report
    until = pipeline.clock.now() + WORK
    try:
        for at, parameters in _followed(pipeline, region).items():
            _poll(ImagePoll(pipeline, deployment, Followers(at=at, parameters=parameters), report, until), report)
    finally:
        _release(pipeline, lease, report)
    return report


def _release(pipeline: Pipeline, lease: LeaseRecord, report: PollReport) -> None:
    try:
        pipeline.ledger.release_lease(lease)
    except DriftgateError as error:
        report.problems.append(f"the lease was not given back: {error}")


def _poll(poll: ImagePoll, report: PollReport) -> None:
    try:
        poll.run()
    except DriftgateError as error:
        report.failures.append(error)


def _followed(pipeline: Pipeline, home: str) -> Followed:
    """Parameters by cluster, by where they are asked. Public ones are the same for all accounts: no role is taken."""
    fleet, found = pipeline.ledger.load_fleet(), Followed()
    for cluster in pipeline.cluster_names:
        policy = pipeline.policy(cluster)
        at = Location(policy.location.region or home, policy.location.role)
        looked = fleet.get(cluster, LedgerState(cluster=cluster)).parameters
        for name in sorted({*looked, *map(bare_name, policy.parameters)}):
            where = Location(at.region) if is_public(name) else at
            found.setdefault(where, {}).setdefault(cluster, []).append(name)
    return found
