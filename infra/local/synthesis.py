"""The template of a driftgate.yaml, and the functions' code, each made once for what it follows from.

Synthesizing takes longer than everything else that is done here, so it is kept: by a digest of the app, of what the
app reads of the package, and of the configuration. The code is our own sources; the packages that they need are this
environment's.
"""

from __future__ import annotations

import compileall
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from driftgate.contract import CONFIG_FILE
from infra.local.template.document import Template, template_from_object
from infra.packaging.contents import sources

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "local"
KEPT = 8
APP = ("infra", "shared/driftgate/config", "shared/driftgate/domain")
FILES = ("cdk.json", "uv.lock", "shared/driftgate/contract.py")


class SynthesisError(Exception):
    """The app could not be synthesized; the text is what it said."""


def synthesized(config: str) -> Template:
    """The template that this driftgate.yaml asks for. Raises SynthesisError."""
    key = _digest([*_app_files(), ("config", config.encode())])
    folder = _made(f"template-{key}", lambda made: _synthesize(made, config))
    (path,) = folder.glob("*.template.json")
    return template_from_object(json.loads(path.read_text(encoding="utf-8")))


def staged_code(config: str) -> Path:
    """A folder with the functions' code and this driftgate.yaml beside it, as Lambda would unpack it."""
    files = [*((name, path.read_bytes()) for name, path in sources(ROOT)), (CONFIG_FILE, config.encode())]
    return _made(f"code-{_digest(files)}", lambda made: _stage(made, files))


def _app_files() -> Iterator[tuple[str, bytes]]:
    paths = [path for folder in APP for path in sorted((ROOT / folder).rglob("*.py"))]
    local = Path(__file__).parent
    for path in (*paths, *(ROOT / name for name in FILES)):
        if local not in path.parents:
            yield str(path.relative_to(ROOT)), path.read_bytes()


def _digest(files: Iterable[tuple[str, bytes]]) -> str:
    found = sha256()
    for name, content in files:
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()[:16]


def _synthesize(folder: Path, config: str) -> None:
    """The code is not part of it: an empty archive stands for it, so that a change of code changes no template."""
    (folder / CONFIG_FILE).write_text(config, encoding="utf-8")
    asset = folder / "code"
    asset.mkdir()
    (asset / "stands-for-the-code").touch()
    where = ["--config", str(folder / CONFIG_FILE), "--asset", str(asset), "--out", str(folder)]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'shared'}"}
    ran = subprocess.run(
        [sys.executable, "-m", "infra.app", *where],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        raise SynthesisError(f"infra.app gave {ran.returncode}: {ran.stderr[-4000:]}")


def _stage(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    for name, content in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    compileall.compile_dir(folder, quiet=2)


def _made(name: str, make: Callable[[Path], None]) -> Path:
    """The folder, made by whoever comes first; others wait."""
    CACHE.mkdir(parents=True, exist_ok=True)
    target = CACHE / name
    with _alone(CACHE / ".lock"):
        if not target.exists():
            half = CACHE / f".{name}"
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir()
            make(half)
            half.replace(target)
            _forget_old(name.partition("-")[0])
        target.touch()
    return target


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _forget_old(kind: str) -> None:
    for folder in sorted(CACHE.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(folder)
