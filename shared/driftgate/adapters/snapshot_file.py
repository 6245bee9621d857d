"""A whole situation as one YAML stream: Kubernetes objects as the API gives them, and at most one Observation.

So a bug report, a test and a what-if are all a file. Kinds that are not judged are passed over. Must not judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import yaml

from driftgate.adapters.kubernetes_objects import ObjectKind, kind_of
from driftgate.adapters.node_objects import node_from_object, nodeclaim_from_object, volume_attachment_from_object
from driftgate.adapters.nodepool_objects import node_class_from_object, nodepool_from_object
from driftgate.adapters.object_meta import name_of, namespace_of
from driftgate.adapters.observation_document import (
    is_observation,
    observation_from_object,
    observation_to_object,
    observed_at,
)
from driftgate.adapters.pod_objects import pdb_from_object, pod_from_object
from driftgate.adapters.redaction import redacted
from driftgate.adapters.yaml_documents import Document, read_documents
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.fields import shown
from driftgate.domain.jsonvalue import JsonObject, items, mapping, rfc3339, text
from driftgate.domain.observation import Observation

T = TypeVar("T")
_FOR_PEOPLE = (ObjectKind.NODEPOOL, ObjectKind.NODE_CLASS, ObjectKind.PDB)
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def read_snapshot(content: str, source: str, at: datetime | None = None) -> Observation:
    """The situation that the stream describes; `at`, where given, goes before the file's own time.

    Lists (`kind: List`, `NodePoolList`, …) stand for their items. A v1alpha5 Provisioner counts as a NodePool, to be
    told as unsupported.

    Raises:
        InvalidInputError: what cannot be read, with file, document, line, path and remedy; also an object or an
            Observation given twice, and a stream without any time.
    """
    found = _Found()
    ours: Observation | None = None
    for document in _flattened(read_documents(content, source)):
        raw = _object(document)
        if is_observation(raw):
            if ours is not None:
                raise _twice("Observation", document.place)
            ours = observation_from_object(raw, document.place, at)
        else:
            found.add(raw, document.place)
    return found.complete(ours or Observation(at=observed_at(at, None, source)))


def write_snapshot(raw_objects: Iterable[JsonObject], observation: Observation, *, redact: bool) -> str:
    """The stream that `read_snapshot` reads back as the same situation.

    What people look at first comes in block style; Nodes, NodeClaims, Pods and the like, of which there may be
    thousands, on one line each. `redact` drops everything that the judgement does not need.
    """
    parts = [_block(observation_to_object(observation))]
    for raw in raw_objects:
        kept = redacted(raw) if redact else raw
        if kept is not None:
            parts.append(_block(kept) if kind_of(kept) in _FOR_PEOPLE else _line(kept))
    return "---\n" + "---\n".join(parts)


class _Found:
    """The judged objects of a stream by kind, each with its place; an object given twice is refused."""

    def __init__(self) -> None:
        self._objects: dict[ObjectKind, list[Document]] = {kind: [] for kind in ObjectKind}
        self._seen: set[tuple[str, str, str]] = set()

    def add(self, raw: JsonObject, place: str) -> None:
        kind = kind_of(raw)
        if kind is None:
            return
        name, called = name_of(raw), text(raw.get("kind")) or ""
        if not name:
            raise InvalidInputError(f"this {called} has no name", place=place, remedy="Add metadata.name.")
        key = (called, namespace_of(raw), name)
        if key in self._seen:
            raise _twice(f"{called} {name}", place)
        self._seen.add(key)
        self._objects[kind].append(Document(place, raw))

    def complete(self, observation: Observation) -> Observation:
        """The observation with every object in it."""
        return replace(
            observation,
            nodepools=self._read(ObjectKind.NODEPOOL, nodepool_from_object),
            node_classes=self._read(ObjectKind.NODE_CLASS, node_class_from_object),
            nodeclaims=self._read(ObjectKind.NODECLAIM, nodeclaim_from_object),
            nodes=self._read(ObjectKind.NODE, node_from_object),
            pods=self._read(ObjectKind.POD, pod_from_object),
            pdbs=self._read(ObjectKind.PDB, pdb_from_object),
            volume_attachments=self._read(ObjectKind.VOLUME_ATTACHMENT, volume_attachment_from_object),
        )

    def _read(self, kind: ObjectKind, read: Callable[[JsonObject], T]) -> tuple[T, ...]:
        return tuple(_placed(document, read) for document in self._objects[kind])


def _placed(document: Document, read: Callable[[JsonObject], T]) -> T:
    try:
        return read(mapping(document.value))
    except InvalidInputError as error:
        place = f"{document.place}: {error.place}"
        raise InvalidInputError(error.message, place=place, remedy=error.remedy) from error


def _flattened(documents: Iterable[Document]) -> Iterator[Document]:
    """Lists as their items: a JSON array, or any kind ending in List with `items`."""
    for document in documents:
        entries = _entries(document.value)
        if entries is None:
            yield document
            continue
        for index, entry in enumerate(entries):
            yield Document(f"{document.place}, items[{index}]", entry)


def _entries(value: object) -> list[object] | None:
    if isinstance(value, list):
        return value
    raw = mapping(value)
    kind = text(raw.get("kind")) or ""
    if not kind.endswith("List") or not isinstance(raw.get("items"), list):
        return None
    inherited = {} if kind == "List" else {"apiVersion": raw.get("apiVersion"), "kind": kind.removesuffix("List")}
    return [{**inherited, **entry} if isinstance(entry, Mapping) else entry for entry in items(raw["items"])]


def _object(document: Document) -> JsonObject:
    """The document as an object that says what it is."""
    if not isinstance(document.value, Mapping):
        message = f"this is {shown(document.value)}, not a Kubernetes object"
        raise InvalidInputError(message, place=document.place, remedy="Remove it, or separate documents by ---.")
    for key in ("apiVersion", "kind"):
        if not text(document.value.get(key)):
            raise InvalidInputError(f"{key} is missing", place=document.place, remedy=f"Add {key}.")
    return document.value


def _twice(what: str, place: str) -> InvalidInputError:
    return InvalidInputError(f"{what} is given twice", place=place, remedy="Keep one of the two.")


def _block(raw: JsonObject) -> str:
    return str(yaml.dump(_plain(raw), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))


def _line(raw: JsonObject) -> str:
    return json.dumps(_plain(raw), ensure_ascii=False, separators=(", ", ": ")) + "\n"


def _plain(value: object) -> object:
    """The value in the types that both writers know."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return rfc3339(value) if isinstance(value, datetime) else value
