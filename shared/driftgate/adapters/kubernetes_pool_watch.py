"""The NodeClaims and Nodes of one pool, read together and watched as one stream of changes.

Where a watch breaks, both lists are read again and given as `Relisted`: a claim that vanished meanwhile is a sign
too. While the API server is out of reach the caller gets `Quiet` for a few seconds, so that it can look at its clock;
then the error.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import TypeVar

from driftgate.adapters.kubernetes_client import KubernetesClient
from driftgate.adapters.kubernetes_lists import ListReader
from driftgate.adapters.kubernetes_resources import NODECLAIMS, NODES
from driftgate.adapters.kubernetes_stream import Broken, Follower, Heard, WatchEvent, WatchTimes
from driftgate.adapters.node_objects import node_from_object, nodeclaim_from_object
from driftgate.domain.errors import ClusterUnavailableError, TransientError, WatchExpiredError
from driftgate.domain.nodes import NODEPOOL_LABEL
from driftgate.ports import ClaimChanged, NodeChanged, PoolChange, PoolMembers, Quiet, Relisted

QUIET_S = 0.5
_PAUSE_S = 0.25
_NO_VERSION = WatchExpiredError("there is no version to watch from")

T = TypeVar("T")
Changes = Generator[PoolChange, None, T]


class PoolWatch:
    """Reads and watches one pool."""

    def __init__(self, client: KubernetesClient, lists: ListReader, pool: str, times: WatchTimes) -> None:
        self._client = client
        self._lists = lists
        self._times = times
        self._query = {"labelSelector": f"{NODEPOOL_LABEL}={pool}"}

    def read(self) -> PoolMembers:
        """The members now, with the versions to watch from."""
        claims = self._lists.read(NODECLAIMS, nodeclaim_from_object, self._query)
        nodes = self._lists.read(NODES, node_from_object, self._query)
        return PoolMembers(
            claims=claims.found, nodes=nodes.found, claims_version=claims.version, nodes_version=nodes.version
        )

    def changes(self, since: PoolMembers, timeout: timedelta) -> Iterator[PoolChange]:
        """Changes until the timeout. Closing the iterator ends both watches."""
        deadline = time.monotonic() + timeout.total_seconds()
        members: PoolMembers | None = since
        if not (since.claims_version and since.nodes_version):
            members = yield from self._start_again(_NO_VERSION, deadline)
        while members is not None:
            with self._followed(members) as heard:
                broken = yield from _until_broken(heard, deadline)
            if broken is None:
                return
            yield from _pause()
            members = yield from self._start_again(broken, deadline)

    @contextmanager
    def _followed(self, since: PoolMembers) -> Iterator[SimpleQueue[Heard]]:
        """What both watches hear, within; afterwards both have ended."""
        heard: SimpleQueue[Heard] = SimpleQueue()
        versions = ((NODECLAIMS, since.claims_version), (NODES, since.nodes_version))
        followers = [
            Follower(self._client, kind, self._query, version, heard, self._times) for kind, version in versions
        ]
        for follower in followers:
            follower.start()
        try:
            yield heard
        finally:
            for follower in followers:
                follower.stop()
            for follower in followers:
                follower.join()

    def _start_again(self, broken: Exception, deadline: float) -> Changes[PoolMembers | None]:
        """Both lists as they are now, told as `Relisted`; None where the time is over. Raises what stays broken."""
        patience = time.monotonic() + self._times.patience_s
        while isinstance(broken, TransientError) and time.monotonic() < patience:
            found = yield from _quietly(self._read_in_background(), min(deadline, patience))
            if isinstance(found, PoolMembers):
                yield Relisted(claims=found.claims, nodes=found.nodes)
                return found
            if found is None and time.monotonic() >= deadline:
                return None
            broken = found or ClusterUnavailableError(f"the pool could not be read in {self._times.patience_s:g} s")
            yield from _pause()
        raise broken

    def _read_in_background(self) -> SimpleQueue[PoolMembers | Exception]:
        """Where the members will be, or what kept them from being read: the caller need not wait for a slow server."""
        answer: SimpleQueue[PoolMembers | Exception] = SimpleQueue()

        def read() -> None:
            try:
                answer.put(self.read())
            except Exception as error:  # the thread's edge: whoever waits for the answer raises it
                answer.put(error)

        threading.Thread(target=read, name="relist", daemon=True).start()
        return answer


def _until_broken(heard: SimpleQueue[Heard], deadline: float) -> Changes[Exception | None]:
    """Passes on what is heard; ends with the error that broke a watch, or None at the deadline."""
    while True:
        event = yield from _quietly(heard, deadline)
        if event is None:
            return None
        if isinstance(event, Broken):
            return event.error
        yield _change(event)


def _pause() -> Iterator[PoolChange]:
    """A moment before the server is asked again, so that one that breaks everything off at once is not run over."""
    yield Quiet()
    time.sleep(_PAUSE_S)


def _quietly(source: SimpleQueue[T], deadline: float) -> Changes[T | None]:
    """The next of the queue, with `Quiet` while there is none; None at the deadline."""
    while (left := deadline - time.monotonic()) > 0:
        try:
            return source.get(timeout=min(QUIET_S, left))
        except Empty:
            yield Quiet()
    return None


def _change(event: WatchEvent) -> PoolChange:
    if event.resource is NODECLAIMS:
        return ClaimChanged(claim=nodeclaim_from_object(event.raw), deleted=event.deleted)
    return NodeChanged(node=node_from_object(event.raw), deleted=event.deleted)
