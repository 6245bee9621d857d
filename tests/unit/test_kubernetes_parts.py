"""The official client is loaded in parts, and nobody else notices."""

from __future__ import annotations

import subprocess
import sys

import pytest

from driftgate.adapters.kubernetes_parts import new_configuration


def run(code: str) -> str:
    """What the code prints in an interpreter of its own, with the modules of this one's paths."""
    paths = f"import sys; sys.path[:0] = {sys.path!r}\n"
    done = subprocess.run([sys.executable, "-c", paths + code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_transport_comes_without_the_models() -> None:
    code = """
from driftgate.adapters.kubernetes_parts import new_configuration, new_transport
new_transport(new_configuration())
print(sum("kubernetes" in name.split(".")[0] for name in sys.modules), len(sys.modules) < 500)
"""

    assert run(code) == "0 True"


def test_the_whole_client_can_still_be_imported_afterwards() -> None:
    code = """
from driftgate.adapters.kubernetes_parts import kube_config
kube_config()
import kubernetes.client
print(kubernetes.client.CoreV1Api.__name__, kubernetes.config.load_kube_config.__name__)
"""

    assert run(code) == "CoreV1Api load_kube_config"


def test_a_client_that_was_there_before_stays_the_same() -> None:
    code = """
from types import ModuleType
before = sys.modules["kubernetes.client"] = ModuleType("kubernetes.client")
from driftgate.adapters.kubernetes_parts import kube_config
kube_config()
print(sys.modules["kubernetes.client"] is before)
"""

    assert run(code) == "True"


def test_nothing_of_the_client_is_loaded_before_a_connection_is_made() -> None:
    code = """
import driftgate.adapters.kubernetes_cluster, driftgate.adapters.kubeconfig
print([name for name in sys.modules if name.startswith("kubernetes")])
"""

    assert run(code) == "[]"


def test_an_address_that_needs_no_proxy_is_asked_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    configuration = new_configuration()

    assert (configuration.proxy, configuration.no_proxy) == ("http://proxy.example:3128", "127.0.0.1")
