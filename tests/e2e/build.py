"""Build the judges of the end-to-end tests: real Kubernetes, real Karpenter, the oracle.

`python3 tests/e2e/build.py [name...]` builds what is missing into a cache outside
the repository, so that a second run takes no time and nothing built can be
committed. The cache folder of a module is named after the hash of its files: an
edited module is built anew, and what is cached needs no Go to run. Older Karpenters
are built only where they are named, or all of them by `--generations`: `make
e2e-matrix` alone needs them.

Standard library only, so that it runs before any environment exists.
Exit codes: 0 all there, 1 a build failed, 2 unknown name, 3 no usable Go.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).resolve().parent / "controlplane"
EXIT_BUILD_FAILED, EXIT_USAGE, EXIT_NO_GO = 1, 2, 3
# Compiling Kubernetes takes what it gets: two at a time leaves the machine usable.
PARALLEL = min(2, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """A program and the Go package that it is built from."""

    module: str
    package: str


BINARIES = {
    "oracle": Binary(module="core", package="./oracle"),
    "etcd": Binary(module="kubernetes", package="go.etcd.io/etcd/server/v3"),
    "kube-apiserver": Binary(module="kubernetes", package="k8s.io/kubernetes/cmd/kube-apiserver"),
    "kubectl": Binary(module="kubernetes", package="k8s.io/kubernetes/cmd/kubectl"),
    "karpenter": Binary(module="core", package="./karpenter"),
    "kube-scheduler": Binary(module="kubernetes", package="k8s.io/kubernetes/cmd/kube-scheduler"),
    "kube-controller-manager": Binary(module="kubernetes", package="k8s.io/kubernetes/cmd/kube-controller-manager"),
    "karpenter-aws": Binary(module="aws", package="github.com/aws/karpenter-provider-aws/kwok"),
}

OLDER_KARPENTERS = ("1.1.5", "1.6.1", "1.6.4", "1.9.0")
GENERATIONS = {
    f"karpenter-{version}": Binary(module=f"karpenter-{version}", package="sigs.k8s.io/karpenter/kwok")
    for version in OLDER_KARPENTERS
}
PROGRAMS = BINARIES | GENERATIONS

# The CRDs that a module's program needs, copied beside it: (Go module, folder in it).
CORE_CRDS = [("sigs.k8s.io/karpenter", "pkg/apis/crds"), ("sigs.k8s.io/karpenter", "kwok/apis/crds")]
CRDS = {
    "core": CORE_CRDS,
    "aws": [("github.com/aws/karpenter-provider-aws", "pkg/apis/crds")],
    **{binary.module: CORE_CRDS for binary in GENERATIONS.values()},
}


class NoGoError(Exception):
    """There is no Go, or one that is too old for the modules."""


def cache_root() -> Path:
    """The folder of everything built here, whatever the state of the module files."""
    base = os.environ.get("DRIFTGATE_CACHE") or Path.home() / ".cache" / "driftgate"
    return Path(base).expanduser() / "controlplane"


def module_cache(module: str) -> Path:
    """The folder that a module in its present state is built into; it may not exist yet."""
    digest = hashlib.sha256()
    folder = MODULES / module
    for path in sorted(p for p in folder.rglob("*") if p.name in ("go.mod", "go.sum") or p.suffix == ".go"):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return cache_root() / f"{module}-{digest.hexdigest()[:12]}"


def binary_path(name: str) -> Path:
    """Where the program lies once it is built."""
    return module_cache(PROGRAMS[name].module) / name


def crds_path(module: str) -> Path:
    """Where the CRDs of a module lie once one of its programs is built."""
    return module_cache(module) / "crds"


def missing(names: list[str]) -> list[str]:
    """Those of the programs that are not built yet."""
    return [name for name in names if not binary_path(name).exists()]


def main(arguments: list[str]) -> int:
    names = list(GENERATIONS) if arguments == ["--generations"] else arguments or list(BINARIES)
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are: {', '.join(PROGRAMS)}, and --generations for the older ones")
        return EXIT_USAGE
    for name in names:
        if name not in missing(names):
            print(f"{name}: there already")
    try:
        return build_all(missing(names))
    except NoGoError as error:
        print(f"cannot build {', '.join(missing(names))}: {error}")
        return EXIT_NO_GO


def build_all(names: list[str]) -> int:
    """Build one after the other: they share packages, and the second finds them compiled."""
    if not names:
        return 0
    for module in sorted({PROGRAMS[name].module for name in names}):
        check_go(module)
    os.nice(19)
    with sole_builder():
        results = [build(name) for name in names if not binary_path(name).exists()]
    return 0 if all(results) else EXIT_BUILD_FAILED


def check_go(module: str) -> None:
    if not shutil.which("go"):
        raise NoGoError("Go is not installed")
    answer = subprocess.run(["go", "list", "-m"], cwd=MODULES / module, capture_output=True, text=True, check=False)
    if answer.returncode:  # an older Go says here which one the module requires
        raise NoGoError(answer.stderr.strip().splitlines()[-1])


@contextlib.contextmanager
def sole_builder() -> Iterator[None]:
    """Let one builder work at a time; the lock goes with the process, however it ends."""
    cache_root().mkdir(parents=True, exist_ok=True)
    with (cache_root() / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another build is running: waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(name: str) -> bool:
    binary, target = PROGRAMS[name], binary_path(name)
    print(f"{name}: building {binary.package}", flush=True)
    started = time.monotonic()
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_crds(binary.module)
    unfinished = target.with_name(f".{name}.unfinished")
    result = subprocess.run(
        [*go_build(binary), "-o", unfinished, binary.package],
        cwd=MODULES / binary.module,
        env=os.environ | {"CGO_ENABLED": "0"},
        check=False,
    )
    took = f"{time.monotonic() - started:.0f} s"
    if result.returncode:
        print(f"{name}: failed after {took}", flush=True)
        return False
    unfinished.rename(target)
    print(f"{name}: built in {took}, {target.stat().st_size / 1e6:.0f} MB", flush=True)
    return True


def go_build(binary: Binary) -> list[str]:
    flags = f"-ldflags=-s -w {version_flags(binary.module)}"
    return ["go", "build", f"-p={PARALLEL}", "-trimpath", "-buildvcs=false", flags]


def version_flags(module: str) -> str:
    """The linker flags that tell Kubernetes programs their version, as its own build does:
    without them the server says v0.0.0-master to every client."""
    go_mod = (MODULES / module / "go.mod").read_text()
    required = re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)", go_mod)
    if not required:
        return ""
    values = zip(("gitVersion", "gitMajor", "gitMinor"), required.groups(), strict=True)
    return " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in values)


def copy_crds(module: str) -> None:
    target = crds_path(module)
    if target.exists() or module not in CRDS:
        return
    unfinished = target.with_name(".crds.unfinished")
    unfinished.mkdir(exist_ok=True)
    for dependency, folder in CRDS[module]:
        for path in sorted((module_source(module, dependency) / folder).glob("*.yaml")):
            shutil.copyfile(path, unfinished / path.name)
    unfinished.rename(target)


def module_source(module: str, dependency: str) -> Path:
    subprocess.run(["go", "mod", "download", dependency], cwd=MODULES / module, check=True)
    command = ["go", "list", "-m", "-f", "{{.Dir}}", dependency]
    return Path(subprocess.check_output(command, cwd=MODULES / module, text=True).strip())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
