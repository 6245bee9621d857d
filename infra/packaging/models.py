"""botocore's descriptions of AWS, cut down to what the functions ask for.

Reading them is most of what a client costs, and EC2's is larger than all others together. Nothing that a client does
with what is left changes: documentation is for people, and an operation or an endpoint that nobody asks for is not
missed.
Source: botocore 1.44, loaders.py (`.json` is looked for before `.json.gz`), model.py and regions.py.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

OPERATIONS: Mapping[str, frozenset[str]] = {"ec2": frozenset({"DescribeImages"})}
"""The operations of a service that are kept; all of them where it is not named."""

Model = dict[str, Any]


def cut_models(data: Path) -> None:
    """In this folder, botocore's `data`, stand only what clients of the services in it read."""
    prefixes = {_cut_service(path) for path in sorted(data.glob("*/*/service-2.json.gz"))}
    endpoints = json.loads((data / "endpoints.json").read_bytes())
    for partition in endpoints["partitions"]:
        partition["services"] = {name: told for name, told in partition["services"].items() if name in prefixes}
    _write(data / "endpoints.json", endpoints)


def _cut_service(packed: Path) -> str:
    """The name under which the service stands among the endpoints."""
    model: Model = _without_documentation(json.loads(gzip.decompress(packed.read_bytes())))
    kept = OPERATIONS.get(packed.parts[-3])
    if kept is not None:
        _keep_operations(model, kept)
    _write(packed.with_suffix(""), model)
    packed.unlink()
    return str(model["metadata"]["endpointPrefix"])


def _without_documentation(value: Any) -> Any:
    """A member that is called so is a description of its own, and stays."""
    if isinstance(value, list):
        return [_without_documentation(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: told for name, told in value.items() if name != "documentation" or not isinstance(told, str)}
    return {name: _without_documentation(told) for name, told in kept.items()}


def _keep_operations(model: Model, kept: frozenset[str]) -> None:
    """The operations, and the shapes that they are made of."""
    model["operations"] = {name: model["operations"][name] for name in sorted(kept)}
    found: set[str] = set()
    asked = set(_shapes_in(model["operations"]))
    while asked:
        found |= asked
        asked = {name for shape in asked for name in _shapes_in(model["shapes"][shape])} - found
    model["shapes"] = {name: shape for name, shape in model["shapes"].items() if name in found}


def _shapes_in(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _shapes_in(each)
    elif isinstance(value, dict):
        if isinstance(value.get("shape"), str):
            yield value["shape"]
        for each in value.values():
            yield from _shapes_in(each)


def _write(path: Path, model: Model) -> None:
    path.write_text(json.dumps(model, separators=(",", ":")), encoding="utf-8")
