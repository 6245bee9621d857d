"""Lists by page: one consistent snapshot over all pages, found again by the token of `continue`."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from driftgate.domain.jsonvalue import integer, mapping, text
from driftgate.sim.kinds import Kind
from driftgate.sim.objects import JsonDict
from driftgate.sim.selectors import Matches
from driftgate.sim.status import ApiError, bad_request
from driftgate.sim.store import Store, Stored, encode


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """`version` asks for the state at exactly that version (0: now)."""

    namespace: str = ""
    matches: Matches | None = None
    limit: int = 0
    token: str = ""
    version: int = 0


def list_page(store: Store, kind: Kind, options: ListOptions) -> bytes:
    """The JSON of one page. Raises ApiError 400 (bad token), 410 (its snapshot was compacted)."""
    with store.lock:
        version, after = _position(options, store.version)
        found = store.list_at(kind, version)
    prefix = f"{options.namespace}/" if options.namespace else ""
    rest = [entry for entry in found if entry.key > after and entry.key.startswith(prefix)]
    total = len(rest)
    chosen, has_more = _cut(rest, options)
    metadata: JsonDict = {"continue": ""} if kind.custom else {}
    metadata["resourceVersion"] = str(version)
    if has_more:
        metadata["continue"] = _token(version, chosen[-1].key)
        if options.matches is None:
            metadata["remainingItemCount"] = total - len(chosen)
    return _encode_list(kind, metadata, chosen)


def _cut(rest: list[Stored], options: ListOptions) -> tuple[list[Stored], bool]:
    if options.matches is not None:
        rest = [entry for entry in rest if options.matches(entry)]
    if not options.limit or len(rest) <= options.limit:
        return rest, False
    return rest[: options.limit], True


def _position(options: ListOptions, now: int) -> tuple[int, str]:
    if not options.token:
        return options.version or now, ""
    try:
        padded = options.token + "=" * (-len(options.token) % 4)
        value = mapping(json.loads(base64.urlsafe_b64decode(padded)))
    except ValueError as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {error}") from error
    start, version = text(value.get("start")), integer(value.get("rv"))
    if start is None or version is None:
        raise bad_request("invalid continue token: continue key is not valid: unset start key")
    return (now if version == -1 else version), start.strip("/\0")


def _token(version: int, last_key: str) -> str:
    """As the real server's: the snapshot's version and the first key of the next page."""
    value = {"v": "meta.k8s.io/v1", "rv": version, "start": f"/{last_key}\0"}
    return base64.urlsafe_b64encode(encode(value)).decode().rstrip("=")


def with_restart_token(error: ApiError, token: str) -> JsonDict:
    """The 410 of an expired token carries a new one, which continues on the newest state."""
    start = _position(ListOptions(token=token), 0)[1]
    return error.to_status() | {"metadata": {"continue": _token(-1, start)}}


def _encode_list(kind: Kind, metadata: JsonDict, chosen: list[Stored]) -> bytes:
    head = encode({"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata})
    items = b",".join(entry.item() for entry in chosen)
    return head[:-1] + b',"items":[' + items + b"]}\n"
