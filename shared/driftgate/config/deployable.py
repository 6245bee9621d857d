"""What a deployment in AWS could not work with, though a laptop could."""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftgate.config.tree import Path, Tree
from driftgate.domain.errors import Problem
from driftgate.domain.fields import shown
from driftgate.domain.jsonvalue import items, mapping

# Source: aws docs, eks/latest/APIReference/API_CreateCluster, name (2026).
_EKS_NAME = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}")


def aws_problems(tree: Tree) -> Iterator[Problem]:
    """Clusters whose names EKS does not have: of a kubeconfig's context, say."""
    for path, name in _names(tree):
        if isinstance(name, str) and _EKS_NAME.fullmatch(name) is None:
            remedy = "Write the cluster's name as EKS has it: letters, digits, dashes and underscores."
            yield tree.problem(path, f"{shown(name)} is no name of an EKS cluster", remedy)


def _names(tree: Tree) -> Iterator[tuple[Path, object]]:
    top = mapping(tree.value)
    yield ("cluster",), top.get("cluster")
    for index, entry in enumerate(items(top.get("clusters"))):
        is_bare = isinstance(entry, str)
        path: Path = ("clusters", index) if is_bare else ("clusters", index, "name")
        yield path, entry if is_bare else mapping(entry).get("name")
