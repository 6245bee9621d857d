"""A cluster by the user's own kubeconfig: file, context, certificates, tokens and exec plugins as kubectl has them.

The official loader does the work. This module says in plain words what is wrong with a file, because the loader says
it in tracebacks, and a failed exec plugin only in the log. It never writes the file.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from driftgate.adapters.kubernetes_client import KubernetesClient, TimeLimits
from driftgate.adapters.kubernetes_parts import kube_config, new_configuration
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.jsonvalue import JsonObject, child, items, mapping, text

_DEFAULT = "~/.kube/config"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeContext:
    """One context: which cluster, and as whom, read from `files`. "" stands for what is not given."""

    name: str
    cluster: str
    user: str
    files: tuple[Path, ...]
    proxy: str = ""
    impersonates: str = ""


def find_context(path: str | None, context: str | None, *, environ: Mapping[str, str]) -> KubeContext:
    """The context named, or the current one, of the file named, or of `KUBECONFIG`, or of `~/.kube/config`.

    Of several files the first that says something wins, as in kubectl.
    Raises InvalidInputError: no file, not a kubeconfig, no such context.
    """
    files = _files(path, environ)
    documents = [_document(file) for file in files]
    place = ", ".join(map(str, files))
    known = _named(documents, "contexts", "context")
    wanted = context or next(filter(None, (text(document.get("current-context")) for document in documents)), "")
    choice = f"Contexts here: {', '.join(sorted(known)) or 'none'}. Name one with --context."
    if not wanted:
        raise InvalidInputError("it has no current-context", place=place, remedy=choice)
    if wanted not in known:
        raise InvalidInputError(f"there is no context {wanted!r}", place=place, remedy=choice)
    cluster, user = (text(known[wanted].get(part)) or "" for part in ("cluster", "user"))
    return KubeContext(
        name=wanted,
        cluster=cluster,
        user=user,
        files=files,
        proxy=text(child(_named(documents, "clusters", "cluster"), cluster).get("proxy-url")) or "",
        impersonates=text(child(_named(documents, "users", "user"), user).get("as")) or "",
    )


def connect_context(found: KubeContext, *, limits: TimeLimits | None = None) -> KubernetesClient:
    """A client for the context's cluster. Raises InvalidInputError where the file or its exec plugin is of no use."""
    _check_supported(found)
    configuration = new_configuration()
    with _errors_heard() as said:
        _load(found, configuration)
    if found.proxy:
        configuration.proxy, configuration.no_proxy = found.proxy, None
    if said and not configuration.api_key and not configuration.cert_file:
        raise InvalidInputError(
            f"the user {found.user!r} gave no credentials ({'; '.join(said)})",
            place=_place(found),
            remedy="Run the command of its `exec` section by hand: it must print an ExecCredential.",
        )
    return KubernetesClient(configuration, limits=limits)


def _check_supported(found: KubeContext) -> None:
    """Refuses what the official loader would silently leave out."""
    if found.impersonates:
        raise InvalidInputError(
            f"its user acts as {found.impersonates!r} (`as`), which driftgate does not do",
            place=_place(found),
            remedy="Name a context whose user has the rights itself.",
        )
    if found.proxy and not found.proxy.startswith(("http://", "https://")):
        raise InvalidInputError(
            f"its proxy-url {found.proxy} is no HTTP proxy",
            place=_place(found),
            remedy="Only http:// and https:// proxies can be used.",
        )


def _load(found: KubeContext, configuration: Any) -> None:
    module = kube_config()
    try:
        module.load_kube_config(
            config_file=module.ENV_KUBECONFIG_PATH_SEPARATOR.join(map(str, found.files)),
            context=found.name,
            client_configuration=configuration,
            persist_config=False,
        )
    except (module.ConfigException, AttributeError, KeyError, TypeError, ValueError, OSError) as error:
        raise InvalidInputError(
            f"cannot be used ({error})", place=_place(found), remedy="Does kubectl work with this context?"
        ) from error


def _place(found: KubeContext) -> str:
    return f"{', '.join(map(str, found.files))}, context {found.name}"


def _files(path: str | None, environ: Mapping[str, str]) -> tuple[Path, ...]:
    named = path or environ.get("KUBECONFIG") or _DEFAULT
    paths = [Path(part).expanduser() for part in named.split(os.pathsep) if part]
    found = tuple(entry for entry in paths if entry.is_file())
    if not found:
        raise InvalidInputError(
            "there is no such kubeconfig file",
            place=", ".join(map(str, paths)),
            remedy="Give one with --kubeconfig, or set KUBECONFIG.",
        )
    return found


def _document(file: Path) -> JsonObject:
    remedy = "Does kubectl work with this file?"
    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"it is not YAML ({error})", place=str(file), remedy=remedy) from error
    except OSError as error:
        raise InvalidInputError(f"it cannot be read ({error.strerror})", place=str(file)) from error
    if not isinstance(found, Mapping) or not items(found.get("contexts")):
        raise InvalidInputError("it is not a kubeconfig: it has no contexts", place=str(file), remedy=remedy)
    return found


def _named(documents: list[JsonObject], plural: str, singular: str) -> dict[str, JsonObject]:
    """The entries of one of the lists by name; of several of one name the first is kept."""
    found: dict[str, JsonObject] = {}
    for entry in (entry for document in documents for entry in items(document.get(plural))):
        name = text(mapping(entry).get("name"))
        if name:
            found.setdefault(name, child(entry, singular))
    return found


class _Ear(logging.Handler):
    """Keeps what is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@contextmanager
def _errors_heard() -> Iterator[list[str]]:
    """What is logged as an error within: the loader tells of a failed exec plugin nowhere else."""
    ear, root = _Ear(), logging.getLogger()
    root.addHandler(ear)
    try:
        yield ear.said
    finally:
        root.removeHandler(ear)
