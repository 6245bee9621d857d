"""Reads driftgate.yaml and answers what holds for a cluster. Knows no file system, cluster or clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from driftgate.config.deployable import aws_problems
from driftgate.config.deployment import Deployment
from driftgate.config.faults import list_problems, shape_problems
from driftgate.config.model import Cluster, ClusterSettings, Document
from driftgate.config.resolve import cluster_policy, overlay
from driftgate.config.tree import Tree, read_tree
from driftgate.domain.errors import InvalidInputError, InvalidSettingsError, Problem
from driftgate.domain.fields import did_you_mean
from driftgate.domain.policy import ClusterPolicy, GuardPolicy, PoolPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSetup:
    """How a cluster is reached, and whether people are told through SNS.

    None: the deployment's own region, its own account, its default placement.
    """

    region: str | None = None
    account_role: str | None = None
    placement: str | None = None
    notify_sns: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A driftgate.yaml without faults. `source` is how messages call it."""

    source: str
    clusters: Mapping[str, ClusterSettings]
    deployment: Deployment

    def cluster_names(self) -> tuple[str, ...]:
        """Every cluster in the file, in its order."""
        return tuple(self.clusters)

    def cluster(self, name: str | None = None) -> ClusterPolicy:
        """What holds for that cluster; without a name, for the only one.

        Raises:
            InvalidInputError: the file has no such cluster, or several and none was named.
        """
        chosen = self._chosen(name)
        return cluster_policy(chosen, self.clusters[chosen], self.deployment.name)

    def settings_of(self, name: str | None = None) -> ClusterSetup:
        """How that cluster is reached. Raises as `cluster`."""
        settings = self.clusters[self._chosen(name)]
        return ClusterSetup(
            region=settings.region,
            account_role=settings.account_role,
            placement=settings.placement,
            notify_sns=settings.notify.sns,
        )

    def _chosen(self, name: str | None) -> str:
        known = ", ".join(self.clusters)
        if name is None and len(self.clusters) > 1:
            raise InvalidInputError("several clusters stand here", place=self.source, remedy=f"Name one of {known}.")
        chosen = next(iter(self.clusters)) if name is None else name
        if chosen not in self.clusters:
            remedy = did_you_mean(chosen, self.clusters) or f"It has {known}."
            raise InvalidInputError(f"there is no cluster {chosen!r} here", place=self.source, remedy=remedy)
        return chosen


def load_config(text: str, source: str, *, is_deployed: bool = False) -> Config:
    """What the text of a driftgate.yaml says; `source` is its path for messages.

    `is_deployed`: what only a laptop could work with counts as wrong.

    Raises:
        InvalidSettingsError: with everything that is wrong in it, by line.
    """
    tree = read_tree(text, source)
    document, problems = _document(tree)
    problems += aws_problems(tree) if is_deployed else ()
    if document is None or problems:
        raise InvalidSettingsError(source, sorted(problems, key=lambda problem: _line(problem, source)))
    clusters = document.clusters or (Cluster(name=str(document.cluster)),)
    overlaid = {each.name: overlay(document, each) for each in clusters}
    return Config(source=source, clusters=overlaid, deployment=document.deployment)


def _document(tree: Tree) -> tuple[Document | None, list[Problem]]:
    if not tree.is_readable:
        return None, list(tree.problems)
    found = [*tree.problems, *list_problems(tree)]
    try:
        return Document.model_validate(tree.value), found
    except ValidationError as error:
        return None, [*found, *shape_problems(tree, error)]


def _line(problem: Problem, source: str) -> tuple[int, ...]:
    numbers = problem.place.removeprefix(source).split(":")
    return tuple(int(number) for number in numbers if number.isdigit())


def default_policy(cluster: str = "") -> ClusterPolicy:
    """What holds without any file: every NodePool is observed, nothing is ever opened, and no alarm is asked."""
    return ClusterPolicy(cluster=cluster, default=PoolPolicy(guards=GuardPolicy(alarms=())), configured=False)
