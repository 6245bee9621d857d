"""A cluster by the user's kubeconfig: what is used, and what is said where a file is of no use."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from driftgate.adapters.kubeconfig import KubeContext, connect_context, find_context
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.domain.errors import InvalidInputError
from tests.fakes.canned_server import CannedServer, Reply

NODES = "/api/v1/nodes"
NO_NODES = Reply(body={"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": []})


def config(
    server: str = "http://127.0.0.1:1", user: dict[str, Any] | None = None, *, current: str = "demo", **more: Any
) -> dict[str, Any]:
    """Contexts `demo` and `other`."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "clusters": [{"name": "demo-cluster", "cluster": {"server": server}}],
        "users": [{"name": "somebody", "user": user or {"token": "sesame"}}],
        "contexts": [
            {"name": name, "context": {"cluster": "demo-cluster", "user": "somebody"}} for name in ("demo", "other")
        ],
    } | more


def write(path: Path, content: Any) -> str:
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return str(path)


def find(path: str | None, context: str | None = None, **environ: str) -> KubeContext:
    return find_context(path, context, environ=environ)


# --- which context -----------------------------------------------------------------------------------


def test_the_current_context_is_used_where_none_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "config", config())

    found = find(path)

    assert (found.name, found.cluster, found.user) == ("demo", "demo-cluster", "somebody")


def test_a_context_named_wins(tmp_path: Path) -> None:
    assert find(write(tmp_path / "config", config()), "other").name == "other"


def test_the_file_is_taken_from_the_environment_where_none_is_named(tmp_path: Path) -> None:
    assert find(None, KUBECONFIG=write(tmp_path / "config", config())).name == "demo"


def test_of_several_files_the_first_that_says_something_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "first", config(current=""))
    second = write(tmp_path / "second", config(current="other"))

    assert find(None, KUBECONFIG=f"{first}:{tmp_path / 'absent'}:{second}").name == "other"


def test_a_context_of_two_files_is_that_of_the_first(tmp_path: Path) -> None:
    first = write(tmp_path / "first", config())
    second = write(tmp_path / "second", config(contexts=[{"name": "demo", "context": {"cluster": "elsewhere"}}]))

    assert find(None, KUBECONFIG=f"{first}:{second}").cluster == "demo-cluster"


def test_an_unknown_context_is_told_with_those_there_are(tmp_path: Path) -> None:
    path = write(tmp_path / "config", config())

    with pytest.raises(InvalidInputError) as told:
        find(path, "prod")

    assert str(told.value) == (
        f"{path}: there is no context 'prod' · Contexts here: demo, other. Name one with --context."
    )


def test_a_file_without_a_current_context_asks_for_one(tmp_path: Path) -> None:
    path = write(tmp_path / "config", config(current=""))

    with pytest.raises(InvalidInputError, match="no current-context"):
        find(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a: [", "it is not YAML"),
        ("", "it is not a kubeconfig"),
        ("just words", "it is not a kubeconfig"),
        ("[1, 2]", "it is not a kubeconfig"),
        ("contexts: {}", "it is not a kubeconfig"),
        ("contexts: [3, {name: 4}]", "no current-context"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path: Path, content: str, said: str) -> None:
    path = write(tmp_path / "config", content)

    with pytest.raises(InvalidInputError, match=said) as told:
        find(path)

    assert told.value.place == path


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no such kubeconfig file"):
        find(str(tmp_path / "absent"))


# --- connecting --------------------------------------------------------------------------------------


def authorization_sent(tmp_path: Path, user: dict[str, Any]) -> str:
    """The header that the context's user sends."""
    with CannedServer({NODES: [NO_NODES]}) as server:
        client = connect_context(find(write(tmp_path / "config", config(server.url, user))))
        KubernetesCluster(client).list_nodes()
        client.close()
    return server.asked[0].headers["authorization"]


def plugin(path: Path, answer: str) -> dict[str, Any]:
    """A user whose credentials come from a program that prints `answer`."""
    path.write_text(f"print({answer!r})" if answer else "raise SystemExit('the login has expired')")
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(path)],
            "interactiveMode": "Never",
        }
    }


def test_a_token_is_sent(tmp_path: Path) -> None:
    assert authorization_sent(tmp_path, {"token": "sesame"}) == "Bearer sesame"


def test_a_password_is_sent(tmp_path: Path) -> None:
    expected = "Basic " + base64.b64encode(b"me:secret").decode()

    assert authorization_sent(tmp_path, {"username": "me", "password": "secret"}) == expected


def test_an_exec_plugin_is_asked_for_the_token(tmp_path: Path) -> None:
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "fresh"}}

    assert authorization_sent(tmp_path, plugin(tmp_path / "plugin.py", json.dumps(answer))) == "Bearer fresh"


def test_an_exec_plugin_that_fails_is_told_with_its_own_words(tmp_path: Path) -> None:
    path = write(tmp_path / "config", config(user=plugin(tmp_path / "plugin.py", "")))

    with pytest.raises(InvalidInputError, match=r"gave no credentials .*the login has expired.* by hand"):
        connect_context(find(path))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"clusters": []}, "demo-cluster"),
        ({"clusters": [{"name": "demo-cluster", "cluster": {"server": 7}}]}, "cannot be used"),
        (
            {
                "clusters": [
                    {
                        "name": "demo-cluster",
                        "cluster": {"server": "https://x.invalid", "certificate-authority": "absent.crt"},
                    }
                ]
            },
            "absent.crt",
        ),
    ],
)
def test_a_context_that_leads_nowhere_is_told(tmp_path: Path, broken: dict[str, Any], said: str) -> None:
    path = write(tmp_path / "config", config(**broken))

    with pytest.raises(InvalidInputError, match=said) as told:
        connect_context(find(path))

    assert told.value.place == f"{path}, context demo"


def test_the_proxy_of_a_cluster_is_used(tmp_path: Path) -> None:
    with CannedServer({NODES: [NO_NODES]}) as proxy:
        cluster = {"server": "http://demo.invalid", "proxy-url": proxy.url}
        path = write(tmp_path / "config", config(clusters=[{"name": "demo-cluster", "cluster": cluster}]))
        client = connect_context(find(path))
        KubernetesCluster(client).list_nodes()
        client.close()

    assert proxy.asked[0].headers["host"] == "demo.invalid"


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"users": [{"name": "somebody", "user": {"token": "t", "as": "admin"}}]}, "acts as 'admin'"),
        (
            {"clusters": [{"name": "demo-cluster", "cluster": {"server": "https://x", "proxy-url": "socks5://y"}}]},
            "no HTTP proxy",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_and_not_left_out(tmp_path: Path, part: dict[str, Any], said: str) -> None:
    path = write(tmp_path / "config", config(**part))

    with pytest.raises(InvalidInputError, match=said):
        connect_context(find(path))


def test_the_file_is_never_written(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "config", config()))
    before = path.read_bytes()

    connect_context(find(str(path))).close()

    assert path.read_bytes() == before
