"""The real control plane on this machine: etcd, kube-apiserver, Karpenter, a kubelet stand-in.

The programs are those that `tests/e2e/build.py` built. They listen on free ports of
the loopback interface (Karpenter's metrics port alone listens everywhere: it has no
setting for that). Two users: `admin`, who may do anything, and `driftgate`, in the
group of that name, who may do what a test grants.
"""

import base64
import json
import os
import secrets
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.e2e import build
from tests.e2e.harness.api import Api
from tests.e2e.harness.kubelet import Kubelet
from tests.e2e.harness.processes import NotReadyError, Run, free_ports

CORE = ("etcd", "kube-apiserver", "karpenter")
GROUPS = {"admin": "system:masters", "driftgate": "driftgate"}
# A free port may be taken by somebody else before it is listened on: then all starts again.
START_ATTEMPTS, PORT_TAKEN = 3, "address already in use"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class ControlPlane:
    """A control plane of its own for each `with`; the logs are kept if the block fails."""

    def __init__(self, *, karpenter: str | None = "karpenter", env: Mapping[str, str] | None = None) -> None:
        """Choose the program that is Karpenter, if any, and settings of its own."""
        self.karpenter, self._env = karpenter, dict(env or {})
        # Set where a failure is seen that does not pass through the `with`: a failed pytest test.
        self.keep_logs = False

    def __enter__(self) -> Self:
        for _ in range(START_ATTEMPTS):
            self._prepare()
            try:
                self._start()
            except BaseException as error:
                self.stop(keep_logs=True)
                if PORT_TAKEN not in str(error):
                    raise
            else:
                return self
        raise NotReadyError(f"ports were taken by others {START_ATTEMPTS} times")

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self.stop(keep_logs=self.keep_logs or kind is not None)

    def _prepare(self) -> None:
        self.run = Run()
        self.tokens = {user: secrets.token_hex(16) for user in GROUPS}
        self._etcd_port, self._peer_port, self._api_port = free_ports(3)
        self.server = f"https://127.0.0.1:{self._api_port}"
        # kube-apiserver makes its own certificate, and puts the authority's behind it in the file.
        self.ca = self.run.folder / "certs" / "apiserver.crt"
        self.kubelet: Kubelet | None = None

    def _start(self) -> None:
        self.start_etcd()
        self.start_api_server()
        self.apply_crds()
        if self.karpenter:
            self.kubelet = Kubelet(self.api("admin"))
            self.kubelet.start()
            self.start_karpenter()

    def stop(self, *, keep_logs: bool = False) -> None:
        """End everything; kube-apiserver before etcd, without which it would not end."""
        if self.kubelet:
            self.kubelet.stop()
        self.run.close(keep_logs=keep_logs)
        if keep_logs:
            print(f"logs kept in {self.run.logs}")

    def api(self, user: str | None) -> Api:
        """The API server as a user; None is nobody."""
        return Api(self.server, token=self.tokens[user] if user else None, ca=self.ca)

    def kubeconfig(self, user: str) -> Path:
        """A kubeconfig file of the user, written once the server has its certificate."""
        path = self.run.folder / f"{user}.kubeconfig"
        if not path.exists():
            path.write_text(json.dumps(self._kubeconfig(user)))
        return path

    def start_etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, self._peer_port))
        command = [
            build.binary_path("etcd"), f"--data-dir={self.run.folder / 'etcd'}", "--unsafe-no-fsync",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}", "--log-level=warn",
        ]  # fmt: skip
        self.run.start("etcd", command)
        self.run.wait_until("etcd", lambda: answers(f"{client}/health"), timeout_s=30)

    def start_api_server(self) -> None:
        folder = self.run.folder
        key, tokens = folder / "service-account.key", folder / "tokens.csv"
        key.write_text(service_account_key())
        tokens.write_text("".join(f"{self.tokens[u]},{u},{u},{group}\n" for u, group in GROUPS.items()))
        command = [
            build.binary_path("kube-apiserver"), f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            "--bind-address=127.0.0.1", f"--secure-port={self._api_port}", f"--cert-dir={self.ca.parent}",
            "--authorization-mode=RBAC", f"--token-auth-file={tokens}", "--anonymous-auth=false",
            f"--service-account-issuer={self.server}", f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}", "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount",
        ]  # fmt: skip
        self.run.start("kube-apiserver", command)
        self.run.wait_until("kube-apiserver", self._api_is_ready, timeout_s=60)

    def apply_crds(self) -> None:
        api = self.api("admin")
        module = build.PROGRAMS[self.karpenter or "karpenter"].module
        for path in sorted(build.crds_path(module).glob("*.yaml")):
            api.send("POST", CRDS, path.read_bytes(), "application/yaml").json()
        self.run.wait_until("kube-apiserver", lambda: all(map(api.serves, api.items(CRDS))), timeout_s=30)

    def start_karpenter(self) -> None:
        """Start Karpenter, or start it again after `run.stop(plane.karpenter)`."""
        assert self.karpenter, "this control plane was made without Karpenter"
        metrics, probe = free_ports(2)
        settings = {
            "KUBECONFIG": str(self.kubeconfig("admin")), "SYSTEM_NAMESPACE": "kube-system",
            "DISABLE_LEADER_ELECTION": "true", "METRICS_PORT": str(metrics),
            "HEALTH_PROBE_PORT": str(probe), "LOG_LEVEL": "debug",
        }  # fmt: skip
        self.run.start(self.karpenter, [build.binary_path(self.karpenter)], settings | self._env)
        self.run.wait_until(self.karpenter, lambda: answers(f"http://127.0.0.1:{probe}/readyz"), timeout_s=60)

    def start_kubernetes_controllers(self) -> None:
        """Start kube-scheduler and kube-controller-manager, for tests whose pods must move."""
        for name, port in zip(("kube-scheduler", "kube-controller-manager"), free_ports(2), strict=True):
            config = self.kubeconfig("admin")
            flags = [f"--{use}kubeconfig={config}" for use in ("", "authentication-", "authorization-")]
            local = ["--leader-elect=false", "--bind-address=127.0.0.1", f"--secure-port={port}"]
            self.run.start(name, [build.binary_path(name), *flags, *local])

    def _api_is_ready(self) -> bool:
        try:
            probe = Api(self.server, token=self.tokens["admin"], ca=self.ca, timeout_s=2)
            return self.ca.exists() and probe.send("GET", "/readyz").status == 200
        except OSError:
            return False

    def _kubeconfig(self, user: str) -> dict[str, object]:
        cluster = {"server": self.server, "certificate-authority": str(self.ca)}
        context = {"cluster": "e2e", "user": user, "namespace": "default"}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "e2e", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self.tokens[user]}}],
            "contexts": [{"name": "e2e", "context": context}],
            "current-context": "e2e",
        }


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


def service_account_key() -> str:
    """A fresh P-256 key as a PEM file: the standard library has no keys, but their coding is fixed.

    Source: RFC 5915, ECPrivateKey with the curve named and the public key left out.
    """
    scalar = b"\x01" + os.urandom(31)
    der = bytes.fromhex("30310201010420") + scalar + bytes.fromhex("a00a06082a8648ce3d030107")
    text = base64.b64encode(der).decode()
    return f"-----BEGIN EC {'PRIVATE'} KEY-----\n{text}\n-----END EC {'PRIVATE'} KEY-----\n"
