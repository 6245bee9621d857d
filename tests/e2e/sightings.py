"""An onlooker that only reads: every list of budgets that stood, and who left when, by the real server's own word.

It is independent of driftgate: another token, another client, no code of the product. Each version of a NodePool
and of a NodeClaim comes by watch, so nothing that stood for a moment is missed; beside it the budgets are sampled
every 100 ms, as somebody would who polls.
"""

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import urllib3

from tests.e2e.harness.api import Api, ApiError, Object
from tests.e2e.harness.scenario import NODECLAIMS, NODEPOOLS

SAMPLE_S = 0.1
WATCH_S = 3
PASS_S = 10
"""How long Karpenter rests between two looks at an idle cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A NodePool's budgets as they stood at a moment."""

    at: datetime
    pool: str
    budgets: list[Object]

    @property
    def is_open(self) -> bool:
        """Whether an entry without a schedule lets a drifted node go, spelled as driftgate spells it."""
        return any(b["nodes"] == "01" and b.get("reasons") == ["Drifted"] for b in self.budgets)

    @property
    def text(self) -> str:
        return json.dumps(self.budgets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The gate of a pool, from the first open list that was seen to the first shut one; None: it still stands."""

    pool: str
    at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A NodeClaim at the moment when it first showed that Karpenter takes it."""

    claim: str
    node: str
    pool: str
    at: datetime


class Onlooker:
    """Looks on while the block runs. Times are those at which the news arrived, UTC."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._ended = threading.Event()
        self.versions: list[Standing] = []
        self.samples: list[Standing] = []
        self.departures: list[Departure] = []
        self._threads = [
            threading.Thread(target=self._follow, args=(NODEPOOLS, self._see_pool), daemon=True),
            threading.Thread(target=self._follow, args=(NODECLAIMS, self._see_claim), daemon=True),
            threading.Thread(target=self._sample, daemon=True),
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(timeout=WATCH_S + 5)

    def openings(self, pool: str | None = None) -> list[Opening]:
        """Every opening that was seen, oldest first."""
        found: list[Opening] = []
        for name in sorted({seen.pool for seen in self.versions}):
            found += _openings([seen for seen in list(self.versions) if seen.pool == name])
        return sorted((o for o in found if pool in (None, o.pool)), key=lambda opening: opening.at)

    def is_open(self, pool: str) -> bool:
        """Whether the gate stands open by the latest news."""
        latest = [seen for seen in list(self.versions) if seen.pool == pool][-1:]
        return bool(latest) and latest[0].is_open

    def left(self, pool: str) -> list[Departure]:
        return [departure for departure in list(self.departures) if departure.pool == pool]

    def taken_by(self, opening: Opening) -> list[Departure]:
        """Who left from this opening on, until the next one of the pool."""
        later = [other.at for other in self.openings(opening.pool) if other.at > opening.at]
        end = min(later, default=datetime.max.replace(tzinfo=UTC))
        return [departure for departure in self.left(opening.pool) if opening.at <= departure.at < end]

    def watch_on(self, passes: int = 2) -> None:
        """Returns after so many of Karpenter's passes and a bit: whoever was still to leave has left by then."""
        end = time.monotonic() + passes * PASS_S + 2
        while time.monotonic() < end:
            self._ended.wait(SAMPLE_S)

    def lists(self, pool: str) -> list[Standing]:
        """The lists that stood, each once, by watch and by sample."""
        found = {seen.text: seen for seen in [*self.versions, *self.samples] if seen.pool == pool}
        return list(found.values())

    def _see_pool(self, pool: Object, *, deleted: bool) -> None:
        if not deleted:
            self.versions.append(_standing(pool))

    def _see_claim(self, claim: Object, *, deleted: bool) -> None:
        name, pool = claim["metadata"]["name"], claim["metadata"]["labels"].get("karpenter.sh/nodepool", "")
        known = {departure.claim for departure in self.departures}
        if name not in known and (deleted or shows_sign(claim)):
            node = claim.get("status", {}).get("nodeName", "")
            self.departures.append(Departure(claim=name, node=node, pool=pool, at=datetime.now(UTC)))

    def _follow(self, path: str, see: Callable[..., None]) -> None:
        version = ""
        while not self._ended.is_set():
            try:
                version = self._watch(path, see, version)
            except (OSError, ApiError, ValueError):
                self._ended.wait(SAMPLE_S)

    def _watch(self, path: str, see: Callable[..., None], version: str) -> str:
        """The version to go on from; empty: read all again."""
        if not version:
            listed = self._api.get(path)
            for each in listed["items"]:
                see(each, deleted=False)
            version = listed["metadata"]["resourceVersion"]
        for event in self._api.watch(f"{path}?watch=1&timeoutSeconds={WATCH_S}&resourceVersion={version}"):
            if event["type"] == "ERROR":
                return ""
            version = event["object"]["metadata"]["resourceVersion"]
            see(event["object"], deleted=event["type"] == "DELETED")
        return version

    def _sample(self) -> None:
        with urllib3.PoolManager(ca_certs=str(self._api.ca), headers=_bearer(self._api)) as pools:
            while not self._ended.is_set():
                due = time.monotonic() + SAMPLE_S
                answer = pools.request("GET", self._api.server + NODEPOOLS)
                self.samples += [_standing(pool) for pool in answer.json()["items"]]
                self._ended.wait(max(0.0, due - time.monotonic()))


def shows_sign(claim: Object) -> bool:
    """Whether Karpenter has begun to take the node."""
    conditions = {c["type"] for c in claim.get("status", {}).get("conditions", []) if c["status"] == "True"}
    return "DisruptionReason" in conditions or "deletionTimestamp" in claim["metadata"]


def _standing(pool: Object) -> Standing:
    return Standing(at=datetime.now(UTC), pool=pool["metadata"]["name"], budgets=pool["spec"]["disruption"]["budgets"])


def _openings(seen: Sequence[Standing]) -> list[Opening]:
    found: list[Opening] = []
    opened_at: datetime | None = None
    for standing in seen:
        if standing.is_open and opened_at is None:
            opened_at = standing.at
        elif not standing.is_open and opened_at is not None:
            found.append(Opening(pool=standing.pool, at=opened_at, closed_at=standing.at))
            opened_at = None
    still = [] if opened_at is None else [Opening(pool=seen[-1].pool, at=opened_at, closed_at=None)]
    return found + still


def _bearer(api: Api) -> dict[str, str]:
    return {"authorization": f"Bearer {api.token}"}
