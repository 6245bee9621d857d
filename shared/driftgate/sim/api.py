"""The Kubernetes API as a function from request to answer, without a socket.

The HTTP server and tests in one process call the same `Api.handle`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from driftgate.domain.jsonvalue import child
from driftgate.sim.access import Access, User, Wish, authorize
from driftgate.sim.answers import Answer, error_answer, json_answer, object_answer
from driftgate.sim.discovery import discovery
from driftgate.sim.jsonpatch import apply_json_patch, apply_merge_patch
from driftgate.sim.kinds import ACCESS_REVIEWS, Kind
from driftgate.sim.listing import ListOptions, list_page
from driftgate.sim.objects import JsonDict, section
from driftgate.sim.review import review
from driftgate.sim.routes import Route, route
from driftgate.sim.selectors import selector
from driftgate.sim.status import (
    ApiError,
    bad_request,
    invalid_dry_run,
    method_not_allowed,
    not_found,
    too_large_version,
    unsupported_media_type,
)
from driftgate.sim.store import Store, Stored
from driftgate.sim.watching import DEFAULT_TIMEOUT_S, WatchOptions, watch
from driftgate.sim.writes import Writes

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
ACCEPTED = (JSON_PATCH, MERGE_PATCH, "application/apply-patch+yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request, as far as it matters."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    authorization: str = ""
    content_type: str = "application/json"
    user_agent: str = "unknown"
    body: bytes = b""


class Api:
    """Routes, checks who asks, and reads or writes the store."""

    def __init__(self, store: Store, writes: Writes, access: Access) -> None:
        self.store = store
        self.writes = writes
        self.access = access

    def handle(self, request: Request, is_over: Callable[[], bool] = lambda: False) -> Answer:
        """The answer; errors are answers too. `is_over` ends a watch from outside."""
        try:
            return self._answer(request, is_over)
        except ApiError as error:
            return error_answer(error, token=request.query.get("continue", ""))

    def _answer(self, request: Request, is_over: Callable[[], bool]) -> Answer:
        user = self.access.authenticate(request.authorization)
        found = discovery(request.path)
        if found is not None:
            return json_answer(found)
        target = route(request.path)
        if target is None:
            return Answer(status=404, body=b"404 page not found\n", content_type="text/plain; charset=utf-8")
        verb = _verb(request, target)
        wish = Wish(
            verb=verb,
            group=target.kind.group,
            resource=target.resource,
            name=target.name,
            namespace=target.namespace,
        )
        if target.kind is not ACCESS_REVIEWS:
            authorize(user, target.kind, wish)
        if verb == "list":
            return self._list(request, target)
        if verb == "watch":
            return self._watch(request, target, is_over)
        if verb == "get":
            return object_answer(self._get(target))
        return self._write(verb, request, target, user)

    def _get(self, target: Route) -> Stored:
        found = self.store.get(target.kind, target.key)
        if found is None:
            raise not_found(target.kind, target.name)
        return found

    def _list(self, request: Request, target: Route) -> Answer:
        query = request.query
        exact = query.get("resourceVersion", "") if query.get("resourceVersionMatch") == "Exact" else ""
        options = ListOptions(
            namespace=target.namespace,
            matches=_selector(target.kind, query),
            limit=int(query.get("limit") or 0),
            token=query.get("continue", ""),
            version=int(exact or 0),
        )
        wanted = query.get("resourceVersion", "")
        if wanted.isdigit() and int(wanted) > self.store.version:
            raise too_large_version(int(wanted), self.store.version)
        return Answer(body=list_page(self.store, target.kind, options))

    def _watch(self, request: Request, target: Route, is_over: Callable[[], bool]) -> Answer:
        query = request.query
        since = query.get("resourceVersion", "")
        if since and not since.isdigit():
            message = f'resourceVersion: Invalid value: "{since}": strconv.ParseUint: parsing "{since}"'
            raise ApiError(500, "", f"{message}: invalid syntax")
        name = f"metadata.name={target.name}" if target.name else ""
        options = WatchOptions(
            since=int(since) if since not in ("", "0") else None,
            namespace=target.namespace,
            matches=_selector(target.kind, query, name),
            bookmarks=query.get("allowWatchBookmarks") in ("true", "True", "1"),
            timeout_s=float(query.get("timeoutSeconds") or DEFAULT_TIMEOUT_S),
            is_over=is_over,
        )
        return Answer(lines=watch(self.store, target.kind, options))

    def _write(self, verb: str, request: Request, target: Route, user: User) -> Answer:
        dry_run = _dry_run(request, verb)
        manager = request.query.get("fieldManager") or request.user_agent.partition("/")[0]
        if verb == "delete":
            return self._delete(target, manager)
        if verb == "patch":
            return self._patch(request, target, manager, dry_run=dry_run)
        given = _object_in(request, target.kind)
        if target.namespace:
            section(given, "metadata")["namespace"] = target.namespace
        if target.kind is ACCESS_REVIEWS:
            return json_answer(review(given, user), status=201)
        if verb == "create":
            return object_answer(self.writes.create(target.kind, given, manager, dry_run=dry_run), status=201)
        stored, dropped = self.writes.replace(
            target.kind, target.key, given, manager, subresource=target.subresource, dry_run=dry_run
        )
        return object_answer(stored, dropped=dropped)

    def _patch(self, request: Request, target: Route, manager: str, *, dry_run: bool) -> Answer:
        accepted = ACCEPTED if target.kind.custom else (*ACCEPTED, STRATEGIC_PATCH)
        kind_of_patch = request.content_type.partition(";")[0].strip()
        if kind_of_patch not in accepted or kind_of_patch == ACCEPTED[2]:
            raise unsupported_media_type(accepted)
        with self.store.lock:
            before = self._get(target)
            patch = _decode(request.body, "error decoding patch: unexpected end of JSON input")
            patched = (
                apply_json_patch(before.obj, patch)
                if kind_of_patch == JSON_PATCH
                else apply_merge_patch(before.obj, patch)
            )
            if not isinstance(patched, dict):
                raise bad_request("the patched object is no object")
            stored, dropped = self.writes.replace(
                target.kind, target.key, patched, manager, subresource=target.subresource, dry_run=dry_run
            )
        return object_answer(stored, dropped=dropped)

    def _delete(self, target: Route, manager: str) -> Answer:
        before = self._get(target)
        marked = self.writes.delete(target.kind, target.key, manager)
        if marked is not None:
            return object_answer(marked)
        details: JsonDict = {"name": before.name, "group": target.kind.group, "kind": target.kind.plural}
        details["uid"] = child(before.obj, "metadata").get("uid")
        body: JsonDict = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        return json_answer(body | {"details": details})


def _verb(request: Request, target: Route) -> str:
    verbs = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    verb = verbs.get(request.method, "")
    if request.method == "GET" and request.query.get("watch") in ("true", "True", "1"):
        verb = "watch"
    elif verb == "get" and not target.name:
        verb = "list"
    if verb not in target.kind.verbs or (verb in ("update", "patch", "delete") and not target.name):
        raise method_not_allowed()
    return verb


def _dry_run(request: Request, verb: str) -> bool:
    asked = request.query.get("dryRun", "")
    if asked not in ("", "All"):
        raise invalid_dry_run(asked, f"{verb.capitalize()}Options")
    return bool(asked)


def _selector(kind: Kind, query: Mapping[str, str], also: str = "") -> Callable[[Stored], bool] | None:
    fields = ",".join(part for part in (query.get("fieldSelector", ""), also) if part)
    return selector(kind, query.get("labelSelector", ""), fields)


def _decode(body: bytes, message: str) -> object:
    try:
        return json.loads(body)
    except ValueError as error:
        raise bad_request(message) from error


def _object_in(request: Request, kind: Kind) -> JsonDict:
    given = _decode(request.body, "the object provided is no JSON")
    said = given.get("kind") if isinstance(given, dict) else ""
    if not isinstance(given, dict) or said not in ((kind.kind,) if kind.custom else (kind.kind, None)):
        shown = request.body.decode(errors="replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind.kind}): "
            f"Object 'Kind' is missing in '{shown}' ({shown})"
        )
    return given
