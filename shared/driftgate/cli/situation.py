"""Where a command's situation comes from: a snapshot file, or a cluster that a kubeconfig reaches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from driftgate import bootstrap, laptop
from driftgate.app.observe import observe
from driftgate.app.pipeline import Pipeline
from driftgate.cli.answers import note
from driftgate.config.load import Config, default_policy
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.observation import Observation
from driftgate.domain.policy import ClusterPolicy, Mode

DEFAULT_CONFIG = Path("driftgate.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the person said on the command line."""

    kubeconfig: str | None = None
    context: str | None = None
    config: Path | None = None
    cluster: str | None = None
    from_file: str | None = None
    at: datetime | None = None
    ledger: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """An observation and the policy to judge it by."""

    observation: Observation
    policy: ClusterPolicy


def read_situation(choice: Choice) -> Situation:
    """The situation, from the file or from the cluster; progress goes to standard error where a person looks."""
    config = find_config(choice)
    if choice.from_file is not None:
        policy = policy_of(config, choice, cluster="")
        return Situation(observation=read_snapshot(choice.from_file, choice.at), policy=policy)
    with shown_progress() as heard:
        pipeline = reach(choice, config, progress=heard)
        name = pipeline.cluster_names[0]
        policy, ledger = pipeline.policy(name), pipeline.ledger.load(name)
        sources = pipeline.sources(pipeline.clusters.connect(name))
        seen = observe(sources, policy, ledger, choice.at or pipeline.clock.now())
    return Situation(observation=seen, policy=policy)


@contextmanager
def shown_progress() -> Iterator[Callable[[str, int], None]]:
    """Hears what was read and how much, and shows it on a terminal; silent where a pipe reads."""
    with _spinner() as shown:
        task = shown.add_task("Reading the cluster", total=None)
        yield lambda what, count: shown.update(task, description=f"Reading {what}: {count}")


@contextmanager
def shown_wait(what: str) -> Iterator[None]:
    """Shows on a terminal that something takes its time, and for how long by now."""
    with _spinner() as shown:
        shown.add_task(what, total=None)
        yield


def _spinner() -> Progress:
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def find_config(choice: Choice) -> Config | None:
    """The configuration named, or `./driftgate.yaml` where there is one."""
    if choice.config is not None:
        return bootstrap.read_config(choice.config)
    return bootstrap.read_config(DEFAULT_CONFIG) if DEFAULT_CONFIG.is_file() else None


def policy_of(config: Config | None, choice: Choice, *, cluster: str) -> ClusterPolicy:
    """The policy of the chosen cluster; without a configuration: every pool is observed, nothing may open."""
    return default_policy(choice.cluster or cluster) if config is None else config.cluster(choice.cluster)


def as_if_acting(policy: ClusterPolicy) -> ClusterPolicy:
    """The same policy with `mode: act`, for commands that say what would be done and never write."""
    pools = None if policy.pools is None else tuple((n, replace(p, mode=Mode.ACT)) for n, p in policy.pools)
    return replace(policy, default=replace(policy.default, mode=Mode.ACT), pools=pools)


def read_snapshot(source: str, at: datetime | None) -> Observation:
    """The observation in a snapshot file, `-` for standard input. Raises InvalidInputError."""
    called = "standard input" if source == "-" else source
    return laptop.read_snapshot(read_text(source), called, at)


def read_text(source: str) -> str:
    """What stands in the file, `-` for standard input. Raises InvalidInputError."""
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise InvalidInputError(why, place=source, remedy="Name a readable YAML file.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError("is not UTF-8 text", place=source, remedy="Name a YAML file.") from error


def reach(choice: Choice, config: Config | None, *, progress: Callable[[str, int], None] | None = None) -> Pipeline:
    """The pipeline of this laptop: the kubeconfig's cluster, a ledger, and AWS where the configuration needs it."""
    wanted = laptop.Reach(
        kubeconfig=choice.kubeconfig,
        context=choice.context,
        cluster=choice.cluster,
        ledger=choice.ledger,
        progress=progress,
    )
    pipeline = laptop.laptop_pipeline(wanted, config, os.environ)
    if doubt := laptop.mismatch(wanted, config, os.environ):
        note(doubt)
    return pipeline


def ledger_called(choice: Choice, pipeline: Pipeline) -> str:
    """Which ledger that is: `file:PATH` or `dynamodb:TABLE`."""
    return choice.ledger or laptop.default_ledger(pipeline.cluster_names[0], os.environ)
