"""One region's image parameters: read, mirrored, told, and remembered, in this order.

What was done is stored last, so a poll that dies on the way is done again by the next one: the mirror is compared
before it is written, and a message may come twice but is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from driftgate.app.pipeline import Pipeline
from driftgate.app.poll_report import PollReport
from driftgate.app.tell import Teller
from driftgate.contract import seen_prefix
from driftgate.domain.errors import AwsUnavailableError, DriftgateError, PermanentError
from driftgate.domain.image_news import Followers, news_of, of_trouble
from driftgate.domain.image_watch import ImageChange, Trouble, begun, change_of, looked_at, undescribed
from driftgate.domain.message import DomainEvent
from driftgate.domain.mirror import mirror_tail
from driftgate.domain.observation import ImageObservation
from driftgate.domain.seen_images import Key, SeenParameter
from driftgate.ports import ParametersRead

PAUSE_BETWEEN_WRITES_S = 0.4
"""An account may write three parameters a second. Source: aws docs, general/latest/gr/ssm (2026)."""


class ImagePoll:
    """The poll of one place. `followers` says which parameters, and for whom; after `until` nothing is begun."""

    def __init__(
        self, pipeline: Pipeline, deployment: str, followers: Followers, report: PollReport, until: datetime
    ) -> None:
        self._pipeline = pipeline
        self._until = until
        self._prefix = seen_prefix(deployment)
        self._at = followers.at
        self._followers = followers
        self._names = sorted({name for followed in followers.parameters.values() for name in followed})
        self._report = report
        self._teller = Teller(pipeline.publisher)
        self._is_ec2_silent = False

    def run(self) -> None:
        """Raises AwsUnavailableError, AwsForbiddenError, Ledger…Error: what was not done, the next poll does."""
        read = self._pipeline.parameters.read(self._names, self._at)
        self._report.polled += len(self._names)
        mirrors = self._mirrors()
        before = self._before(mirrors)
        now = self._pipeline.clock.now()
        after, troubles = self._look(before, read, now)
        after = self._tell_changes(self._described(self._mirror(after, mirrors)), now)
        for name, seen in after.items():
            found = self._with_trouble(seen, troubles.get(name), read.refused.get(name, ""), now)
            if found != before[name]:
                self._pipeline.history.save(found)
        self._report.problems += self._teller.failures

    def _key(self, name: str) -> Key:
        return self._at.region, self._at.account, name

    def _mirror_name(self, name: str) -> str:
        return self._prefix + mirror_tail(self._at.region, name, self._at.account)

    def _mirrors(self) -> Mapping[str, str]:
        """What our mirrors hold, by the name of what they mirror. Raises AwsForbiddenError."""
        names = {self._mirror_name(name): name for name in self._names}
        found = self._pipeline.parameters.read(list(names))
        return {names[parameter.name]: parameter.value for parameter in found.found}

    def _before(self, mirrors: Mapping[str, str]) -> dict[str, SeenParameter]:
        stored = self._pipeline.history.load([self._key(name) for name in self._names])
        return {name: stored.get(self._key(name)) or begun(self._key(name), mirrors.get(name)) for name in self._names}

    def _look(
        self, before: Mapping[str, SeenParameter], read: ParametersRead, now: datetime
    ) -> tuple[dict[str, SeenParameter], dict[str, Trouble]]:
        values = {parameter.name: parameter for parameter in read.found}
        after, troubles = {}, {}
        for name, seen in before.items():
            after[name], trouble = looked_at(seen, values.get(name), read.refused.get(name), now)
            if trouble is not None:
                troubles[name] = trouble
        self._report.missing += [self._shown(name) for name in self._names if name not in {*values, *read.refused}]
        self._report.refused += [self._shown(n) for n, trouble in troubles.items() if trouble is not Trouble.MISSING]
        return after, troubles

    def _mirror(self, after: Mapping[str, SeenParameter], mirrors: Mapping[str, str]) -> dict[str, SeenParameter]:
        """Those that are mirrored now, or have nothing to mirror; the others are left to the next poll.

        Our own parameter's event sets everything else going, so it comes before all that may fail. One that cannot be
        written keeps no other from it.
        """
        done = dict(after)
        for name, seen in after.items():
            was = mirrors.get(name)
            if seen.current is None or seen.current.image == was:
                continue
            if self._pipeline.clock.now() >= self._until:
                self._report.left.append(self._shown(name))
                del done[name]
                continue
            try:
                self._pipeline.parameters.write(self._mirror_name(name), seen.current.image, overwrite=was is not None)
                self._report.changed[self._shown(name)] = was, seen.current.image
            except PermanentError as error:
                self._report.failures.append(error)
                del done[name]
            self._pipeline.clock.sleep(PAUSE_BETWEEN_WRITES_S)
        return done

    def _described(self, after: Mapping[str, SeenParameter]) -> dict[str, SeenParameter]:
        wanted = undescribed(after.values())
        found: Sequence[ImageObservation] = ()
        if wanted:
            try:
                found = self._pipeline.images.describe(wanted, self._at)
            except DriftgateError as error:
                self._report.failures.append(error)
                self._is_ec2_silent = isinstance(error, AwsUnavailableError)
        images = {image.id: image for image in found}
        return {name: seen.described(images) for name, seen in after.items()}

    def _tell_changes(self, after: dict[str, SeenParameter], now: datetime) -> dict[str, SeenParameter]:
        changes = [change for seen in after.values() if (change := change_of(seen)) is not None]
        ready = [change for change in changes if not self._waits(change)]
        told = [change.parameter for change in ready if not change.is_news]
        for event in news_of([change for change in ready if change.is_news], self._followers, now):
            told += self._told(event)
        return after | {name: replace(after[name], told=_current(after[name])) for name in told}

    def _waits(self, change: ImageChange) -> bool:
        """What is new is told when EC2 has said what it is; not where asking again would not help."""
        return self._is_ec2_silent and not (change.now.is_described and change.before.is_described)

    def _with_trouble(self, seen: SeenParameter, trouble: Trouble | None, why: str, now: datetime) -> SeenParameter:
        """Each trouble is told once; one that is over is forgotten, so that it is told when it comes again."""
        if trouble is None:
            return replace(seen, trouble="")
        if trouble == seen.trouble or not self._told(of_trouble(seen, trouble, why, self._followers, now)):
            return seen
        return replace(seen, trouble=str(trouble))

    def _told(self, event: DomainEvent) -> list[str]:
        """The parameters that people have heard of by it."""
        self._teller.tell([event])
        names = event.facts["parameters"]
        return list(names) if event in self._teller.sent and isinstance(names, list) else []

    def _shown(self, name: str) -> str:
        return f"{self._at.region}/{name.removeprefix('/')}"


def _current(seen: SeenParameter) -> str:
    return seen.current.image if seen.current is not None else ""
