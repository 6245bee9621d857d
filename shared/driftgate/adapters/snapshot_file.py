"""A whole situation as one YAML stream: Kubernetes objects as the API gives them, and at most one Observation.

So a bug report, a test and a what-if are all a file. Kinds that are not judged are passed over. Must not judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import yaml

from driftgate.adapters.kubernetes_objects import ObjectKind, kind_of
from driftgate.adapters.observation_document import (
    is_observation,
    observation_from_object,
    observation_to_object,
    observed_at,
)
from driftgate.adapters.redaction import redacted
from driftgate.adapters.yaml_documents import read_documents
from driftgate.domain.jsonvalue import JsonObject
from driftgate.domain.observation import Observation

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


@dataclass(slots=True)
class _Found:
    """The judged objects of a stream, by kind, with where each was first seen."""

    objects: dict[ObjectKind, list[JsonObject]] = field(default_factory=lambda: {kind: [] for kind in ObjectKind})
    places: dict[tuple[str, str, str], str] = field(default_factory=dict)
    read: dict[int, str] = field(default_factory=dict)
