"""What goes into the functions' archive and what stays out, each for one reason.

A list here that is too short turns a test red: every import in the archive must find its module, and every AWS
service that an adapter asks for must have its model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / ".cache" / "assets"
"""Where archives are kept from one build to the next."""

LAPTOP = ("driftgate/cli/", "driftgate/sim/", "driftgate/laptop.py", "driftgate/adapters/kubeconfig.py")
"""Ours, but only for a person's machine."""

AWS_SERVICES = (
    "cloudwatch",
    "dynamodb",
    "ec2",
    "eks",
    "events",
    "lambda",
    "secretsmanager",
    "sns",
    "sqs",
    "ssm",
    "sts",
)
"""Whose models botocore keeps: those that adapters ask for. Within Lambda, the X-Ray SDK asks for none."""

KUBERNETES = ("configuration.py", "exceptions.py", "rest.py")
"""Of `kubernetes.client`: the transport and what it needs; `adapters/kubernetes_parts` loads no more."""

NEVER_LOADED = frozenset(
    {
        "bin",
        # clients come from botocore, which boto3 wraps
        "boto3",
        "s3transfer",
        # for the kubeconfigs and streams of the Kubernetes client
        "durationpy",
        "oauthlib",
        "requests_oauthlib",
        "websocket",
        "websocket_client",
        # types for checkers
        "wrapt-stubs",
    }
)
PARTS_NEVER_LOADED = (
    "annotated_types/test_cases.py",
    "aws_lambda_powertools/event_handler/",
    "aws_xray_sdk/ext/django/",
    "pydantic/mypy.py",
)
FOR_TOOLS = frozenset({".pyi", ".typed", ".c", ".h", ".pxd", ".pyx"})


def sources(root: Path = ROOT) -> Iterator[tuple[str, Path]]:
    """Our own files: their names in the archive, and where they are, in order of the names."""
    found = {path.relative_to(base).as_posix(): path for base, path in _own_files(root)}
    for name in sorted(found):
        if not name.startswith(LAPTOP) and is_needed(PurePosixPath(name)):
            yield name, found[name]


def _own_files(root: Path) -> Iterator[tuple[Path, Path]]:
    for base, package in ((root / "shared", "driftgate"), (root, "functions")):
        yield from ((base, path) for path in (base / package).rglob("*") if path.is_file())


def trim(folder: Path) -> None:
    """Takes out of installed packages what no function loads."""
    for path in sorted(folder.rglob("*")):
        name = PurePosixPath(path.relative_to(folder).as_posix())
        if path.is_file() and not (is_needed(name) and _is_newest_model(path, name)):
            path.unlink()


def is_needed(name: PurePosixPath) -> bool:
    """Whether this file may ever be loaded, or tells a scanner or a lawyer what is installed."""
    top = name.parts[0]
    if name.suffix in FOR_TOOLS or name.name == ".lock" or not {"__pycache__", "tests"}.isdisjoint(name.parts):
        return False
    if top.endswith(".dist-info"):
        return top.partition("-")[0] not in NEVER_LOADED and _is_notice(name)
    if top == "kubernetes":
        return name.parent.as_posix() == "kubernetes/client" and name.name in KUBERNETES
    if name.parts[:2] == ("botocore", "data") and len(name.parts) > 3:
        return name.parts[2] in AWS_SERVICES and not name.name.startswith("examples-")
    return top not in NEVER_LOADED and not name.as_posix().startswith(PARTS_NEVER_LOADED)


def _is_notice(name: PurePosixPath) -> bool:
    """What is installed (Amazon Inspector reads it) and under which licence; not how and when it was installed."""
    return name.name == "METADATA" or "licenses" in name.parts or name.name.startswith(("LICENSE", "NOTICE"))


def _is_newest_model(path: Path, name: PurePosixPath) -> bool:
    """botocore takes the newest version of a service's API where none is asked for, and nobody asks."""
    if name.parts[:2] != ("botocore", "data") or len(name.parts) != 5:
        return True
    return name.parts[3] == max(sibling.name for sibling in path.parents[1].iterdir())
