"""Loads the parts of the official Kubernetes client that carry requests, and leaves its models out.

`import kubernetes.client` runs some 850 modules of generated models and APIs (1.5 s where this was measured); the
transport and the kubeconfig rules are eight of them (0.2 s). A closer that wakes up on an alarm waits for this
import, so the packages are entered here without running their `__init__`. The modules are kept aside: an ordinary
`import kubernetes` elsewhere in the process still gets the whole client. This module must not send anything.

Source: kubernetes 35.0.0, kubernetes/__init__.py and kubernetes/client/__init__.py (pinned in pyproject.toml).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import urllib3
from urllib3.util.ssl_ import create_urllib3_context

_PACKAGES = ("kubernetes", "kubernetes.client", "kubernetes.client.models", "kubernetes.config")
_kept: dict[str, ModuleType] = {}
_lock = threading.RLock()


def new_configuration(**given: Any) -> Any:
    """An official `Configuration` of its own: never the process-wide default, and it keeps to NO_PROXY.

    35.0.0 reads NO_PROXY and forgets it again, so that a loopback address would be asked through the proxy.
    """
    configuration = _part("kubernetes.client.configuration").Configuration(**given)
    configuration.no_proxy = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    return configuration


def new_transport(configuration: Any) -> urllib3.PoolManager:
    """The connections of an official `RESTClientObject`: client certificates and proxies as the configuration says.

    A CA is trusted as kubectl trusts it: also an intermediate one, and one without key identifiers, which older EKS
    clusters have and which Python 3.13 refuses by default (kubernetes-client/python, issue 2394). Chain, dates and
    host name are checked all the same.
    """
    manager: urllib3.PoolManager = _part("kubernetes.client.rest").RESTClientObject(configuration).pool_manager
    manager.connection_pool_kw["ssl_context"] = create_urllib3_context(
        cert_reqs=ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE,
        verify_flags=ssl.VERIFY_X509_PARTIAL_CHAIN,
    )
    return manager


def kube_config() -> ModuleType:
    """The module of the kubeconfig rules: contexts, certificates, tokens, exec plugins."""
    with _lock:
        api_client = _part("kubernetes.client.api_client")
        package = _kept["kubernetes.client"]
        package.__dict__.update(ApiClient=api_client.ApiClient, Configuration=api_client.Configuration)
        return _part("kubernetes.config.kube_config")


def _part(name: str) -> ModuleType:
    with _lock, _bare_packages():
        return importlib.import_module(name)


@contextmanager
def _bare_packages() -> Iterator[None]:
    """Within, the client's packages are entered without their `__init__`; afterwards all is as it was before."""
    others = _take_modules()
    sys.modules.update(_kept or {name: _bare(name) for name in _PACKAGES})
    try:
        yield
    finally:
        _kept.update(_take_modules())
        sys.modules.update(others)


def _take_modules() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name == "kubernetes" or name.startswith("kubernetes.")]
    return {name: sys.modules.pop(name) for name in names}


def _bare(name: str) -> ModuleType:
    package = ModuleType(name)
    package.__path__ = [str(_root().joinpath(*name.split(".")[1:]))]
    return package


def _root() -> Path:
    found = importlib.util.find_spec("kubernetes")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("the package `kubernetes` is not installed")
    return Path(found.submodule_search_locations[0])
