"""Lists, page by page: each page is read, trimmed and dropped before the next one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from driftgate.adapters.collector import collector_paused
from driftgate.adapters.kubernetes_client import KubernetesClient, Query
from driftgate.adapters.kubernetes_resources import Call, Resource
from driftgate.domain.errors import ClusterUnavailableError, WatchExpiredError
from driftgate.domain.jsonvalue import JsonObject, child, integer, items, mapping, text

PAGE_SIZE = 500
_STARTS = 3

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListProgress:
    """How far the reading of one list is. `remaining` is the server's estimate, None where it gives none."""

    resource: str
    pages: int
    items: int
    remaining: int | None = None


Progress = Callable[[ListProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[T]):
    """All objects as of one version of the cluster, from which a watch can go on."""

    found: tuple[T, ...]
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    items: list[JsonObject]
    version: str
    next: str
    remaining: int | None


class ListReader:
    """Reads whole lists. A list that expires between two pages is read again from the start, at most three times."""

    def __init__(
        self, client: KubernetesClient, *, progress: Progress | None = None, page_size: int = PAGE_SIZE
    ) -> None:
        self._client = client
        self._progress = progress
        self._page_size = page_size

    def read(self, resource: Resource, parse: Callable[[JsonObject], T], query: Query | None = None) -> Listing[T]:
        """Every object, parsed."""
        for _ in range(_STARTS):
            try:
                return self._read_once(resource, parse, query or {})
            except WatchExpiredError:
                continue
        raise _kept_expiring(resource)

    def raw(self, resource: Resource) -> Iterator[dict[str, object]]:
        """Every object once, whole and as the API gives it, with the kind that lists leave out."""
        seen: set[tuple[str, str]] = set()
        for _ in range(_STARTS):
            try:
                yield from self._unseen(resource, seen)
            except WatchExpiredError:
                continue
            return
        raise _kept_expiring(resource)

    def _read_once(self, resource: Resource, parse: Callable[[JsonObject], T], query: Query) -> Listing[T]:
        found: list[T] = []
        version = ""
        for page in self._pages(resource, query):
            with collector_paused():
                found.extend(parse(item) for item in page.items)
            version = page.version
        return Listing(found=tuple(found), version=version)

    def _unseen(self, resource: Resource, seen: set[tuple[str, str]]) -> Iterator[dict[str, object]]:
        for page in self._pages(resource, {}):
            for item in page.items:
                key = _key(item)
                if key not in seen:
                    seen.add(key)
                    yield {"apiVersion": resource.api_version, "kind": resource.kind} | dict(item)

    def _pages(self, resource: Resource, query: Query) -> Iterator[_Page]:
        more, pages, count = "", 0, 0
        while True:
            page = self._page(resource, query, more)
            pages, count = pages + 1, count + len(page.items)
            if self._progress is not None:
                self._progress(
                    ListProgress(resource=resource.plural, pages=pages, items=count, remaining=page.remaining)
                )
            yield page
            more = page.next
            if not more:
                return

    def _page(self, resource: Resource, query: Query, more: str) -> _Page:
        asked = {**query, "limit": str(self._page_size)} | ({"continue": more} if more else {})
        answer = self._client.get(Call(verb="list", resource=resource), asked)
        metadata = child(answer, "metadata")
        return _Page(
            items=[mapping(item) for item in items(answer.get("items"))],
            version=text(metadata.get("resourceVersion")) or "",
            next=text(metadata.get("continue")) or "",
            remaining=integer(metadata.get("remainingItemCount")),
        )


def _key(item: JsonObject) -> tuple[str, str]:
    metadata = child(item, "metadata")
    return text(metadata.get("namespace")) or "", text(metadata.get("name")) or ""


def _kept_expiring(resource: Resource) -> ClusterUnavailableError:
    return ClusterUnavailableError(
        f"list {resource.plural}: the list expired between two pages {_STARTS} times. "
        "The API server is under load: try again.",
        status=410,
    )
